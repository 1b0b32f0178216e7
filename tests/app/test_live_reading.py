"""A long text on the main screen: heard at once, made in parts that are kept, and nothing of it is made twice."""

import shutil
from dataclasses import replace
from threading import Event
from types import SimpleNamespace

import pytest
from s2mlx_app.app import S2App
from s2mlx_app.screens.parts import PartsScreen
from s2mlx_app.speaking import live_reading

from s2mlx.errors import GenerationError

from ..fakes import RATE
from .conftest import notices, running, until
from .test_parts import PART, TEXT, exported, label, opened, parted, rows
from .test_voices import state

PAUSE = RATE * 250 // 1000


@pytest.fixture(autouse=True)
def long(monkeypatch):
    monkeypatch.setattr(live_reading, "LONG", 2.0)


def held(studio, chunks):
    """An engine that gives so many until its gate is opened; 10 are a part."""
    engine = parted(studio)
    engine.hold(chunks)
    return engine


def texts(engine):
    return [call.text for call in engine.calls]


async def spoken(app, pilot):
    await pilot.press("ctrl+s")
    await until(pilot, lambda: not app.jobs.running)


async def begun_behind(app, pilot):
    """-> the screen of its parts, which are made in the background; the first is there, and the main screen shown."""
    screen = await opened(app, pilot)
    await pilot.press("m")
    await until(pilot, lambda: len(screen.sounds) == 1)
    await pilot.press("escape")
    return screen


async def test_what_is_heard_is_the_list_of_parts(make_app, studio, tmp_path):
    engine = parted(studio)
    app = make_app(text=TEXT, cast=("anna",), seed=100)
    async with running(app) as pilot:
        await spoken(app, pilot)
        assert engine.batches == [[("The first one.", 100), ("The second is here.", 101), ("And the third.", 102)]]
        [player] = studio.players
        whole = 3 * PART + 2 * PAUSE
        assert abs(player.queued - whole / RATE) < 1e-6
        assert len(app.main.speech.audio.whole()) == whole
        assert "3 of 3 parts are kept" in app.main.bar.words and app.main.bar.has_class("-heard")
        [entry] = app.history.entries()
        assert (entry.text, entry.seed, entry.frames, entry.voices) == (TEXT, 100, 120, ("anna",))
        screen = await opened(app, pilot)
        assert [row.split()[:2] for row in rows(screen)] == [["1", "✓"], ["2", "✓"], ["3", "✓"]]
        await pilot.press("down", "n")
        await until(pilot, lambda: "is in the whole" in label(app, "#said"))
        assert len(engine.calls) == 4  # and no more
        target = tmp_path / "whole.flac"
        await exported(app, pilot, target)
        await until(pilot, lambda: target in studio.files)
        assert len(studio.files[target]) == whole and len(engine.calls) == 4
        assert len(app.history.entries()) == 1


async def test_the_bar_tells_how_far_it_is(make_app, studio):
    engine = held(studio, 12)  # chunks: a part, and a little of the next
    studio.loudspeakers.speed = 0
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "1 made" in app.main.bar.words)
        player = studio.players[0]
        player.position = 2.15
        for _ in range(3):
            app.main.speech.tick()
        words = app.main.bar.words
        assert "part 2 of 3" in words and "left of about" in words and 0 < app.main.bar.share < 1
        assert "part" not in state(app)
        begin, end = app.main.editor.area.heard
        assert TEXT[begin:end].strip() == "The second is here."
        await pilot.press("escape")
        engine.gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert "1 of 3 parts are kept" in app.main.bar.words


async def test_what_was_stopped_goes_on_without_being_made_again(make_app, studio):
    engine = held(studio, 12)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.desk.queue and app.desk.made[app.desk.queue[0].id] == 1)
        await pilot.press("escape")
        engine.gate.open()
        await until(pilot, lambda: not app.jobs.running)
        [cut] = app.history.entries()
        assert cut.finish_reason == "cancelled"
        await spoken(app, pilot)
        assert [text for text, _ in engine.batches[-1]] == ["The second is here.", "And the third."]
        assert abs(studio.players[-1].queued - (3 * PART + 2 * PAUSE) / RATE) < 1e-6
        assert not app.main.speech.audio.has_codes
        assert sorted(entry.frames for entry in app.history.entries())[-1] == 120
        before, known = len(engine.calls), len(app.history.entries())
        await spoken(app, pilot)  # all of it is there
        assert len(engine.calls) == before and len(studio.players) == 3 and len(app.history.entries()) == known


