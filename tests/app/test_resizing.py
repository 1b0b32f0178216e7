"""What the terminal shows after its size has changed: read from the rows that are sent to it."""

import pytest

from s2mlx_app.screens.record import RecordScreen

from .conftest import running

WORDS = "We walked along the river until it was dark, and then we went home."


def rows(pilot) -> list[str]:
    """The screen's rows of text."""
    return [strip.text for strip in pilot.app.screen._compositor.render_strips()]


def words_in(pilot, widget) -> str:
    """What is shown inside a widget, its lines joined."""
    region = widget.content_region
    return " ".join(" ".join(row[region.x:region.right] for row in rows(pilot)[region.y:region.bottom]).split())


async def resized(pilot, *size: int) -> None:
    await pilot.resize_terminal(*size)
    await pilot.pause()
    await pilot.pause()


@pytest.mark.parametrize("before, after", [((100, 30), (80, 24)), ((80, 24), (100, 30)), ((120, 40), (90, 24))])
async def test_no_word_vanishes_from_the_text(make_app, before, after):
    app = make_app(text=WORDS)
    async with running(app, before) as pilot:
        assert words_in(pilot, app._main.editor.area) == WORDS
        await resized(pilot, *after)
        assert words_in(pilot, app._main.editor.area) == WORDS


async def test_no_word_vanishes_from_what_is_to_be_read(make_app):
    app = make_app()
    async with running(app, (100, 30)) as pilot:
        app.push_screen(RecordScreen())
        await pilot.pause()
        area = app.screen.card._area
        area.load_text(WORDS + " " + WORDS)
        await pilot.pause()
        for size in ((80, 24), (74, 24), (100, 30)):
            await resized(pilot, *size)
            assert words_in(pilot, area) == f"{WORDS} {WORDS}"
