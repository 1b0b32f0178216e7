"""`s2mlx devices` and the question marks, on a list of devices that is made up."""

import pytest

from s2mlx.audio.hardware.devices import Device


@pytest.fixture(autouse=True)
def two_devices(monkeypatch):
    found = [
        Device(0, "Desk Mic", 1, 0, 48000.0, is_default_input=True),
        Device(3, "Loudspeaker", 0, 2, 44100.0, is_default_output=True),
    ]
    monkeypatch.setattr("s2mlx.audio.list_devices", lambda: found)
    return found


def rows(result):
    assert result.code == 0 and result.err == ""
    return [line.split() for line in result.out.splitlines()[1:]]


def test_list(run):
    assert rows(run("devices")) == [
        ["0", "Desk", "Mic", "1", "0", "48000", "default-input"],
        ["3", "Loudspeaker", "0", "2", "44100", "default-output"],
    ]
    assert [d["name"] for d in run("devices", "--json").json["devices"]] == ["Desk Mic", "Loudspeaker"]


def test_question_marks(run, tts):
    assert [row[0] for row in rows(run("say", "-a", "?"))] == ["3"]
    assert [row[0] for row in rows(run("record", "me", "--input", "?"))] == ["0"]
    assert not tts.loaded


def test_none(run, two_devices):
    two_devices.clear()
    result = run("devices")
    assert result.code == 0 and result.stdout == b"" and "there is no sound device on this machine" in result.err
    assert "there is no output device" in run("say", "-a", "?").err
    assert "there is no input device" in run("record", "me", "--input", "?").err


def test_a_question_mark_gives_json_too(run, two_devices):
    assert [d["name"] for d in run("say", "-a", "?", "--json").json["devices"]] == ["Loudspeaker"]


def test_a_question_mark_needs_no_name_of_a_voice(run, two_devices):
    result = run("record", "--input", "?")
    assert result.code == 0 and "Desk Mic" in result.out
    assert "NAME" in run("record").error
