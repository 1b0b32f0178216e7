"""Versions of one text: another seed each, heard one by one, the best starred, saved, spoken again with its seed."""

from s2mlx_app.engine.levels import Levels
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.versions import VersionsScreen
from s2mlx_app.widgets.version_table import version_line
from textual.widgets import Input

from s2mlx.errors import ModelError

from .conftest import running, until
from .test_recording import label
from .test_voices import state


async def opened(app, pilot):
    await pilot.press("ctrl+n")
    await until(pilot, lambda: isinstance(app.screen, VersionsScreen))
    return app.screen


def rows(screen):
    return [str(screen.table.get_option_at_index(row).prompt) for row in range(screen.table.option_count)]


async def test_each_has_another_seed_and_the_first_is_heard_at_once(make_app, studio):
    studio.loudspeakers.speed = 0
    app = make_app(text="Only this.", cast=("anna",), seed=100, temperature=0.5)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4 and studio.players)
        calls = studio.engine.calls
        assert [call.options.seed for call in calls] == [100, 101, 102, 103]
        assert {(call.text, call.voice[0].name, call.options.temperature) for call in calls} == {
            ("Only this.", "anna", 0.5)
        }
        assert [row.rpartition("seed ")[2] for row in rows(screen)] == ["100", "101", "102", "103"]
        assert len(studio.players) == 1 and screen.listening.replay and screen.at == 0
        await pilot.press("plus")
        await until(pilot, lambda: len(screen.made) == 5 and not screen._making)
        assert "seed 104" in rows(screen)[4]
        await until(pilot, lambda: len(app.history.entries()) == 5)
        assert {entry.seed for entry in app.history.entries()} == set(range(100, 105))


async def test_without_a_seed_the_model_takes_any(make_app, studio):
    app = make_app(text="Only this.")
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4)
        seeds = [call.options.seed for call in studio.engine.calls]
        assert len({*seeds}) == 4 and seeds == [version.seed for version in screen.made]


async def test_the_selection_alone_is_spoken(make_app, studio):
    app = make_app(text="One. Two.")
    async with running(app) as pilot:
        app.main.editor.area.selection = type(app.main.editor.area.selection)((0, 5), (0, 9))
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4)
        assert {call.text for call in studio.engine.calls} == {"Two."}


async def test_they_are_heard_by_turns_and_through(make_app, studio):
    studio.loudspeakers.speed = 0
    levels = iter([-10.0, -30.0, -20.0, -20.0])
    studio.levels = lambda samples, rate: Levels(speech=next(levels))
    app = make_app(text="Only this.", seed=1)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4 and screen.listening.replay and screen.listening.replay.output)
        await pilot.press("down")  # while one is heard, the next is heard instead
        await until(pilot, lambda: len(studio.players) == 2 and studio.players[1].queued)
        assert screen.at == 1
        soft = abs(screen.listening.replay.samples).max()
        await pilot.press("up")
        await until(pilot, lambda: len(studio.players) == 3 and studio.players[2].queued)
        assert abs(screen.listening.replay.samples).max() < soft / 5  # as soft as the softest
        await pilot.press("space")
        assert screen.listening.replay is None
        await pilot.press("down", "down")
        assert screen.listening.replay is None and screen.at == 2
        studio.loudspeakers.speed = 1e6
        await pilot.press("l")
        await until(pilot, lambda: screen.at == 3 and screen.listening.replay is None)
        assert len(studio.players) == 5
        await pilot.press("enter")
        await until(pilot, lambda: len(studio.players) == 6)


async def test_the_best_is_starred_saved_and_spoken_again_with_its_seed(make_app, studio, tmp_path):
    app = make_app(text="Only this.", cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4)
        await pilot.press("down", "b")
        assert [row[0] for row in rows(screen)] == [" ", "★", " ", " "]
        await pilot.press("b")
        assert screen.best is None
        await pilot.press("down", "b", "e")
        await until(pilot, lambda: bool(app.screen.query("#field-path")))
        target = tmp_path / "best.wav"
        app.screen.query_one("#field-path", Input).value = str(target)
        await pilot.press("enter")
        await until(pilot, lambda: target in studio.files and "saved" in label(app, "#said"))
        assert len(studio.files[target]) == len(screen.made[2].audio.whole())
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and len(studio.engine.calls) == 5)
        last = studio.engine.calls[-1]
        assert (last.text, last.options.seed, last.voice[0].name) == ("Only this.", 102, "anna")
        await until(pilot, lambda: not app.jobs.running)


