"""What is told is told whole, where it can be seen, and holds: messages, keys, empty fields, figures."""

import pytest
from s2mlx_app.engine.model_offers import offers
from s2mlx_app.screens.choice import Choice
from s2mlx_app.screens.form import Field, Form, Question
from s2mlx_app.screens.history import HistoryScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.tag_palette import TagPalette
from s2mlx_app.state.take_file import UnsavedTake
from s2mlx_app.widgets.key_line import KeyLine
from textual.widgets import Input, Label

from .conftest import running, until
from .fakes import hum
from .test_recording import label
from .test_voices import state, the_list

LONG = "the language model is not on this machine: " + "get it with a command of many words, " * 6 + "or name another"


@pytest.mark.parametrize("size", [(80, 24), (50, 15)])
async def test_a_long_message_is_shown_to_its_end_and_leaves_no_gap(make_app, size):
    app = make_app()
    async with running(app, size) as pilot:
        status = app.main.status
        assert status.size.height == 2
        app.main.say(LONG, "failed")
        await pilot.pause()
        shown = " ".join(strip.text.strip() for strip in app.screen._compositor.render_strips())
        assert " ".join(shown.split()).find("or name another") > 0 or size == (50, 15)
        assert status.size.height > 2 and status.region.bottom == size[1] - 1
        app.main.say("short")
        await pilot.pause()
        assert status.size.height == 2


async def test_sound_that_is_held_back_says_so_until_it_is_heard(make_app, studio):
    studio.loudspeakers.speed, studio.engine.rtf, studio.engine.frames = 0, 3.0, 120
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.latest and app.main.speech.latest.ended.is_set())
        assert state(app) == "collecting sound first: slower than real time (3.0x)"
        studio.players[0].position = 1.0
        await until(pilot, lambda: state(app).startswith("speaking: slower"))
        assert "a smaller model helps" in state(app)


async def test_the_smallest_model_is_not_told_to_be_smaller(make_app, studio):
    studio.loudspeakers.speed, studio.engine.rtf, studio.engine.frames = 1, 3.0, 120
    studio.engine.is_demo = True
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: state(app).startswith("speaking: slower"))
        assert "smaller" not in state(app)


async def test_figures_of_what_is_heard_end_with_it(make_app, studio):
    studio.loudspeakers.speed = 0
    app = make_app()
    async with running(app) as pilot:
        figures = lambda: str(app.main.query_one("#figures").content)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.latest and app.main.speech.latest.ended.is_set())
        assert "buffer" in figures()
        await pilot.press("escape")
        assert "buffer" not in figures() and "RTF" in figures() and not figures().startswith("-")


DIALOGS = {
    "form": lambda: Form("Rename anna", [Field("name", "New name", "anna")], "Rename"),
    "question": lambda: Question("Look at it?", [("yes", "Yes"), ("no", "No")]),
    "choice": lambda: Choice("Delete", ["one", "two"]),
    "tags": lambda: TagPalette(False, ["anna"]),
}


@pytest.mark.parametrize("size", [(80, 24), (60, 18), (40, 12)])
@pytest.mark.parametrize("dialog", list(DIALOGS))
async def test_a_dialog_shows_its_own_keys_and_begins_with_its_title(make_app, dialog, size):
    app = make_app()
    async with running(app, size) as pilot:
        app.push_screen(DIALOGS[dialog]())
        await until(pilot, lambda: app.screen is not app.main and app.screen.query(KeyLine))
        line = app.screen.query_one(KeyLine)
        await until(pilot, lambda: line.keys)
        actions = {key.action for key in line.keys}
        assert "leave" in actions and actions & {"accept", "choose", "app.focus_previous"}
        assert app.screen.query_one(".dialog").scroll_y == 0
        title = app.screen.query(Label).first()
        assert title.region.y > app.screen.query_one(".dialog").region.y and title.size.height == 1
        assert app.screen.query_one(".dialog").region.bottom <= line.region.y
        await pilot.press("escape")
        assert app.screen is app.main


async def test_a_choice_is_made_by_enter(make_app):
    app, chosen = make_app(), []
    async with running(app) as pilot:
        app.push_screen(Choice("Delete", ["one", "two"]), chosen.append)
        await pilot.pause()
        await pilot.press("down", "enter")
        assert chosen == [1]


