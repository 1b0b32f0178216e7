"""Two voices by turns: the same text and seed, from the same place, equally loud; and one of them chosen."""

import pytest
from s2mlx_app.engine.levels import Levels
from s2mlx_app.screens.compare import CompareScreen
from s2mlx_app.screens.main import MainScreen
from textual.widgets.text_area import Selection

from s2mlx.errors import GenerationError
from s2mlx.voices import Voice

from .conftest import running, until
from .test_recording import label
from .test_voices import state, the_list


async def opened(app, pilot, other="ben"):
    the_list(app, other)
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(app.screen, CompareScreen))
    return app.screen


async def test_both_are_made_with_one_seed_and_heard_by_turns(make_app, studio):
    studio.loudspeakers.speed = 0
    sides = []

    def levels(samples, rate):
        sides.append(len(samples))
        return Levels(speech=-10.0 if len(sides) == 1 else -30.0)

    studio.levels = levels
    app = make_app(text="Only this.", cast=("anna",), temperature=0.5)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: all(screen.made) and studio.players)
        first, second = studio.engine.calls[:2]
        assert [call.text for call in (first, second)] == ["Only this."] * 2
        assert [call.voice[0].name for call in (first, second)] == ["anna", "ben"]
        assert second.options.seed == screen.made[0].audio.stats.seed and first.options.temperature == 0.5
        assert "▸ A  anna" in label(app, "#side-A") and "-30 dB" in label(app, "#side-B")
        await until(pilot, lambda: screen.listening.replay and screen.listening.replay.output)
        studio.players[-1].position = 0.5
        loud = abs(screen.made[1].audio.whole()).max()
        await pilot.press("x")
        await until(pilot, lambda: len(studio.players) == 2 and studio.players[1].queued)
        assert screen.at == 1 and screen.listening.replay.begin == pytest.approx(0.5, abs=0.01)
        heard = abs(screen.listening.replay.samples).max()
        assert heard == pytest.approx(loud, rel=0.1)  # the softer one stays as it is
        await pilot.press("x")
        await until(pilot, lambda: len(studio.players) == 3 and studio.players[2].queued)
        assert abs(screen.listening.replay.samples).max() < loud / 5
        await pilot.press("x", "enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.jobs.running)
        assert app.settings.cast == ("ben",) and "ben speaks" in state(app)
        assert {entry.voices for entry in app.history.entries()} == {("anna",), ("ben",)}


async def test_escape_stops_the_making_then_leaves(make_app, studio):
    studio.engine.gate.close()
    app = make_app(text="Only this.")
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: label(app, "#said") == "stopped" and not app.jobs.running)
        assert screen.made == [None, None] and not screen.check_action("change", ())
        await pilot.press("space", "enter", "escape")
        assert isinstance(app.screen, MainScreen) and app.settings.cast == ()


async def test_a_voice_that_cannot_be_loaded_is_told(make_app, studio, monkeypatch):
    def broken(*_):
        raise GenerationError("no more of this")

    app = make_app(text="Only this.")
    async with running(app) as pilot:
        monkeypatch.setattr(Voice, "check", broken)
        await opened(app, pilot)
        await until(pilot, lambda: "no more of this" in label(app, "#said") and not app.jobs.running)


async def test_what_cannot_be_compared_is_said(make_app, studio):
    app = make_app(text="<|speaker:1|>Hello.", cast=("anna", "ben"))
    async with running(app) as pilot:
        the_list(app, "ben")
        await pilot.press("f3")
        assert "ben speaks already" in state(app)  # he is speaker 1
        app.main.editor.put("Well. <|speaker:1|>Hello.")
        the_list(app, "anna")
        await pilot.press("f3")
        assert "one speaker" in state(app)
        app.main.editor.put("...")
        await pilot.press("f3")
        assert "nothing to say" in state(app) and isinstance(app.screen, MainScreen)


async def test_what_is_selected_is_compared_in_the_voice_of_its_speaker(make_app, studio):
    text = "<|speaker:0|>Well, well. <|speaker:1|>Hello there. How are you?"
    app = make_app(text=text, cast=("anna", "ben"))
    async with running(app) as pilot:
        the_list(app, "anna")
        app.main.editor.area.selection = Selection((0, text.index("How")), (0, len(text)))
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and all(app.screen.made))
        assert app.screen.names == ("ben", "anna") and app.screen.text == "How are you?"
        await pilot.press("x", "enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert app.settings.cast == ("anna", "anna") and "speaks as <|speaker:1|>" in state(app)
