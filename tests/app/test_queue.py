"""The queue of long texts: added, made one after the other, failed, removed and brought back, kept over a restart."""

from dataclasses import replace

from s2mlx_app.screens.parts import PartsScreen
from s2mlx_app.screens.queue import QueueScreen
from s2mlx_app.speaking.part_plan import planned
from textual.widgets import Input

from s2mlx.options import Options

from ..fakes.synthesizer import by_sentence
from .conftest import notices, running, until
from .test_recording import label
from .test_voices import state

TEXT = "The first one. The second is here."


async def opened(app, pilot):
    await pilot.press("f7")
    await until(pilot, lambda: isinstance(app.screen, QueueScreen) and not app.jobs.running)
    return app.screen


def rows(screen):
    return [str(screen.list.get_option_at_index(row).prompt) for row in range(screen.list.option_count)]


async def test_texts_and_files_are_made_one_after_the_other(make_app, studio, tmp_path):
    studio.engine.passes = by_sentence
    file, folder = tmp_path / "story.md", tmp_path / "out"
    file.write_text("# One\n\nIt begins. It ends.")
    folder.mkdir()
    app = make_app(text=TEXT, cast=("anna",), seed=5)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        assert "nothing yet" in rows(screen)[0]
        await pilot.press("a")
        await until(pilot, lambda: len(app.desk.queue) == 1)
        await pilot.press("f")
        await until(pilot, lambda: bool(app.screen.query("#field-path")))
        app.screen.query_one("#field-path", Input).value = str(file)
        app.screen.query_one("#field-folder", Input).value = str(folder)
        await pilot.press("enter")
        await until(pilot, lambda: len(app.desk.queue) == 2 and all(map(app.desk.is_made, app.desk.queue)))
        await until(pilot, lambda: app.desk.current is None and not app.jobs.running)
        assert [row.split()[:3] for row in rows(screen)] == [["✓", "2/2", "done"], ["✓", "2/2", "done"]]
        assert folder / "story.flac" in studio.files and "#" not in app.desk.queue[1].text
        assert {entry.text for entry in app.history.entries()} == {one.text for one in app.desk.queue}
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PartsScreen))
        assert app.screen.reading.text == TEXT


async def test_its_state_is_told_and_it_is_stopped_moved_and_removed(make_app, studio):
    engine = studio.engine
    engine.passes = by_sentence
    engine.hold(11)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("a")
        await until(pilot, lambda: rows(screen) and "part 2 of 2" in rows(screen)[0])
        app.main.editor.put("Another text. It is longer.")
        await pilot.press("a")
        await until(pilot, lambda: len(rows(screen)) == 2 and "waits" in rows(screen)[1])
        assert "1 wait" in screen.bar.words
        await pilot.press("m")
        await until(pilot, lambda: "stopped" in rows(screen)[0])
        await pilot.press("shift+down")
        await until(pilot, lambda: "Another" in rows(screen)[0] and "stopped" in rows(screen)[1])
        assert screen.current.text == TEXT  # which stays in the hand
        await pilot.press("d")
        await until(pilot, lambda: len(rows(screen)) == 1 and "u brings it back" in label(app, "#said"))
        await pilot.press("u")
        await until(pilot, lambda: len(rows(screen)) == 2 and "it is back" in label(app, "#said"))
        engine.gate.open()
        await until(pilot, lambda: not app.jobs.running)


async def test_it_is_there_after_a_restart_and_waits_to_be_asked(make_app, studio):
    engine = studio.engine
    engine.passes = by_sentence
    engine.hold()
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("a")
        await until(pilot, lambda: app.desk.current is not None)
    engine.gate.open()
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        assert "waits" in rows(screen)[0] and not studio.players and "m goes on" in screen.bar.words
        await pilot.press("m")
        await until(pilot, lambda: "done" in rows(screen)[0])
        await until(pilot, lambda: not app.jobs.running)


async def test_what_failed_says_why_and_can_be_tried_again(make_app, studio):
    engine = studio.engine
    engine.fail_at = 4
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("a")
        await until(pilot, lambda: rows(screen) and "failed: the fake model failed" in rows(screen)[0])
        engine.fail_at = None
        await pilot.press("m")
        await until(pilot, lambda: "done" in rows(screen)[0])
        app.main.editor.put("...")
        await pilot.press("a")
        assert "no word to say" in label(app, "#said")
        await until(pilot, lambda: not app.jobs.running)


async def test_what_cannot_go_on_is_shown_as_other_failures_are(make_app, studio):
    engine = studio.engine
    engine.fail_at = 4
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("a")
        await until(pilot, lambda: "m tries again" in label(app, "#said"))
        assert "failed" in rows(screen)[0] and state(app) == "the fake model failed"
        assert not notices(app)  # which would hide rows
        engine.hold()
        await pilot.press("m")
        await until(pilot, lambda: app.desk.current is not None)
        await pilot.press("escape")
        engine.gate.open()
        await until(pilot, lambda: "m tries again, on F7" in state(app))
        assert app.main.status.mood == "failed" and not notices(app)


async def test_what_an_earlier_run_left_is_begun_by_m(make_app, studio):
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        app.desk.readings.add(replace(planned(TEXT, ("anna",), Options(), studio.engine, []), wanted=True))
        app.desk.load()
        await until(pilot, lambda: rows(screen) and "waits for m" in rows(screen)[0])
        await pilot.press("m")
        await until(pilot, lambda: "done" in rows(screen)[0] and not app.jobs.running)


async def test_a_file_that_could_not_be_written_is_written_by_the_next_try(make_app, studio, tmp_path):
    studio.engine.passes = by_sentence
    folder, whole = tmp_path / "out", studio.open_sound
    folder.mkdir()
    app = make_app(text=TEXT, cast=("anna",))

    def full(path, rate):
        raise OSError(28, "No space left on device")

    async with running(app) as pilot:
        screen = await opened(app, pilot)
        studio.open_sound = full
        screen._add(TEXT, "story", str(folder))
        await until(pilot, lambda: rows(screen) and "failed: the disk is full" in rows(screen)[0])
        studio.open_sound = whole
        made = len(studio.engine.calls)
        await pilot.press("m")
        await until(pilot, lambda: folder / "story.flac" in studio.files and "done" in rows(screen)[0])
        await until(pilot, lambda: not app.jobs.running)
        assert len(studio.engine.calls) == made and len(app.history.entries()) == 1