async def test_a_voices_empty_fields_show_what_holds(make_app):
    app = make_app(temperature=0.55)
    async with running(app, (80, 24)) as pilot:
        the_list(app, "anna")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Form))
        hints = {field.id: field.placeholder for field in app.screen.query(Input)}
        assert hints["field-temperature"] == "0.55, as in the settings"
        assert hints["field-pause_ms"] == "250, as in the settings"
        assert hints["field-seed"] == "drawn, as in the settings"
        dialog = app.screen.query_one(".dialog")
        assert dialog.max_scroll_y == 0  # all of it is in sight


async def test_numbers_of_a_model_file_are_shown_as_they_were_meant(make_app, studio):
    import dataclasses

    config = studio.engine.config
    sampling = dataclasses.replace(config.sampling, temperature=0.30000001192092896)
    studio.engine.config = dataclasses.replace(config, sampling=sampling)
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert app.screen.query_one("#set-temperature", Input).placeholder == "0.3 (the model's own)"


@pytest.mark.parametrize("key", ["r", "d"])
async def test_a_bundled_voice_says_at_once_that_it_stays(make_app, studio, key):
    from dataclasses import replace

    app = make_app()
    async with running(app) as pilot:
        rows = [replace(row, bundled=row.name == "ben") for row in app.main.voice_list.rows]
        app.main.voice_list.show(rows, ())
        the_list(app, "ben")
        await pilot.press(key)
        assert app.screen is app.main and "comes with the program" in state(app)
        assert studio.library.names() == ["anna", "ben"]


async def test_a_wide_terminal_shows_more_keys(make_app):
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        shown = lambda: {key.action for key in app.main.query_one(KeyLine).keys}
        few = shown()
        assert {"app.history", "app.settings", "app.models", "app.help"} <= few
        await pilot.resize_terminal(200, 60)
        await pilot.pause()
        assert few < shown() and {"versions", "compare", "tags", "parts"} <= shown()


async def test_two_compared_voices_have_their_day_in_the_history(make_app, studio):
    app = make_app(text="Only this.")
    async with running(app) as pilot:
        app.main.voice_list.highlight("anna")
        await pilot.press("f3")
        await until(pilot, lambda: all(getattr(app.screen, "made", [None])) and not app.jobs.running)
        await pilot.press("escape", "escape", "ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and len(app.screen.entries) == 2)
        assert all(entry.when for entry in app.screen.entries)


async def test_help_scrolls_by_the_keys_it_shows(make_app):
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("f1")
        await pilot.pause()
        assert any("Scroll" in key.description for key in app.screen.query_one(KeyLine).keys)
        await pilot.press("down", "down")
        await until(pilot, lambda: app.screen.query_one("#help").scroll_y > 0)


def test_a_model_that_is_here_needs_what_it_says_itself(monkeypatch):
    monkeypatch.undo()  # the bundled model is wanted
    own = offers()[0]
    if own.path is None:
        pytest.skip("needs the bundled model")
    assert own.needed > own.fetched


async def test_a_recording_counts_whole_seconds(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await pilot.pause()
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "more at least" in label(app, "#cue") or "enough" in label(app, "#cue"))
        cue = label(app, "#cue")
        assert "enough" in cue or cue.split()[-5].isdigit()
        await pilot.press("escape")


@pytest.mark.parametrize("size", [(120, 40), (40, 12)])
async def test_a_switchs_words_are_shown_to_their_end(make_app, size):
    app = make_app()
    async with running(app, size) as pilot:
        await pilot.press("ctrl+g")
        await pilot.pause()
        app.screen.query_one("#cards").scroll_end(animate=False)
        await pilot.pause()
        switch = app.screen.query_one("#set-check")
        words = " ".join(" ".join(switch.render_line(y).text for y in range(switch.size.height)).split())
        assert words.endswith("hear each pass, and speak those with wrong words again")


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
async def test_takes_stand_beside_the_wave_where_there_is_room(make_app, size):
    app = make_app()
    async with running(app, size) as pilot:
        takes = [UnsavedTake(hum(8.0), 44100, "Words.", "me") for _ in range(2)]
        app.push_screen(RecordScreen(recovered=takes))
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and not app.jobs.running)
        wave, table = app.screen.trimmer.region, app.screen.take_table.region
        assert table.x >= wave.right and table.y == wave.y
