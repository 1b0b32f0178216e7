"""What the terminal shows after its size has changed: read from the rows that are sent to it."""

import pytest
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.widgets.key_line import SMALLEST, KeyLine
from s2mlx_app.widgets.status_line import StatusLine
from s2mlx_app.widgets.transport import Transport
from s2mlx_app.widgets.voice_list import VoiceList
from s2mlx_app.widgets.waveform import Waveform
from textual.widgets import Input
from textual.widgets._toast import Toast

from s2mlx.errors import DeviceError

from .conftest import running, until

WORDS = "We walked along the river until it was dark, and then we went home."


def rows(pilot) -> list[str]:
    """The screen's rows of text."""
    return [strip.text for strip in pilot.app.screen._compositor.render_strips()]


def words_in(pilot, widget) -> str:
    """What is shown inside a widget, its lines joined."""
    region = widget.content_region
    return " ".join(" ".join(row[region.x : region.right] for row in rows(pilot)[region.y : region.bottom]).split())


async def resized(pilot, *size: int) -> None:
    await pilot.resize_terminal(*size)
    await pilot.pause()
    await pilot.pause()


@pytest.mark.parametrize("before, after", [((100, 30), (80, 24)), ((80, 24), (100, 30)), ((120, 40), (90, 24))])
async def test_no_word_vanishes_from_the_text(make_app, before, after):
    app = make_app(text=WORDS)
    async with running(app, before) as pilot:
        assert words_in(pilot, app.main.editor.area) == WORDS
        await resized(pilot, *after)
        assert words_in(pilot, app.main.editor.area) == WORDS


async def test_no_word_vanishes_from_what_is_to_be_read(make_app):
    app = make_app()
    async with running(app, (100, 30)) as pilot:
        app.push_screen(RecordScreen())
        await pilot.pause()
        area = app.screen.query_one("#words")
        area.load_text(WORDS + " " + WORDS)
        await pilot.pause()
        for size in ((80, 24), (74, 24), (100, 30)):
            await resized(pilot, *size)
            assert words_in(pilot, area) == f"{WORDS} {WORDS}"


SMALL = [(72, 24), (60, 18), (50, 14), tuple(SMALLEST)]


def is_whole(app, widget) -> bool:
    """All of it can be seen, and all that it says."""
    visible = app.screen.find_widget(widget).visible_region
    return visible == widget.region and visible.area > 0 and widget.region.width >= len(widget.render().plain)


@pytest.mark.parametrize("size", SMALL)
async def test_a_small_terminal_has_the_text_every_button_and_the_way_out(make_app, size):
    app = make_app(text="")
    async with running(app, (100, 30)) as pilot:
        await resized(pilot, *size)
        assert all(is_whole(app, button) for button in app.screen.query_one(Transport).query("Button"))
        await pilot.press(*"seen at once")
        assert words_in(pilot, app.main.editor.area) == "seen at once"
        assert "^q Quit" in rows(pilot)[-1] and "Help" in rows(pilot)[-1] and app.screen.max_scroll_y == 0
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and not app.jobs.running)
        assert all(is_whole(app, button) for button in app.screen.query_one(Transport).query("Button"))
        assert "^q Quit" in rows(pilot)[-1] and app.screen.max_scroll_y == 0


@pytest.mark.parametrize("size", SMALL)
async def test_voices_can_be_chosen_in_a_small_terminal(make_app, size):
    app = make_app(cast=("anna",))
    async with running(app, size) as pilot:
        voices = app.screen.query_one(VoiceList)
        assert "anna" in words_in(pilot, voices)  # the one that speaks
        await pilot.press("shift+tab", "down")
        await pilot.pause()
        assert voices.has_focus and "ben" in words_in(pilot, voices) and app.main.editor.area.region.height > 0
        await pilot.press("enter", "tab")
        assert app.settings.cast == ("ben",) and "ben" in words_in(pilot, voices)


