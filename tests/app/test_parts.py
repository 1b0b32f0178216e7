"""A long text in parts: made at full pace, heard, one said anew and put into the whole, exported; kept by a crash."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from s2mlx_app.app import S2App
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.parts import PartsScreen
from textual.widgets import Checkbox, Input

from ..fakes import FRAME, RATE
from ..fakes.synthesizer import by_sentence
from .conftest import running, until
from .test_recording import label
from .test_voices import state

TEXT = "The first one. The second is here. And the third."
PART = 40 * FRAME  # samples


async def opened(app, pilot):
    await pilot.press("f6")
    await until(pilot, lambda: isinstance(app.screen, PartsScreen) and app.screen.reading.id in app.desk.sounds)
    return app.screen


def rows(screen):
    table = screen.table
    return [str(table.get_option_at_index(row).prompt) for row in range(table.option_count)]


async def made(app, pilot):
    """All parts, in the background."""
    screen = await opened(app, pilot)
    await pilot.press("m")
    await until(pilot, lambda: app.desk.is_made(screen.reading) and app.desk.current is None)
    return screen


def parted(studio):
    studio.engine.passes = by_sentence
    return studio.engine


async def exported(app, pilot, path, *boxes):
    """The form of the export filled and sent, `boxes` checked."""
    await pilot.press("e")
    await until(pilot, lambda: bool(app.screen.query("#field-path")))
    app.screen.query_one("#field-path", Input).value = str(path)
    for box in boxes:
        app.screen.query_one(f"#field-{box}", Checkbox).value = True
    await pilot.press("enter")
    if path.exists():
        await pilot.press("enter")  # once more to replace it
    await until(pilot, lambda: isinstance(app.screen, PartsScreen))


async def test_all_parts_are_made_in_one_batch_and_unheard(make_app, studio):
    engine = parted(studio)
    app = make_app(text=TEXT, cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await made(app, pilot)
        assert engine.batches == [[("The first one.", 100), ("The second is here.", 101), ("And the third.", 102)]]
        assert engine.calls[0].voice[0].name == "anna" and not studio.players
        assert [row.split()[:2] for row in rows(screen)] == [["1", "✓"], ["2", "✓"], ["3", "✓"]]
        assert "3 of 3 parts" in screen.bar.words and screen.bar.share == 1.0
        await until(pilot, lambda: len(app.history.entries()) == 1)
        assert app.history.entries()[0].text == TEXT
        await pilot.press("m")
        assert "all of it is there" in label(app, "#said")


async def test_how_far_it_is_is_told(make_app, studio):
    engine = parted(studio)
    engine.hold(10)  # chunks: the first part
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        assert "stopped" in screen.bar.words and "0 of 3 parts" in screen.bar.words and "about 0:03" in screen.bar.words
        assert "m makes" in label(app, "#said")
        await pilot.press("m")
        await until(pilot, lambda: len(screen.sounds) == 1)
        engine.gate.let(1)
        await until(pilot, lambda: "left" in screen.bar.words and "▶" in rows(screen)[1])
        assert "1 of 3 parts" in screen.bar.words and 0 < screen.bar.share < 1
        await pilot.press("m")
        assert "stopped" in label(app, "#said")
        await until(pilot, lambda: app.desk.current is None)
        assert "stopped" in screen.bar.words
        engine.gate.open()
        await pilot.press("m")
        await until(pilot, lambda: app.desk.is_made(screen.reading))
        assert [text for text, _ in engine.batches[-1]] == ["The second is here.", "And the third."]


async def test_a_part_is_said_anew_and_put_into_the_whole(make_app, studio, tmp_path):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await made(app, pilot)
        await pilot.press("down")
        studio.engine.frames = 20
        await pilot.press("n")
        await until(pilot, lambda: "is in the whole" in label(app, "#said"))
        call = studio.engine.calls[-1]
        assert (call.text, call.voice[0].name) == ("The second is here.", "anna") and call.options.seed != 101
        await until(pilot, lambda: len(studio.players) == 1)  # it is heard
        assert "2/2" in rows(screen)[1] and f"seed {call.options.seed}" in label(app, "#part-words")
        target = tmp_path / "whole.flac"
        await exported(app, pilot, target)
        await until(pilot, lambda: target in studio.files and "saved" in label(app, "#said"))
        pauses = 2 * RATE * 250 // 1000
        assert len(studio.files[target]) == 2 * PART + PART // 2 + pauses
        await pilot.press("left")  # the take before
        await until(pilot, lambda: "1/2" in rows(screen)[1])
        await until(pilot, lambda: not [job for job in app.jobs.running if job.what == "choose"])
        assert app.desk.readings.sounds(screen.reading)[1].at == 0
        await pilot.press("s")  # with its own seed again
        await until(pilot, lambda: "3/3" in rows(screen)[1])
        assert studio.engine.calls[-1].options.seed == 101


async def test_listening_goes_through_and_waits_for_what_is_not_there(make_app, studio):
    engine = parted(studio)
    engine.hold(10)
    studio.loudspeakers.speed = 1e6
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("l")
        await until(pilot, lambda: "heard as soon as it is there" in label(app, "#said") and screen.table.at == 1)
        assert len(studio.players) == 1
        engine.gate.open()
        await until(pilot, lambda: len(studio.players) == 3 and screen.listening.replay is None)
        assert screen.table.at == 2
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)


async def test_one_part_alone_is_made_to_be_heard(make_app, studio):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("down", "down", "space")
        await until(pilot, lambda: len(studio.players) == 1)
        assert studio.engine.calls[-1].options.seed == 102 and list(screen.sounds) == [2]
        await pilot.press("m")
        await until(pilot, lambda: app.desk.is_made(screen.reading))
        assert [text for text, _ in studio.engine.batches[0]] == ["The first one.", "The second is here."]


@pytest.mark.parametrize("key", ["m", "l"])
async def test_what_was_made_outlives_a_crash(make_app, studio, tmp_path, key):
    engine = parted(studio)
    engine.hold(20)
    app = make_app(text=TEXT, cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: len(screen.sounds) == 2)
        await until(pilot, lambda: app.desk.readings.all()[0].wanted)
        shutil.copytree(tmp_path / "state", tmp_path / "killed")  # what a killed app leaves
        app.desk.stop(screen.reading)
        await until(pilot, lambda: app.desk.current is None)
        engine.gate.open()
    other = S2App(studio, tmp_path / "config", tmp_path / "killed", text=TEXT, cast=("anna",), seed=100)
    async with running(other) as pilot:
        screen = await opened(other, pilot)
        assert [row.split()[1] for row in rows(screen)] == ["✓", "✓", "·"]
        assert screen.reading.wanted and "stopped" in screen.bar.words and other.desk.current is None
        assert "m makes" in label(other, "#said")
        await pilot.press(key)
        await until(pilot, lambda: other.desk.is_made(screen.reading))
        assert engine.batches[-1] == [("And the third.", 102)]


async def test_speech_that_is_waited_for_goes_first(make_app, studio):
    engine = parted(studio)
    engine.hold(12)
    app = make_app(text=TEXT, cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: len(screen.sounds) == 1)
        await pilot.press("escape", "ctrl+s")
        await until(pilot, lambda: engine.calls[-1].text == TEXT)
        assert app.desk.current is not None
        engine.gate.open()
        await until(pilot, lambda: app.desk.is_made(screen.reading))
        assert [text for text, _ in engine.batches[-1]] == ["The second is here.", "And the third."]


async def test_without_a_voice_the_first_part_lends_its_own(make_app, studio):
    engine = parted(studio)
    app = make_app(text=TEXT, seed=100)
    async with running(app) as pilot:
        screen = await made(app, pilot)
        assert engine.calls[0].voice is None
        await pilot.press("n")
        await until(pilot, lambda: "is in the whole" in label(app, "#said"))
        assert engine.calls[-1].voice[0].transcript == "The first one."
        assert screen.reading.voices == ()


async def test_chapters_are_files_of_their_own(make_app, studio, tmp_path):
    parted(studio)
    app = make_app(text="# One\n\nIt begins.\n\n# Two\n\nIt goes on. It ends.", cast=("anna",))
    async with running(app) as pilot:
        screen = await made(app, pilot)
        assert [row for row in rows(screen) if row.startswith("§")] == ["§ One", "§ Two"]
        assert not any("#" in text for text, _ in studio.engine.batches[0])
        await exported(app, pilot, tmp_path / "book.wav", "chapters")
        await until(pilot, lambda: "saved" in label(app, "#said"))
        parts = [len(studio.files[tmp_path / f"book-00{number}.wav"]) for number in (1, 2)]
        assert tmp_path / "book.wav" not in studio.files and parts[0] < parts[1]


async def test_the_same_text_is_the_same_list_of_parts(make_app, studio):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        first = await opened(app, pilot)
        await pilot.press("escape")
        again = await opened(app, pilot)
        assert again.reading.id == first.reading.id
        await pilot.press("escape")
        app.main.editor.put(TEXT + " More.")
        other = await opened(app, pilot)
        assert other.reading.id != first.reading.id


async def test_what_cannot_be_made_is_said(make_app, studio):
    parted(studio).frames = 0
    app = make_app(text="...")
    async with running(app) as pilot:
        await pilot.press("f6")
        assert "nothing to say" in state(app)
        app.main.editor.put(TEXT)
        screen = await opened(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: "no sound with 3 seeds" in screen.bar.words)
        assert np.unique([seed for batch in studio.engine.batches for _, seed in batch[:1]]).size == 9
        assert "part 1, 2, 3 has" in screen.bar.words


async def test_what_is_asked_for_comes_before_what_an_earlier_run_left(make_app, studio):
    engine = parted(studio)
    app = make_app(text=TEXT, cast=("anna",), seed=100)
    async with running(app) as pilot:
        left = (await opened(app, pilot)).reading
        app.desk.readings.change(replace(left, wanted=True))  # as a crash leaves it
    app = make_app(text="Another one. And more.", cast=("anna",), seed=7)
    async with running(app) as pilot:
        await made(app, pilot)
        assert [batch[0][0] for batch in engine.batches] == ["Another one.", "The first one."]


async def test_only_rows_that_changed_are_built(make_app, studio, monkeypatch):
    parted(studio)
    built, row = [], PartsScreen._row
    monkeypatch.setattr(
        PartsScreen, "_row", lambda screen, number, *look: built.append(number) or row(screen, number, *look)
    )
    app = make_app(text=" ".join(f"Sentence {number} is here." for number in range(300)), cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        assert sorted(set(built)) == list(range(300))
        built.clear()
        await pilot.press("down", "n")
        await until(pilot, lambda: "is in the whole" in label(app, "#said") and not app.jobs.running)
        assert set(built) == {1} and "✓" in rows(screen)[1]
