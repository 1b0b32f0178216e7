"""The history searched, its texts taken back, its files shown, its disk freed."""

from datetime import datetime

import pytest
from s2mlx_app.screens.choice import Choice
from s2mlx_app.screens.history import HistoryScreen
from s2mlx_app.screens.history_cleaning import sweeps
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.state.history import HistoryEntry
from s2mlx_app.state.history_filter import HistoryFilter, next_voice
from textual.widgets import Label

from .conftest import TEXT, running, until
from .fakes import hum

ENTRIES = [
    HistoryEntry("The harbour was quiet.", ("anna",), 1, when="2020-01-01T10:00:00", model_name="S2 Pro"),
    HistoryEntry("Three chairs.", ("anna", "ben"), 2, when="2020-02-01T10:00:00"),
    HistoryEntry("A quiet chair.", (), 3, when="2999-01-01T10:00:00"),
]


@pytest.fixture
def opened(make_app):
    """The history screen of an app with three utterances, the last one first."""

    async def open_it(app, pilot):
        for entry in ENTRIES:
            app.history.add(entry, hum(0.5), 44100)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and len(app.screen.shown) == 3)
        return app.screen

    return open_it


def title(app):
    return str(app.screen.query_one("#history-title", Label).content)


async def test_words_and_voices_filter_and_escape_shows_all(make_app, opened):
    app = make_app()
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("slash", *"quiet")
        assert [entry.seed for entry in screen.shown] == [3, 1] and "2 of 3 utterances" in title(app)
        await pilot.press("enter", "v", "v")
        assert [entry.seed for entry in screen.shown] == [1] and "by anna" in title(app)
        await pilot.press("v")
        assert screen.shown == [] and screen.current is None
        assert "Nothing like that" in str(screen.query_one("#details").content)
        await pilot.press("space", "s", "t", "e", "c", "d", "o")  # none of them has anything to do
        await pilot.press("escape")
        assert len(screen.shown) == 3 and "3 utterances ·" in title(app) and app.screen is screen
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)


async def test_the_text_comes_back_into_the_editor_and_undo_takes_it_out(make_app, opened):
    app = make_app()
    async with running(app) as pilot:
        await opened(app, pilot)
        await pilot.press("down", "t")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert app.main.editor.text == "Three chairs."
        app.main.editor.area.focus()
        await pilot.press("ctrl+z")
        assert app.main.editor.text == TEXT


async def test_the_file_is_shown_and_its_path_told(make_app, opened, studio):
    app = make_app()
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("o")
        await until(pilot, lambda: studio.revealed and not app.jobs.running)
        assert studio.revealed == [app.history.path(screen.current)] and studio.revealed[0].exists()
        assert str(studio.revealed[0]) in str(screen.query_one("#said").content)


async def test_cleaning_up_goes_to_the_bin_and_comes_back_together(make_app, opened):
    app = make_app()
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Choice))
        await pilot.press("enter")  # older than a day
        await until(pilot, lambda: app.screen is screen and len(screen.entries) == 1 and not app.jobs.running)
        assert "in the bin" in title(app)
        await pilot.press("u")
        await until(pilot, lambda: len(screen.entries) == 3 and not app.jobs.running)
        await pilot.press("d")
        await until(pilot, lambda: len(screen.entries) == 2 and not app.jobs.running)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Choice))
        await pilot.press("end", "enter")
        await until(pilot, lambda: app.screen is screen and "in the bin" not in title(app))
        assert not app.history.removed() and len(app.history.entries()) == 2


def test_what_is_offered_to_go():
    now = datetime(2020, 2, 5)
    whats = [sweep.what for sweep in sweeps(ENTRIES, ENTRIES[:1], 5_000_000, now)]
    assert whats == [
        "what is shown now: 1",
        "older than a day: 2",
        "older than a week: 1",
        "older than a month: 1",
        "what is in the bin: 5.00 MB, for good",
    ]
    assert sweeps(ENTRIES[2:], [], 0, now) == []


def test_filters():
    assert not HistoryFilter() and not HistoryFilter("  ") and HistoryFilter(voice="")
    by = lambda **wanted: [entry.seed for entry in ENTRIES if HistoryFilter(**wanted).matches(entry)]
    assert by(words="QUIET harbour") == [1] and by(words="pro") == [1] and by(words="2020-02") == [2]
    assert by(voice="") == [3] and by(voice="anna") == [1, 2] and by(voice="anna", words="chairs") == [2]
    circle = [None]
    for _ in range(4):
        circle.append(next_voice(ENTRIES, circle[-1]))
    assert circle == [None, "", "anna", "ben", None] and next_voice([], "gone") is None
