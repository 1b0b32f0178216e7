"""Loudspeakers, microphones, converters and folders in every state: what is said of them."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from s2mlx.audio import foreign
from s2mlx.doctor.checks import converter, folders, sound, speaking
from s2mlx.doctor.finding import BAD, GOOD, NOTE
from s2mlx.errors import AudioError, DeviceError, EarError

from ..audio.simulated import MICROPHONE, SPEAKER, Microphone, Room, System


class Both:
    """A machine with a loudspeaker and a microphone, either of them None."""

    def __init__(self, system=None, room=None):
        self.system, self.room = system, room
        self.clock = (system or room).clock

    def find_output(self, query):
        if self.system is None:
            raise DeviceError("there is no output device on this machine")
        return self.system.find_output(query)

    def find_input(self, query):
        if self.room is None:
            raise DeviceError("there is no input device on this machine")
        return self.room.find_input(query)

    def open_output(self, device, rate):
        return self.system.open_output(device, rate)

    def open_input(self, device, rate):
        return self.room.open_input(device, rate)


def tone(seconds=2.0, rate=48000):
    return 0.1 * np.sin(np.arange(round(seconds * rate)) / 20).astype(np.float32)


@pytest.fixture
def examine(monkeypatch):
    monkeypatch.setattr(sound, "list_devices", lambda: [SPEAKER, MICROPHONE])
    return lambda backend: list(sound.run(backend))


def test_a_machine_that_is_well(examine):
    lines = examine(Both(System(), Room(Microphone(tone()))))
    assert [line.state for line in lines] == [GOOD] * 3
    count, out, into = lines
    assert "1 outputs and 1 inputs" in count.text
    assert "44100 Hz" in out.text and "48000 Hz" in into.text and "dBFS" in into.text
    assert out.private == (SPEAKER.name,) and into.private == (MICROPHONE.name,)


def test_a_loudspeaker_with_a_rate_of_its_own(examine):
    line = examine(Both(System(rates={48000.0}), Room(Microphone(tone()))))[1]
    assert line.state == GOOD and "at 48000 Hz (not at 44100" in line.text


def test_a_microphone_that_may_not_be_heard(examine):
    line = examine(Both(System(), Room(Microphone(np.zeros(96000, np.float32)))))[2]
    assert line.state == BAD and "silent" in line.text and "Privacy & Security" in line.todo


def test_a_device_that_goes(examine):
    def gone(*_):
        raise DeviceError("Simulated speaker has stopped: no answer for 3 s")

    line = examine(Both(System(fault=gone), Room(Microphone(tone()))))[1]
    assert line.state == BAD and "has stopped" in line.text and line.todo


def test_a_machine_without_devices_and_one_without_portaudio(examine, monkeypatch):
    lines = examine(Both(None, Room(Microphone(tone()))))
    assert lines[1].state == NOTE
    monkeypatch.setattr(sound, "list_devices", lambda: (_ for _ in ()).throw(DeviceError("apt install libportaudio2")))
    [line] = examine(Both(System()))
    assert line.state == NOTE and "libportaudio2" in line.text


def test_the_bundled_voice_is_judged_by_its_sound():
    rate, said = 44100, tone(2.0, 44100)
    assert speaking.wrong(said, said, rate) == ""
    assert "no number" in speaking.wrong(np.full(88200, np.nan, np.float32), said, rate)
    assert "takes 0.1 s" in speaking.wrong(said[:4410], said, rate)
    assert "silent" in speaking.wrong(0 * said, said, rate)
    assert "other sound" in speaking.wrong(said, said[:-1], rate)
    assert "other sound" in speaking.wrong(said, -said, rate)


def listener(says):
    heard = SimpleNamespace(text=says)
    return lambda: SimpleNamespace(name="moonshine", hear=lambda *_: heard, close=lambda: None)


def test_what_an_ear_hears(monkeypatch):
    monkeypatch.setattr(speaking, "find_ear", listener("The boat went out in the warning."))
    line = speaking.recognized(tone(), 44100)
    assert line.state == GOOD and "6 of 7 words" in line.text
    monkeypatch.setattr(speaking, "find_ear", listener("Thank you."))
    assert speaking.recognized(tone(), 44100).state == BAD

    def nobody():
        raise EarError("no recognizer is installed")

    monkeypatch.setattr(speaking, "find_ear", nobody)
    assert speaking.recognized(tone(), 44100).state == NOTE


def copying(folder, name):
    """A converter that copies: what it makes of sound is the sound, under another name."""
    folder.mkdir()
    path = folder / name
    path.write_text('#!/bin/sh\nfor last; do before=$out; out=$last; done; /bin/cp "$before" "$out"\n')
    path.chmod(0o755)


def test_m4a_by_a_converter_that_is_right_and_others(tmp_path, monkeypatch):
    heard = 0.3 * np.sin(2 * np.pi * 440 * np.arange(45000) / 44100).astype(np.float32)
    assert converter.wrong(heard) == ""
    assert "880 Hz" in converter.wrong(np.resize(heard[::2], 45000))
    assert "0.50 s" in converter.wrong(heard[:22050])
    monkeypatch.setattr(converter.shutil, "which", lambda name: None)
    [line] = converter.run()
    assert line.state == NOTE and "ffmpeg" in line.todo
    monkeypatch.setattr(converter.sys, "platform", "darwin")
    [line] = converter.run()
    assert line.state == BAD and "/usr/bin" in line.todo


def test_m4a_by_afconvert_there_and_back(tmp_path, monkeypatch):
    copying(tmp_path / "bin", "afconvert")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    [line] = converter.run()
    assert line.state == GOOD and "afconvert" in line.text


def test_a_converter_that_fails(monkeypatch):
    monkeypatch.setattr(foreign.shutil, "which", lambda name: f"/usr/bin/{name}")

    def fail(*_, **__):
        raise AudioError("afconvert cannot write .m4a: 'fmt?'")

    monkeypatch.setattr(converter, "write_audio", fail)
    [line] = converter.run()
    assert line.state == BAD and "'fmt?'" in line.text


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path


def test_folders_that_are_well_and_nothing_is_made(home):
    assert [line.state for line in folders.written()] == [GOOD]
    assert not list(home.iterdir())


def test_folders_that_others_may_write(home):
    (home / "config" / "s2mlx").mkdir(parents=True)
    (home / "config" / "s2mlx").chmod(0o777)
    assert "settings may be written by others" in next(folders.written()).text


def test_folders_that_cannot_be_written(home, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    [line] = folders.written()
    assert line.state == BAD and "voices" in line.text


def test_settings_that_cannot_be_read(home, monkeypatch):
    monkeypatch.setenv("S2MLX_SEED", "4")
    [line] = folders.settings()
    assert line.state == GOOD and "S2MLX_SEED" in line.figures["variables"]
    (home / "config" / "s2mlx").mkdir(parents=True)
    (home / "config" / "s2mlx" / "defaults.toml").write_text("model = \n")
    [line] = folders.settings()
    assert line.state == BAD and "TOML" in line.text


def test_prefilled_voices(home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    assert folders.prefilled().state == GOOD
    folders.kept_prefixes().write("k", {}, [np.zeros(4000, np.uint8)])
    line = folders.prefilled()
    assert line.figures["entries"] == 1 and line.figures["used"] > 4000
    (home / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    line = folders.prefilled()
    assert line.state == NOTE and "XDG_CACHE_HOME" in line.todo


def test_models_here_and_a_disk_without_room(home, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10**9}))
    [line] = folders.models()
    assert line.state == NOTE and "HF_HOME" in line.todo
