"""The way into the parts of a text, and what is asked of them in an unexpected order."""

import pytest
from s2mlx_app.screens.parts import PartsScreen
from s2mlx_app.speaking.part_plan import planned

from s2mlx.errors import UsageError
from s2mlx.options import Options

from .conftest import notices, running, until
from .test_parts import TEXT, exported, label, made, opened, parted
from .test_voices import state


async def test_f6_twice_opens_one_list(make_app, studio):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        app.main.action_parts()
        app.main.action_parts()
        assert "cut into parts" in state(app)
        await until(pilot, lambda: isinstance(app.screen, PartsScreen) and not app.jobs.running)
        assert len(app.desk.queue) == 1 and len(app.screen_stack) == 2


async def test_a_selection_keeps_its_speaker(make_app, studio):
    parted(studio)
    text = "<|speaker:1|>One here. Two here."
    app = make_app(text=text, cast=("anna", "ben"))
    async with running(app) as pilot:
        area = app.main.editor.area
        area.selection = type(area.selection)((0, text.index("Two")), (0, len(text)))
        screen = await opened(app, pilot)
        assert screen.reading.text == "<|speaker:1|>Two here." and screen.reading.voices == ("anna", "ben")


async def test_what_is_made_is_shown_without_a_model(make_app, studio):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await made(app, pilot)
        await pilot.press("escape")
        app.loader.engine = None
        assert app.desk.is_made((await opened(app, pilot)).reading)
        await pilot.press("escape")
        app.main.editor.put(TEXT + " More.")
        await pilot.press("f6")
        await until(pilot, lambda: "not loaded" in state(app))


async def test_a_text_is_made_by_one_model(make_app, studio):
    engine = parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        first = await opened(app, pilot)
        engine.name = "Another S2"
        await pilot.press("m")
        await until(pilot, lambda: "begun with Fake S2" in first.bar.words)
        assert not engine.calls
        await pilot.press("n")
        await until(pilot, lambda: "begun with Fake S2" in label(app, "#said"))
        await pilot.press("escape")
        assert (await opened(app, pilot)).reading.model_name == "Another S2"


async def test_to_look_at_a_part_makes_none(make_app, studio):
    engine = parted(studio)
    studio.loudspeakers.speed = 0.001
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("space")
        await until(pilot, lambda: screen.listening.replay is not None)
        await pilot.press("down")
        await until(pilot, lambda: screen.listening.replay is None)
        assert len(engine.calls) == 1 and list(screen.sounds) == [0]


async def test_a_change_of_mind_forgets_what_was_waited_for(make_app, studio):
    engine = parted(studio)
    engine.hold()
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("m", "space")
        await until(pilot, lambda: "as soon as it is there" in label(app, "#said"))
        await pilot.press("m")
        assert screen._awaited is None
        engine.gate.open()
        await until(pilot, lambda: app.desk.current is None)


async def test_a_damaged_part_is_told(make_app, studio):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await made(app, pilot)
        path = app.desk.readings.of(screen.reading) / "1.json"
    path.write_text("{")
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await opened(app, pilot)
        await until(pilot, lambda: any("1.json" in notice.message for notice in notices(app)))


async def test_what_another_window_made_is_shown(make_app, studio):
    parted(studio)
    app, other = make_app(text=TEXT, cast=("anna",)), make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        async with running(other) as pilot2:
            await made(other, pilot2)
        history = len(app.history.entries())
        await pilot.press("m")
        await until(pilot, lambda: app.desk.is_made(screen.reading))
        assert len(app.history.entries()) == history == 1 and len(studio.engine.batches) == 1


async def test_one_mute_part_ends_no_book(make_app, studio):
    engine = parted(studio)
    begin = engine._chunks

    def chunks(text, options, cancel, lead, frames):
        return begin(text, options, cancel, lead, 0 if "second" in text else frames)

    engine._chunks = chunks
    app = make_app(text=TEXT, cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: "part 2 has no sound with 3 seeds" in screen.bar.words)
        assert sorted(screen.sounds) == [0, 2]


async def test_a_renamed_voice_goes_on_in_its_texts(make_app, studio):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        reading = (await opened(app, pilot)).reading
        app.main.voices.renamed({"anna": "anne"})
        await until(pilot, lambda: app.desk.now(reading).voices == ("anne",) and not app.jobs.running)
        assert app.desk.readings.all()[0].voices == ("anne",)


async def test_chapters_of_which_nothing_is_made_get_no_file(make_app, studio, tmp_path):
    parted(studio)
    app = make_app(text="# One\n\nIt begins.\n\n# Two\n\nIt ends.", cast=("anna",))
    async with running(app) as pilot:
        await opened(app, pilot)
        await pilot.press("n")
        await until(pilot, lambda: "is in the whole" in label(app, "#said"))
        await exported(app, pilot, tmp_path / "book.wav", "chapters")
        await until(pilot, lambda: "nothing is there yet of chapter 2" in label(app, "#said"))
        assert tmp_path / "book-001.wav" in studio.files and tmp_path / "book-002.wav" not in studio.files


async def test_a_chapter_without_words_goes_with_the_next(make_app, studio):
    engine = parted(studio)
    plan = engine.plan

    def unspoken(text):
        if text.strip() == "[sigh]":
            raise UsageError("there is nothing to say")
        return plan(text)

    engine.plan = unspoken
    text = "Once.\n\n[sigh]\n\nTwice."
    reading = planned(text, (), Options(), engine, [7, 15])
    assert [text[part.begin : part.end].strip() for part in reading.parts] == ["Once.", "[sigh]\n\nTwice."]
    reading = planned("Once.\n\n[sigh]", (), Options(), engine, [7])
    assert len(reading.parts) == 1 and reading.text.endswith("[sigh]")
    with pytest.raises(UsageError):
        planned("[sigh]", (), Options(), engine, [])
