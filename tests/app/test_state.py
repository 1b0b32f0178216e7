"""What the app keeps on disk: takes, texts, the history; and whatever a state file holds, the app starts."""

import json
import os
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from s2mlx_app.state.history import History, HistoryEntry
from s2mlx_app.state.session import Session

from .conftest import TEXT, notices, running, until

# --- takes and texts -------------------------------------------------------------------------------------------------


def test_takes_come_back_until_they_are_dropped_and_none_replaces_another(tmp_path):
    session = Session(tmp_path / "state")
    assert session.unsaved_takes() == [] and session.text() == ""
    session.keep_take(np.ones(100, np.float32), 44100, "words", "name")
    session.keep_take(np.zeros(50, np.float32), 48000, "others")
    session.keep_text("téxt")
    session.leave()
    again = Session(tmp_path / "state")
    first, second = again.unsaved_takes()
    assert (len(first.samples), first.rate, first.transcript, first.name) == (100, 44100, "words", "name")
    assert (len(second.samples), second.rate, second.transcript) == (50, 48000, "others")
    assert again.text() == "téxt" and again.complaints == []
    again.drop_takes([first])
    assert [take.transcript for take in again.unsaved_takes()] == ["others"]


def test_apps_at_the_same_time_keep_takes_and_texts_apart(tmp_path):
    first, second = Session(tmp_path), Session(tmp_path)
    first.keep_text("of the first")
    first.keep_take(np.ones(100, np.float32), 44100, "of the first")
    second.keep_text("of the second")
    second.drop_takes([second.keep_take(np.ones(7, np.float32), 44100, "of the second")])
    assert (first.text(), second.text(), len(first.unsaved_takes())) == ("of the first", "of the second", 1)
    second.leave()
    first.leave()
    again = Session(tmp_path)  # that with a take comes first
    assert again.text() == "of the first" and Session(tmp_path).text() == "of the second"


def test_the_text_written_last_comes_first(tmp_path):
    first, second = Session(tmp_path), Session(tmp_path)
    first.keep_text("older")
    second.keep_text("newer")
    (older,) = [path for path in tmp_path.rglob("text.json") if "older" in path.read_text()]
    os.utime(older, (1, 1))
    first.leave()
    second.leave()
    assert Session(tmp_path).text() == "newer"


def test_an_older_text_becomes_the_apps_own(tmp_path):
    (tmp_path / "text.json").write_text('{"text": "of 0.1"}')
    session = Session(tmp_path)
    assert session.text() == "of 0.1"
    session.keep_text("of 0.1, changed")
    session.leave()
    assert not (tmp_path / "text.json").exists() and Session(tmp_path).text() == "of 0.1, changed"


def test_a_crash_while_a_take_is_kept_leaves_those_before_and_the_recording(tmp_path, monkeypatch):
    """Whatever step of writing the process dies at, what is there can be read."""
    session = Session(tmp_path)
    session.keep_take(np.ones(100, np.float32), 44100, "the first")
    recording = session.new_recording()
    file = recording.open(1000, "the second", "me")
    os.write(file, np.ones(2000, "<f4").tobytes())
    os.close(file)

    class Died(BaseException):
        pass

    for step in ("fsync", "replace", None):

        def die(*_):
            raise Died

        with monkeypatch.context() as patched:
            if step:
                patched.setattr(os, step, die)
                with pytest.raises(Died):
                    session.keep_take(np.ones(1990, np.float32), 1000, "the second", "me", recording)
            else:
                session.keep_take(np.ones(1990, np.float32), 1000, "the second", "me", recording)
        kept = session.unsaved_takes()
        assert [take.transcript for take in kept] == ["the first"] + ["the second"] * (step is None)
        assert recording.path.exists() and not session.complaints
    session.adopt_broken_recordings()  # it was kept as a take already
    assert [len(take.samples) for take in session.unsaved_takes()] == [100, 1990] and not recording.path.exists()


def test_recordings_that_broke_off_become_takes(tmp_path):
    session, sound = Session(tmp_path), np.linspace(-1, 1, 96_000, dtype=np.float32)
    for samples in (sound[:40_000], sound, sound[:50_000]):
        file = session.new_recording().open(48_000, "Its words.", "me")
        os.write(file, samples.tobytes() + b"\1\2")  # torn in the middle of a sample
        os.close(file)
    session.adopt_broken_recordings()
    longer, shorter = session.unsaved_takes()  # without that of less than a second
    assert np.array_equal(longer.samples, sound) and (longer.rate, longer.transcript) == (48_000, "Its words.")
    assert np.array_equal(shorter.samples, sound[:50_000])
    session.drop_takes(session.unsaved_takes())
    session.adopt_broken_recordings()
    assert session.unsaved_takes() == [] and not session.complaints


