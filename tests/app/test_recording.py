"""From the microphone to a voice, with the fake microphone."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from s2mlx_app.app import S2App
from s2mlx_app.recording import sentences_aloud
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.review import Stage
from s2mlx_app.state.session import Session
from s2mlx_app.widgets.status_line import StatusLine

from s2mlx.config import ModelConfig
from s2mlx.errors import DeviceError, VoiceError

from .conftest import running, until
from .fakes import RATE, FakeStudio, hum


def label(app, which):
    return str(app.screen.query_one(which).content)


async def take(app, pilot):
    """Open the screen and record the whole fake sound."""
    await pilot.press("ctrl+r")
    await until(pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.stage == Stage.IDLE)
    await pilot.press("space")
    await until(pilot, lambda: app.screen.stage == Stage.RECORDING)
    app.studio.recorders[-1].hear(7.5)
    await pilot.press("space")
    await until(
        pilot, lambda: app.screen.stage == Stage.REVIEW and len(app.screen.review.samples) and not app.jobs.running
    )


async def test_record_trim_name_save_and_back_with_the_voice_chosen(make_app, studio):
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        await take(app, pilot)
        screen = app.screen
        assert "this will do" in label(app, "#verdict")
        assert screen.trimmer.begin == 0.2 and studio.recorders[0].stopped
        await pilot.press("right", "right", "shift+right")
        assert abs(screen.trimmer.begin - 0.8) < 1e-6
        await pilot.press("]", "left")
        assert abs(screen.trimmer.end - (len(screen.review.samples) / RATE - 0.15)) < 1e-6
        kept, words = len(screen.review.kept()), screen.card.words
        screen.query_one("#name").value = "mine"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.jobs.running)
        assert studio.library.get("mine").transcript == words
        assert abs(len(studio.library.clip("mine")[0]) - kept) <= 1
        assert app.settings.cast == ("mine",) and app.settings.languages == {"mine": "en"}
        assert app.session.unsaved_takes() == [] and app.focused is app.main.editor.area
        assert "mine is ready" in app.main.query_one(StatusLine).state


async def test_live_records_clones_and_speaks_without_another_key(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.stage == Stage.RECORDING)
        studio.recorders[0].hear(6)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.jobs.running)
        assert studio.engine.calls[0].voice[0].name == "live" and app.settings.cast == ("live",)


async def test_live_stops_at_a_bad_take(make_app, studio):
    studio.problems = ("too quiet: come closer to the microphone",)
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.stage == Stage.RECORDING)
        studio.recorders[0].hear(6)
        await pilot.press("space")
        await until(pilot, lambda: app.screen.stage == Stage.REVIEW and not app.jobs.running)
        assert "too quiet" in label(app, "#verdict") and not studio.engine.calls
        await pilot.press("ctrl+s")  # all the same
        await until(pilot, lambda: studio.engine.calls and not app.jobs.running)


async def test_an_unusable_take_needs_a_second_word(make_app, studio):
    studio.problems, studio.usable = ("the microphone gives only zeros",), False
    app = make_app()
    async with running(app) as pilot:
        await take(app, pilot)
        await pilot.press("ctrl+s")
        assert "once more" in label(app, "#verdict") and app.screen.stage == Stage.REVIEW
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))


async def test_the_count_can_be_stopped(make_app, studio):
    app = make_app(countdown=30.0)
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await pilot.press("space")
        await until(pilot, lambda: app.screen.stage == Stage.COUNTING and app.screen.recorder.recording.microphone)
        assert "get ready" in label(app, "#cue")
        await pilot.press("escape")
        assert app.screen.stage == Stage.IDLE
        await until(pilot, lambda: studio.recorders[0].stopped)
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)


async def test_stops_by_itself_at_the_longest(make_app, studio):
    studio.microphones.sound = hum(40)
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await pilot.press("space")
        await until(pilot, lambda: app.screen.stage == Stage.RECORDING)
        studio.recorders[0].hear(31)
        await until(pilot, lambda: app.screen.stage == Stage.REVIEW and len(app.screen.review.samples))
        assert studio.recorders[0].stopped


async def test_a_microphone_that_refuses_says_so(make_app, studio):
    studio.input_error = DeviceError("no permission: System Settings > Privacy > Microphone")
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await pilot.press("space")
        await until(pilot, lambda: app.screen.stage == Stage.IDLE and "no permission" in label(app, "#verdict"))


async def test_a_microphone_that_vanishes_leaves_what_it_heard(make_app, studio):
    studio.microphones.error = DeviceError("the headset is gone")
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await pilot.press("space")
        await until(pilot, lambda: app.screen.stage == Stage.RECORDING)
        studio.recorders[0].hear(99)
        await until(
            pilot, lambda: app.screen.stage == Stage.REVIEW and len(app.screen.review.samples) and not app.jobs.running
        )
        assert len(app.screen.review.samples) > 7 * RATE and app.session.unsaved_takes()
        assert "the headset is gone" in label(app, "#verdict")


async def test_a_full_disk_does_not_lose_the_take(make_app, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Session, "keep_take", full)
    app = make_app()
    async with running(app) as pilot:
        await take(app, pilot)
        assert "the disk is full" in label(app, "#verdict") and len(app.screen.review.samples)


async def test_listening_plays_what_is_kept(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await take(app, pilot)
        await pilot.press("ctrl+b")
        await until(pilot, lambda: studio.players and not app.jobs.running)
        assert abs(studio.players[0].queued * RATE - len(app.screen.review.kept())) <= 1
        assert app.screen.review.replay is None


async def test_whatever_stops_the_cloning_the_take_is_kept(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await take(app, pilot)
        app.screen.query_one("#name").value = "anna"
        await pilot.press("ctrl+s")
        assert "already" in label(app, "#verdict") and app.screen.stage == Stage.REVIEW
        app.screen.query_one("#name").value = "mine"

        studio.engine.clone_gate.close()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "encoding" in label(app, "#cue"))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.stage == Stage.REVIEW and not app.jobs.running)
        assert "cancelled" in label(app, "#verdict") and studio.library.names() == ["anna", "ben"]

        studio.engine.clone_gate.open()
        studio.engine.clone_fail = VoiceError("this clip holds no speech")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen.stage == Stage.REVIEW and not app.jobs.running)
        assert "no speech" in label(app, "#verdict") and "kept" in label(app, "#verdict")

        studio.engine.clone_fail = None
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))


async def test_the_sentence_follows_the_language(make_app):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        first = app.screen.card.words
        await pilot.press("ctrl+n")
        assert app.screen.card.words != first
        app.screen.query_one("#language").value = "de"
        await until(pilot, lambda: app.screen.card.words == sentences_aloud.sentence("de"))


async def test_a_model_that_follows_a_few_seconds_gets_a_short_sentence(make_app, studio):
    studio.engine.config = ModelConfig(reference_seconds=6.0)
    app = make_app()
    async with running(app) as pilot:
        await until(pilot, lambda: app.loader.engine is not None)
        await pilot.press("ctrl+r")
        assert app.screen.card.words == sentences_aloud.sentence("en", longest=6.0) != sentences_aloud.sentence("en")
        assert label(app, "#cue").startswith("about 6 seconds. This model follows no more")


async def test_leaving_with_a_take_asks_and_keeps(make_app):
    app = make_app()
    async with running(app) as pilot:
        await take(app, pilot)
        await pilot.press("escape")
        await pilot.click("#answer-keep")
        assert isinstance(app.screen, MainScreen) and app.session.unsaved_takes()
        await pilot.press("ctrl+r")
        await pilot.click("#answer-drop")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen))
        assert app.session.unsaved_takes() == []


async def test_leaving_while_recording_keeps_what_was_heard(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await pilot.press("space")
        await until(pilot, lambda: app.screen.stage == Stage.RECORDING)
        studio.recorders[0].hear(4)
        await pilot.press("ctrl+q")
    assert app.leave() and len(app.session.unsaved_takes()[-1].samples) == 4 * RATE and studio.recorders[0].stopped


async def _record_until_killed(folder):
    """In a process of its own: record six seconds, say so once they are on disk, and wait for the end."""
    app = S2App(FakeStudio(folder), folder / "config", folder / "state", text="", countdown=0.0)
    async with running(app) as pilot:
        await pilot.press("ctrl+r", "space")
        await until(pilot, lambda: app.screen.stage == Stage.RECORDING)
        app.studio.recorders[0].hear(6)
        spooled = folder / "state" / "takes" / "0" / "1.recording"
        await until(pilot, lambda: spooled.exists() and spooled.stat().st_size >= 24 * RATE)
        print("recorded", app.screen.card.words, sep="\n", flush=True)
        await asyncio.sleep(60)


async def test_a_recording_survives_the_death_of_the_process(make_app, studio, tmp_path):
    code = (
        f"import asyncio, pathlib; from tests.app.test_recording import _record_until_killed as f; "
        f"asyncio.run(f(pathlib.Path({str(tmp_path)!r})))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TEXTUAL_ANIMATIONS": "none"},
    )
    with child.stdout:
        said = child.stdout.readline()
        words = child.stdout.readline().strip()
        child.kill()
        child.wait()
    assert said == "recorded\n"
    app = make_app()
    async with running(app) as pilot:
        await until(pilot, lambda: not isinstance(app.screen, MainScreen))
        await pilot.press("enter")
        await until(
            pilot,
            lambda: isinstance(app.screen, RecordScreen) and app.screen.stage == Stage.REVIEW and not app.jobs.running,
        )
        assert len(app.screen.review.samples) >= 6 * RATE and app.screen.card.words == words
        assert np.array_equal(
            app.screen.review.samples, studio.microphones.sound[RATE // 2 :][: len(app.screen.review.samples)]
        )
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.jobs.running)
        assert app.voices.library.get("me").transcript == words
        assert app.session.unsaved_takes() == []


async def test_the_level_is_seen_before_the_count(make_app, studio):
    """By a microphone that is given back before the recording opens it."""
    app = make_app(countdown=60.0)
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.meter.peak > -60)
        assert app.screen.stage == Stage.IDLE and not studio.recorders
        await pilot.press("space")
        await until(pilot, lambda: studio.recorders and not app.jobs.running)
        assert [level.stopped for level in studio.watched] == [True]


async def test_a_level_that_nobody_needs_any_more_is_given_back(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await until(pilot, lambda: studio.watched and not app.jobs.running)
        await pilot.press("escape")
        await until(pilot, lambda: studio.watched[0].stopped)


async def test_a_microphone_that_cannot_be_opened_is_told_before_the_count(make_app, studio):
    studio.input_error = DeviceError("another program holds it")
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and "holds it" in label(app, "#verdict"))
        assert app.screen.stage == Stage.IDLE
