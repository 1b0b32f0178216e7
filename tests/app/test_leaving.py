"""Screens that are left, or covered, while a job of theirs is under way."""

import pytest
from s2mlx_app.screens.help import HelpScreen
from s2mlx_app.screens.history import HistoryScreen
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.review import Stage

from .conftest import notices, running, until
from .fakes import RATE


async def recording(app, pilot, key="ctrl+r"):
    """To the recording screen, and there to a recording of 6.5 s that goes on."""
    await pilot.press(key)
    await until(
        pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.stage != Stage.IDLE or key == "ctrl+r"
    )
    if key == "ctrl+r":
        await pilot.press("space")
    await until(pilot, lambda: app.screen.stage == Stage.RECORDING)
    app.studio.recorders[-1].hear(6)


async def checking(app, pilot, key="ctrl+r"):
    """A take whose check goes on until `look_gate` opens."""
    app.studio.look_gate.close()
    await recording(app, pilot, key)
    await pilot.press("space")
    await until(pilot, lambda: app.screen.stage == Stage.CHECKING)


@pytest.mark.parametrize("key", ["ctrl+r", "ctrl+g", "ctrl+t"])
async def test_a_screen_may_be_left_before_its_jobs_end(make_app, studio, monkeypatch, key):
    studio.look_gate.close()
    app = make_app()
    entries = app.history.entries
    monkeypatch.setattr(app.history, "entries", lambda: studio.look(entries()))
    async with running(app) as pilot:
        await pilot.press(key)
        await until(pilot, lambda: app.jobs.running and not isinstance(app.screen, MainScreen))
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)
        studio.look_gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert app.is_running and not notices(app)


async def test_the_take_may_be_left_during_its_check(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await checking(app, pilot)
        await pilot.press("escape")
        await pilot.click("#answer-keep")
        assert isinstance(app.screen, MainScreen)
        studio.look_gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert app.is_running and len(app.session.unsaved_takes()[-1].samples) == 6 * RATE


async def test_what_a_left_history_writes_is_still_told(make_app, studio, tmp_path):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and app.screen.entries)
        studio.look_gate.close()
        await pilot.press("e")
        app.screen.query_one("#field-path").value = str(tmp_path / "left.wav")
        await pilot.press("enter", "escape")
        assert isinstance(app.screen, MainScreen)
        studio.look_gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert (tmp_path / "left.wav").exists() and [n.message for n in notices(app)] == [
            f"saved {tmp_path / 'left.wav'}"
        ]


@pytest.mark.parametrize("keys", [("ctrl+r",), ("ctrl+s",), ("space",), ("enter",), ("ctrl+b",), ("ctrl+l",)])
@pytest.mark.parametrize("live", [False, True])
async def test_during_the_check_of_a_take_nothing_else_begins(make_app, studio, live, keys):
    app = make_app()
    async with running(app) as pilot:
        await checking(app, pilot, "ctrl+l" if live else "ctrl+r")
        await pilot.press(*keys)
        assert app.screen.stage == Stage.CHECKING and len(studio.recorders) == 1 and not studio.players
        studio.look_gate.open()
        await until(pilot, lambda: not app.jobs.running)
        if live:
            assert isinstance(app.screen, MainScreen) and studio.library.names() == ["anna", "ben", "live"]
        else:
            assert app.screen.stage == Stage.REVIEW and studio.library.names() == ["anna", "ben"]
        assert studio.recorders[0].stopped


async def test_a_live_take_under_a_question_waits_for_the_answer(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await checking(app, pilot, "ctrl+l")
        await pilot.press("escape")
        studio.look_gate.open()
        await until(pilot, lambda: not app.jobs.running)
        await pilot.click("#answer-stay")
        assert app.screen.stage == Stage.REVIEW and "live" not in studio.library.names()


async def test_a_voice_made_while_help_is_read_is_there_afterwards(make_app, studio):
    studio.engine.clone_gate.close()
    app = make_app()
    async with running(app) as pilot:
        await recording(app, pilot)
        await pilot.press("space")
        await until(pilot, lambda: app.screen.stage == Stage.REVIEW and not app.jobs.running)
        await pilot.press("ctrl+s")
        assert app.screen.stage == Stage.CLONING
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        studio.engine.clone_gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert app.settings.cast == ("me",)


async def test_a_recording_screen_that_goes_closes_the_microphone_and_keeps_the_take(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await recording(app, pilot)
        app.screen.dismiss(None)
        await until(pilot, lambda: studio.recorders[0].stopped and not app.jobs.running)
        assert len(app.session.unsaved_takes()[-1].samples) == 6 * RATE and not app.recordings.running


async def test_jobs_that_end_while_the_app_leaves_do_no_harm(make_app, studio):
    studio.look_gate.close()
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+g")
        await until(pilot, lambda: app.jobs.running)
        await pilot.press("ctrl+q")
        studio.look_gate.open()
    assert app.return_code == 0
