"""Keys that can do nothing at the moment answer all the same, and what is not there is not shown as a dash."""

import pytest
from s2mlx_app.engine.levels import SILENCE, Levels
from s2mlx_app.screens.compare import CompareScreen
from s2mlx_app.screens.history import HistoryScreen
from s2mlx_app.screens.parts import PartsScreen
from s2mlx_app.screens.queue import QueueScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.settings import SettingsScreen
from s2mlx_app.screens.versions import VersionsScreen
from s2mlx_app.state.take_file import UnsavedTake
from s2mlx_app.widgets.key_line import KeyLine
from s2mlx_app.widgets.status_line import Figures

from .conftest import notices, running, until
from .fakes import hum
from .test_recording import label
from .test_voices import state, the_list


async def opened(app, pilot, key, kind):
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, kind) and not app.jobs.running)


async def test_undo_answers_where_there_is_nothing_to_undo(make_app):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("ctrl+z")
        assert state(app) == "there is nothing to undo in the text"
        the_list(app, "anna")
        await pilot.press("u")
        assert "no voice was deleted" in state(app)
        await opened(app, pilot, "ctrl+t", HistoryScreen)
        await pilot.press("u")
        assert "nothing to bring back" in label(app, "#said")
        await pilot.press("escape")
        await opened(app, pilot, "f7", QueueScreen)
        await pilot.press("u")
        await until(pilot, lambda: "nothing to bring back" in label(app, "#said"))
        await pilot.press("escape")
        await opened(app, pilot, "ctrl+r", RecordScreen)
        app.screen.trimmer.focus()
        await pilot.press("u")
        assert "no take was deleted" in label(app, "#verdict")
        await pilot.press("ctrl+z")
        assert "nothing to undo in the words" in label(app, "#verdict")
        assert not notices(app)


async def test_undo_in_the_text_undoes_and_says_nothing(make_app):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("x")
        before = state(app)
        await pilot.press("ctrl+z")
        assert app.main.editor.text == "" and state(app) == before
        await pilot.press("ctrl+y")
        assert app.main.editor.text == "x"
        await pilot.press("ctrl+y")
        assert state(app) == "there is nothing to redo in the text"


async def test_keys_that_are_grey_say_why(make_app, studio):
    studio.engine.gate.close()
    app = make_app(text="Only this.")
    async with running(app) as pilot:
        await pilot.press("f2")
        assert "nothing to pause" in state(app)
        app.main.voice_list.highlight("anna")
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await pilot.press("x")
        assert "nothing to compare yet" in label(app, "#said")
        await pilot.press("space")
        assert "is not made yet" in label(app, "#said")
        studio.engine.gate.open()
        await pilot.press("escape")


async def test_a_click_on_a_grey_key_says_why_too(make_app):
    app = make_app()
    async with running(app) as pilot:
        line, at = app.main.query_one(KeyLine), 0
        for key in line.keys:
            if key.action == "pause":
                assert not key.enabled
                await pilot.click(KeyLine, offset=(at, 0))
                break
            at += key.width
        await until(pilot, lambda: "nothing to pause" in state(app))


async def test_versions_and_parts_that_are_not_there_are_told(make_app, studio):
    studio.engine.gate.close()
    app = make_app(text="Only this.")
    async with running(app) as pilot:
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, VersionsScreen))
        await pilot.press("b")
        assert "no version is made yet" in label(app, "#said")
        studio.engine.gate.open()
        await pilot.press("escape", "escape")  # the first one stops the making
        await until(pilot, lambda: app.screen is app.main and not app.jobs.running)
        await opened(app, pilot, "f6", PartsScreen)
        await pilot.press("e")
        assert "nothing to export yet" in label(app, "#said")
        await pilot.press("left")
        assert "no other take of this part" in label(app, "#said")


async def test_a_single_take_has_none_to_compare_with(make_app):
    app = make_app()
    async with running(app) as pilot:
        app.push_screen(RecordScreen(recovered=[UnsavedTake(hum(8.0), 44100, "Words.", "me")]))
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and not app.jobs.running)
        app.screen.trimmer.focus()
        await pilot.press("x")
        assert "no other take" in label(app, "#verdict")
        await pilot.press("ctrl+n")
        assert "the words are those of the take" in label(app, "#verdict")
        app.screen.trimmer.pauses = ()
        await pilot.press("s")
        assert "no pause in this take" in label(app, "#verdict")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_an_error_on_the_main_screen_stands_in_one_place(make_app, size):
    app = make_app()
    async with running(app, size) as pilot:
        app.complain(OSError(28, "No space left on device"), "Make room first.")
        await pilot.pause()
        assert state(app) == "the disk is full. Make room first." and not notices(app)
        await opened(app, pilot, "ctrl+g", SettingsScreen)
        app.complain(OSError(28, "No space left on device"))
        await until(pilot, lambda: notices(app))  # that line is not seen from here
        assert [notice.message for notice in notices(app)] == ["the disk is full"]


async def test_help_begins_with_what_to_do_first(make_app):
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("f1")
        await pilot.pause()
        seen = " ".join(strip.text for strip in app.screen._compositor.render_strips())
        seen = " ".join(seen.replace("│", " ").split())
        how = app.main.HOW
        assert how.count(". ") == 2 and seen.index("Type or paste") < seen.index("keeps all that you make.")
        for key in ("^s Speak", "esc Stop", "F2 Pause", "^o Save sound", "^l Live clone", "^r Record", "^t History"):
            assert key in seen


def test_what_is_not_there_is_not_a_dash():
    assert Levels(-20.0, SILENCE, -3.0).words == "speech -20 · no pauses · peak -3 dB"
    assert Levels().words == "silence"


async def test_figures_that_are_not_known_are_left_out(make_app):
    app = make_app()
    async with running(app, (200, 60)) as pilot:
        app.main.status.show(Figures(frames=3))
        await pilot.pause()
        shown = str(app.main.query_one("#figures").content)
        assert shown == "gaps 0 · 3 frames"