async def test_what_was_heard_outlives_a_crash(make_app, studio, tmp_path):
    engine = held(studio, 22)  # chunks: two parts, and a little of the third
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.desk.queue and app.desk.made[app.desk.queue[0].id] == 2)
        shutil.copytree(tmp_path / "state", tmp_path / "killed")  # what a killed app leaves
        await pilot.press("escape")
        engine.gate.open()
    killed = {tmp_path / "killed" / path.relative_to(tmp_path / "state"): sound for path, sound in studio.files.items()}
    studio.files |= killed
    other = S2App(studio, tmp_path / "config", tmp_path / "killed", text=TEXT, cast=("anna",))
    async with running(other) as pilot:
        await spoken(other, pilot)
        assert [text for text, _ in engine.batches[-1]] == ["And the third."]
        assert abs(studio.players[-1].queued - (3 * PART + 2 * PAUSE) / RATE) < 1e-6


async def test_the_parts_are_made_on_when_they_are_looked_at(make_app, studio):
    engine = held(studio, 12)
    studio.loudspeakers.speed = 0
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "1 made" in app.main.bar.words)
        studio.players[0].position = 2.15
        for _ in range(3):
            app.main.speech.tick()
        await pilot.press("f6")
        await until(pilot, lambda: isinstance(app.screen, PartsScreen))
        engine.gate.open()
        screen = app.screen
        assert screen.table.at == 1 and studio.players[0].stopped
        await until(pilot, lambda: app.desk.is_made(screen.reading) and app.desk.current is None)
        assert len(app.desk.queue) == 1 and not screen.reading.trouble
        assert [text for text, _ in engine.batches[-1]] == ["The second is here.", "And the third."]


async def test_it_takes_over_what_is_made_in_the_background(make_app, studio):
    engine = held(studio, 12)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await begun_behind(app, pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.bar.has_class("-heard"))
        engine.gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert app.desk.is_made(screen.reading) and app.desk.current is None and not app.desk.now(screen.reading).wanted
        assert len(app.history.entries()) == 1 and len(studio.players) == 1
        assert texts(engine).count("And the third.") == 1


async def test_what_is_made_in_the_background_is_told_too(make_app, studio):
    engine = held(studio, 12)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await begun_behind(app, pilot)
        await until(pilot, lambda: app.main.bar.has_class("-heard"))
        assert "in the background: part 2 of 3" in app.main.bar.words and 0 < app.main.bar.share < 1
        engine.gate.open()
        await until(pilot, lambda: not app.main.bar.has_class("-heard") and not app.jobs.running)


async def test_a_slow_model_holds_back_no_half_of_a_book(make_app, studio, monkeypatch):
    parted(studio)
    monkeypatch.setattr(live_reading, "HELD", 1.5)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await spoken(app, pilot)
        assert app.main.speech.latest._expected == 1.5


async def test_markdown_is_not_read_aloud_and_found_in_the_editor(make_app, studio):
    engine = parted(studio)
    text = "# One\n\nIt begins here.\n\n# Two\n\nIt goes on. It ends."
    studio.loudspeakers.speed = 0
    app = make_app(text=text, cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.latest and app.main.speech.latest.ended.is_set())
        assert not any("#" in text for text in texts(engine))
        studio.players[0].position = 0.3
        app.main.speech.tick()
        assert app.main.editor.area.heard is not None
        await pilot.press("escape")
        screen = await opened(app, pilot)
        assert app.desk.is_made(screen.reading) and len(app.desk.queue) == 1
        await pilot.press("t")
        assert app.main.editor.text == text


async def test_a_part_of_it_and_short_texts_stay_as_they_are(make_app, studio, monkeypatch):
    engine = parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("f10")
        await until(pilot, lambda: not app.jobs.running)
        assert engine.batches == [] and len(engine.calls) == 1
        monkeypatch.setattr(live_reading, "LONG", 60.0)
        await spoken(app, pilot)
        assert engine.batches == [] and len(engine.calls) == 2 and not app.main.bar.has_class("-heard")