async def test_the_field_typed_into_can_be_seen(make_app):
    app = make_app()
    async with running(app, SMALLEST) as pilot:
        await pilot.press("shift+tab", "a")
        await pilot.pause()
        for _ in range(3):
            await pilot.pause()
            field = app.focused
            assert isinstance(field, Input) and app.screen.find_widget(field).visible_region == field.region
            await pilot.press("tab")


@pytest.mark.parametrize(
    "size, hint",
    [
        ((39, 12), "make the terminal larger: 40 x 12"),
        ((20, 6), "needs 40 x 12"),
        ((100, 11), "make the terminal larger: 40 x 12"),
    ],
)
async def test_a_terminal_that_is_too_small_says_so_and_keeps_the_text(make_app, size, hint):
    app = make_app(text="Hi")
    async with running(app, (100, 30)) as pilot:
        await resized(pilot, *size)
        assert rows(pilot)[-1].strip() == hint and words_in(pilot, app.main.editor.area) == "Hi"
        await resized(pilot, 100, 30)
        assert "^q Quit" in rows(pilot)[-1] and "anna" in words_in(pilot, app.screen.query_one(VoiceList))


@pytest.mark.parametrize("width, shown", [(100, "speaking"), (40, "what went wrong and what to do about it")])
async def test_a_long_state_takes_the_row_of_the_figures(make_app, width, shown):
    app = make_app()
    async with running(app, (width, 20)) as pilot:
        app.main.say(shown)
        await pilot.pause()
        seen = words_in(pilot, app.main.status)
        assert shown in seen and ("GB" in seen) == (width == 100) and "…" not in seen


@pytest.mark.parametrize("size", [(100, 30), (120, 40), *SMALL])
async def test_a_notice_hides_neither_sound_nor_figures_nor_buttons(make_app, size):
    app = make_app()
    async with running(app, size, notifications=True) as pilot:
        app.notify("One more notice, or two, which would push the last one out of its place.", timeout=60)
        app.notify("One more notice, or two, which would push the last one out of its place.", timeout=60)
        for show, shown in (
            (lambda: None, (Transport, Waveform, StatusLine, KeyLine)),
            (lambda: app.push_screen(RecordScreen()), (Transport, Input, KeyLine)),
        ):
            show()
            app.notify("A notice of some length, such as one about a file that could not be written where it should.")
            await pilot.pause()
            await pilot.pause()
            geometry, toasts = app.screen._compositor.visible_widgets, app.screen.query(Toast)
            notices = [geometry[toast][0].intersection(geometry[toast][1]) for toast in toasts if toast in geometry]
            rows = [widget.region for kind in shown for widget in app.screen.query(kind)]
            assert notices and not any(notice.overlaps(row) for notice in notices for row in rows)


async def test_that_nothing_is_heard_is_said_where_it_stays(make_app, studio):
    studio.output_error = DeviceError("there is no output device on this machine; see System Settings > Sound")
    app = make_app()
    async with running(app, (80, 24), notifications=True) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert str(studio.output_error) in words_in(pilot, app.main.status) and not app.screen.query(Toast)


async def test_rows_of_voices_fit_beside_a_scroll_bar(make_app):
    """It comes with the rows, and takes room that the lines were made for: their ends would wrap out of sight."""
    app = make_app()
    async with running(app, size=(60, 18)) as pilot:
        voices = app.main.query_one(VoiceList)
        rows, cast = voices.rows, voices.cast
        voices.show([], ())
        await pilot.pause()
        voices.show(rows, cast)
        await until(pilot, lambda: voices.show_vertical_scrollbar)
        assert voices.rows[0].outline
        width = voices.scrollable_content_region.width
        for index, row in enumerate(voices.rows, 1):
            assert voices.get_option_at_index(index).prompt.cell_length <= width
            assert row.outline in voices.get_option_at_index(index).prompt.plain