async def test_escape_stops_the_making_then_leaves(make_app, studio):
    studio.engine.gate.close()
    studio.engine.gate.let(12)  # chunks: one version, and the second one's beginning
    app = make_app(text="Only this.", seed=1)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 1 and "version 2, seed 2" in label(app, "#said"))
        assert len(rows(screen)) == 4 and "…" in rows(screen)[3]
        await pilot.press("escape")
        await until(pilot, lambda: "stopped" in label(app, "#said") and not screen._making)
        assert len(rows(screen)) == 1
        studio.engine.gate.open()
        await pilot.press("plus")
        await until(pilot, lambda: len(screen.made) == 2)
        assert screen.made[1].seed == 3  # the one that was stopped is not tried again
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))


async def test_nothing_made_leaves_nothing_to_do(make_app, studio):
    studio.engine.fail_at, studio.engine.failure = 0, ModelError("no more of this")
    app = make_app(text="Only this.")
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: "no more of this" in label(app, "#said"))
        for action in ("listen", "listen_through", "star", "export", "again"):
            assert screen.check_action(action, ()) is False
        await pilot.press("space", "enter", "b", "e", "s")
        assert app.screen is screen and rows(screen) == []
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)


async def test_speech_that_ends_at_once_is_no_version(make_app, studio):
    studio.engine.frames = 0
    app = make_app(text="Only this.", seed=5)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: "+ tries another seed" in label(app, "#said"))
        studio.engine.frames = 8
        await pilot.press("plus")
        await until(pilot, lambda: len(screen.made) == 1)
        assert screen.made[0].seed == 9  # four were tried


async def test_what_cannot_be_spoken_is_said(make_app):
    app = make_app(text="...")
    async with running(app) as pilot:
        await pilot.press("ctrl+n")
        assert "nothing to say" in state(app)
        app.main.editor.put("<|speaker:1|>Hello.")
        app.change(cast=("anna",))
        await pilot.press("ctrl+n")
        assert "speaker 1 has no voice" in state(app) and isinstance(app.screen, MainScreen)


def test_a_row_tells_length_level_and_seed():
    assert version_line(1, True, 8.42, -18.2, 1234) == "★ 2     8.4 s    -18 dB   seed 1234"
    assert version_line(2, False, None, 0.0, None) == "  3         …"


async def test_they_are_one_batch_with_figures_of_their_own(make_app, studio):
    app = make_app(text="Only this.", cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4)
        assert studio.engine.batches == [[("Only this.", seed) for seed in range(100, 104)]]
        entries = sorted(app.history.entries(), key=lambda entry: entry.seed)
        assert [entry.frames for entry in entries] == [40] * 4
        assert {round(entry.seconds, 3) for entry in entries} == {round(40 * 2048 / 44100, 3)}


async def test_versions_and_their_star_are_there_after_a_restart(make_app, studio):
    app = make_app(text="Only this.", cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4)
        await pilot.press("down", "down", "b")
        await until(pilot, lambda: sum(entry.starred for entry in app.history.entries()) == 1)
    app = make_app(text="Only this.", cast=("anna",), seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4)
        assert [row[0] for row in rows(screen)] == [" ", " ", "★", " "] and screen.at == 2
        assert [version.seed for version in screen.made] == [100, 101, 102, 103]
        assert len(studio.engine.batches) == 1  # nothing is made again
        await pilot.press("plus")
        await until(pilot, lambda: len(screen.made) == 5)
        assert screen.made[4].seed == 104
        await pilot.press("up", "b")  # another one is the best
        starred = lambda: [entry.seed for entry in app.history.entries() if entry.starred]
        await until(pilot, lambda: starred() == [101])
        await until(pilot, lambda: not app.jobs.running)


async def test_a_starred_one_is_never_the_oldest_that_goes(make_app, studio):
    app = make_app(text="Only this.", seed=1)
    app.history.keep = 3
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: len(screen.made) == 4)
        entry = app.history.entries()[-1]
        app.history.star(entry, True)
        for _ in range(3):
            app.history.add(app.entry_of(screen.made[0].audio), screen.made[0].audio.whole(), 44100)
        assert entry.id in {one.id for one in app.history.entries()}