async def test_the_history_says_it_again_as_it_was(make_app, studio):
    engine = parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await spoken(app, pilot)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: not app.jobs.running)
        before = len(engine.calls)
        await pilot.press("s")
        await until(pilot, lambda: app.screen is app.main and not app.jobs.running and len(studio.players) == 2)
        assert len(engine.calls) == before  # the parts are there


async def test_what_is_made_is_heard_to_its_end_where_the_model_fails(make_app, studio):
    say, studio.loudspeakers.speed = parted(studio).stream, 0

    def stream(text, **how):
        for number, chunk in enumerate(say(text, **how)):
            if number == 5 and "second" in text:
                raise GenerationError("the fake model failed")
            yield chunk

    studio.engine.stream = stream
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "the fake model failed" in state(app))
        [player] = studio.players
        assert player.finished and app.main.speech.audible is not None  # it sounds still, and can be silenced
        await until(pilot, lambda: [entry.finish_reason for entry in app.history.entries()] == ["cancelled"])
        await pilot.press("escape")
        await until(pilot, lambda: player.stopped and not app.jobs.running)
        assert state(app) == "stopped" and not notices(app)  # it was told already


async def test_a_part_without_sound_is_told_and_the_others_are_heard(make_app, studio):
    engine, say = parted(studio), studio.engine.stream
    engine.stream = lambda text, **how: (
        replace(chunk, samples=chunk.samples[:0], codes=chunk.codes[:, :0]) if "second" in text else chunk
        for chunk in say(text, **how)
    )
    studio.loudspeakers.speed = 0
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "part 2 has no sound" in state(app))
        await until(pilot, lambda: studio.players[0].finished)
        assert app.main.speech.audible is not None  # it sounds still
        assert abs(studio.players[0].queued - (2 * PART + PAUSE) / RATE) < 1e-6
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)


@pytest.mark.parametrize("where", ["the text", "its parts"])
async def test_what_cannot_be_kept_is_heard_all_the_same(make_app, studio, monkeypatch, where):
    parted(studio)
    full = OSError(28, "No space left on device")

    def add(reading):
        raise full

    app = make_app(text=TEXT, cast=("anna",))
    if where == "the text":
        monkeypatch.setattr(app.desk.readings, "add", add)
    else:
        studio.write_error = full
    async with running(app) as pilot:
        await spoken(app, pilot)
        [player] = studio.players
        assert player.finished and player.queued * RATE >= PART
        assert any("disk is full" in one.message and "heard all the same" in one.message for one in notices(app))
        if where == "its parts":
            assert abs(player.queued - (3 * PART + 2 * PAUSE) / RATE) < 1e-6
            studio.write_error = None
            await spoken(app, pilot)  # now they are kept
            assert app.desk.is_made(app.desk.queue[0])


async def test_the_one_that_takes_it_over_is_not_let_go_by_the_one_before(make_app, studio):
    engine = parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        first, second = (SimpleNamespace(cancel=Event(), join=lambda seconds: None) for _ in range(2))
        before = app.desk.take_over(screen.reading, first)
        now = app.desk.take_over(screen.reading, second)
        assert first.cancel.is_set() and not second.cancel.is_set()
        app.desk.let_go(screen.reading, before)
        assert app.desk.maker_of(screen.reading) is now
        app.desk.let_go(screen.reading, now)
        assert not app.desk.is_making(screen.reading) and not engine.calls


async def test_a_text_that_was_removed_does_not_come_back_by_late_news(make_app, studio):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await spoken(app, pilot)
        utterance = app.main.speech.latest
        app.desk.remove(utterance.reading, lambda: None)
        await until(pilot, lambda: not app.desk.queue)
        app.main.speech.reading.moved(utterance)
        assert app.desk.queue == []


async def test_one_that_is_all_there_is_heard_where_nothing_can_be_written(make_app, studio, monkeypatch):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await spoken(app, pilot)

        def refuse(reading):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(app.desk.readings, "lock", refuse)
        await spoken(app, pilot)
        assert len(studio.players) == 2 and not notices(app)


async def test_a_failure_keeps_the_parts(make_app, studio):
    engine = parted(studio)
    engine.fail_at = 0
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await spoken(app, pilot)
        assert "the fake model failed" in state(app)
        engine.fail_at = None
        await spoken(app, pilot)
        assert len(app.desk.queue) == 1 and app.desk.is_made(app.desk.queue[0])