def test_takes_of_the_first_version_are_kept_on(tmp_path):
    folder = tmp_path / "takes" / "0"
    folder.mkdir(parents=True)
    np.save(folder / "take.npy", np.ones(500, np.float32))
    (folder / "recording.f32").write_bytes(np.zeros(2000, "<f4").tobytes())
    for name, words in (("take.json", "kept"), ("recording.json", "broke off")):
        (folder / name).write_text(json.dumps({"rate": 1000, "transcript": words, "name": "me"}))
    session = Session(tmp_path)
    session.adopt_broken_recordings()
    found = [(len(take.samples), take.rate, take.transcript, take.name) for take in session.unsaved_takes()]
    assert found == [(500, 1000, "kept", "me"), (2000, 1000, "broke off", "me")]
    assert {path.name for path in folder.iterdir()} <= {"1.take", "2.take", ".lock"}


def test_where_no_folder_can_be_made_the_session_says_so_when_it_writes(tmp_path):
    (tmp_path / "state").write_bytes(b"a file")
    session = Session(tmp_path / "state")
    assert session.unsaved_takes() == [] and session.text() == ""
    with pytest.raises(OSError):
        session.keep_take(np.ones(9, np.float32), 44100, "words")


def test_a_restored_text_has_no_control_sequences(tmp_path):
    session = Session(tmp_path)
    session.keep_text("a \x1b[31mred\x1b[0m word\x9b2J")
    assert session.text() == "a red word"


# --- the history -----------------------------------------------------------------------------------------------------


@pytest.fixture
def history(tmp_path):
    return History(
        tmp_path / "h",
        lambda path, samples, rate, private: path.write_bytes(b"x"),
        lambda path, rate: np.zeros(1),
        keep=3,
    )


def test_the_history_keeps_the_newest_and_puts_aside_what_is_damaged(tmp_path, history):
    for minute in range(5):
        history.add(HistoryEntry(f"text {minute}", when=f"2026-01-01T00:0{minute}:00"), np.zeros(1), 44100)
    (tmp_path / "h" / "bad.json").write_text('{"text": "x", "options": {"temperature": 99}}')
    (tmp_path / "h" / "worse.json").write_text("{")
    fields = [
        {"rtf": "fast"},
        {"first_audio": [1]},
        {"seconds": None},
        {"frames": 1.5},
        {"seed": "x"},
        {"voices": "anna"},
        {"voices": [1]},
        {"model": 3},
        {"model_name": None},
        {"when": 5},
        {"options": []},
        {"options": {"seed": 1, "top_k": "x"}},
        {"finish_reason": {}},
        {"seconds": float("inf")},
        {"seconds": 10**400},
        {"rtf": float("nan")},
        {"text": "half \ud800"},
        {"number": -1},
    ]
    for number, field in enumerate(fields):
        (tmp_path / "h" / f"typed{number}.json").write_text(json.dumps({"text": "x", "when": "2027"} | field))
    assert [u.text for u in history.entries()] == ["text 4", "text 3", "text 2"]
    assert len(list((tmp_path / "h").glob("*.flac"))) == 3
    assert len(list((tmp_path / "h").glob("*.broken"))) == len(history.complaints) == len(fields) + 2
    assert any("typed0.json" in line and "rtf is not" in line for line in history.complaints)
    history.entries()
    assert len(history.complaints) == len(fields) + 2


def test_a_clock_that_goes_back_costs_no_utterance(history):
    for day, text in ((5, "a"), (6, "b"), (7, "c"), (1, "after the clock went back"), (2, "the last")):
        history.add(HistoryEntry(text, when=datetime(2026, 1, day, tzinfo=UTC).isoformat()), np.zeros(1), 44100)
    assert [entry.text for entry in history.entries()] == ["the last", "after the clock went back", "c"]


def test_a_sound_that_cannot_be_written_leaves_no_entry(tmp_path, history):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    history._write_audio = full
    with pytest.raises(OSError):
        history.add(HistoryEntry("x"), np.zeros(1), 44100)
    assert history.entries() == [] and not list((tmp_path / "h").glob("*.json"))


# --- whatever is in a state file, the app starts ---------------------------------------------------------------------


def in_every_place(folder, content):
    """A file with `content` in each place where the app looks for state: the paths."""
    places = ["config/app.json", "state/text.json"]
    places += [f"state/takes/0/{name}" for name in ("text.json", "1.take", "2.recording", "take.npy")]
    places += ["state/history/0123456789ab.json"]
    for place in places:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "state/takes/0/take.json").write_text('{"rate": 44100}')
    return [folder / place for place in places]


