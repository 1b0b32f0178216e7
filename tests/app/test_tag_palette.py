"""The palette of tags: found by typing, put at the cursor; what the model ignores is grey."""

import dataclasses

import pytest
from s2mlx_app import tags
from s2mlx_app.screens.tag_palette import TagPalette
from textual.widgets import Label, OptionList

from s2mlx.text import DIRECTIONS

from .conftest import running, until


async def opened(app, pilot):
    await pilot.press("f4")
    await until(pilot, lambda: isinstance(app.screen, TagPalette))
    return app.screen


async def test_a_tag_is_found_by_typing_and_put_at_the_cursor(make_app):
    app = make_app(text="Hello there.")
    async with running(app) as pilot:
        app.main.editor.area.move_cursor((0, 5))
        await opened(app, pilot)
        await pilot.press(*"laug", "enter")
        await until(pilot, lambda: not isinstance(app.screen, TagPalette))
        assert app.main.editor.text == "Hello [laughing] there." and app.focused is app.main.editor.area
        await pilot.press("ctrl+z")
        assert app.main.editor.text == "Hello there."
        await opened(app, pilot)
        await pilot.press("escape")
        assert app.main.editor.text == "Hello there."


async def test_a_direction_of_ones_own_and_a_speaker(make_app):
    app = make_app(text="", cast=("anna", "ben"))
    async with running(app) as pilot:
        await opened(app, pilot)
        await pilot.press(*"very tired", "enter")
        await until(pilot, lambda: app.main.editor.text == "[very tired]")
        screen = await opened(app, pilot)
        await pilot.press(*"ben")
        lines = screen.query_one(OptionList)
        assert str(lines.get_option_at_index(lines.highlighted).prompt).split() == ["<|speaker:1|>", "ben"]
        await pilot.press("down")
        assert str(lines.get_option_at_index(lines.highlighted).prompt).split() == ["[ben]"]
        await pilot.press("up", "enter")
        await until(pilot, lambda: app.main.editor.text == "[very tired] <|speaker:1|>")


@pytest.mark.parametrize("heeded", [True, False])
async def test_what_the_model_ignores_is_grey(make_app, studio, heeded):
    studio.engine.config = dataclasses.replace(studio.engine.config, dialogue=heeded)
    app = make_app()
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        lines = screen.query_one(OptionList)
        whisper = next(
            option.prompt
            for option in (lines.get_option_at_index(n) for n in range(lines.option_count))
            if "[whisper]" in str(option.prompt)
        )
        colours = {span.style for span in whisper.spans if span.start == 2}
        assert colours == {"$direction" if heeded else "$text-disabled"}
        assert ("ignores" in str(screen.query_one(Label).content)) is not heeded


def test_every_direction_is_in_one_group():
    found = [tag for _, members in tags.palette() for tag, _ in members]
    assert sorted(found) == sorted(f"[{tag}]" for tag in DIRECTIONS)
    assert (
        tags.palette("zzz") == [("In your own words", [("[zzz]", "")])] and tags.palette("[whisper]")[0][0] == "Manner"
    )