async def start_and_look_around(app):
    """Start, look at the history, record and leave: what was told."""
    told = []
    app.notify = lambda message, **_: told.append(message)
    async with running(app) as pilot:
        await pilot.press("escape")  # takes that are offered
        await until(pilot, lambda: app.screen is app.main and not app.jobs.running)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.screen is not app.main and not app.jobs.running)
        await pilot.press("escape", "ctrl+s")
        await until(pilot, lambda: app.studio.engine.calls and not app.jobs.running)
        app.change(language="de" if app.settings.language == "en" else "en")
        await until(pilot, lambda: not app.jobs.running)
    return told


NOT_JSON = [b"", b"{", b"\xff\xfe", b"[" * 5000, b"\x93NUMPY\x01\x00", b'{"text": "\\ud800"}', b"[1]"]


@pytest.mark.parametrize("content", NOT_JSON)
async def test_the_app_starts_and_keeps_what_is_damaged(make_app, tmp_path, content):
    paths = in_every_place(tmp_path, content)
    told = await start_and_look_around(make_app())
    for path in paths:
        assert path.with_name(path.name + ".broken").read_bytes() == content, path
        assert any(str(path) in line for line in told), path


async def test_a_text_given_at_the_start_does_not_cost_the_one_that_was_left(make_app):
    before = make_app(text=None)
    before.session.keep_text("as it was left")
    before.session.leave()
    app = make_app(text="given \x1b[2Jnow")
    async with running(app) as pilot:
        assert app.main.editor.text == "given now"
        await pilot.press("ctrl+z")
        assert app.main.editor.text == "as it was left"


async def test_entries_of_the_settings_that_cannot_be_are_left_aside_by_name(make_app, tmp_path):
    path = tmp_path / "config" / "app.json"
    path.parent.mkdir()
    path.write_text('{"temperature": %s, "rate": Infinity, "top_k": 7, "cast": {}, "ours": 1}' % ("9" * 400))
    before = path.read_bytes()
    app = make_app()
    async with running(app):
        told = "\n".join(note.message for note in notices(app))
        assert all(name in told for name in ("temperature", "rate")) and app.settings.top_k == 7
    assert path.with_name("app.json.broken").read_bytes() == before
    assert json.loads(path.read_text()) == {"top_k": 7, "ours": 1}


VALUES = [None, True, -1, 0, 1e300, 10**400, float("nan"), float("inf"), "", "\x1b[2J", "\ud800", "\0", "x" * 5000]
VALUES += [[], {}, [[1]], {"a": 1}, ["a", None]]
KEYS = ["text", "rate", "transcript", "name", "samples", "temperature", "seed", "theme", "language", "cast", "model"]
KEYS += ["languages", "memory_limit_gb", "prebuffer", "output", "trim", "voices", "options", "when", "seconds"]
KEYS += ["frames", "rtf", "finish_reason", "number", "batch", "max_frames", "min_frames"]


@hypothesis_settings(
    max_examples=6,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(table=st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES)), tail=st.sampled_from([b"", b"\n" * 9]))
def test_the_app_starts_whatever_the_tables_hold(make_app_in, table, tail):
    import asyncio

    app, folder = make_app_in()
    in_every_place(folder, json.dumps({"text": "x", "rate": 44100} | table).encode() + tail)
    app, _ = make_app_in(folder)
    told = asyncio.run(start_and_look_around(app))
    assert not any("fault of this program" in line for line in told)


@pytest.fixture
def make_app_in(tmp_path_factory, saved_voices):
    """make_app_in(folder=a new one) -> an app and its folder."""
    from s2mlx_app.app import S2App

    from .fakes import FakeStudio

    def make(folder=None):
        folder = folder or tmp_path_factory.mktemp("start")
        return S2App(FakeStudio(folder), folder / "config", folder / "state", text=TEXT, countdown=0.0), folder

    return make


def test_a_list_of_takes_reads_no_sound(tmp_path, monkeypatch):
    session = Session(tmp_path)
    session.keep_take(np.arange(1000, dtype=np.float32) / 1000, 100, "words", "me")
    (session._own.folder / "7.take").write_bytes(b"no line")
    monkeypatch.setattr("s2mlx_app.state.take_file.read_bytes", lambda *_: pytest.fail("it was read"))
    (take,) = session.listed_takes()
    assert (len(take.samples), take.rate, take.transcript, take.name) == (1000, 100, "words", "me")
    monkeypatch.undo()
    whole = session.whole(take)
    np.testing.assert_array_equal(whole.samples, take.samples)
    assert not isinstance(whole.samples, np.memmap)
