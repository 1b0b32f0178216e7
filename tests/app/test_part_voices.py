"""A text without a cast is in one voice, whichever part came first, and whatever was lost on the way."""

import shutil

from s2mlx.text.splitting import split_turns

from .conftest import running, until
from .test_parts import TEXT, label, made, opened, parted


def transcripts(call):
    return call.voice and [voice.transcript for voice in call.voice]


async def test_whichever_part_comes_first_lends_its_voice(make_app, studio):
    engine = parted(studio)
    app = make_app(text=TEXT, seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("down", "n")
        await until(pilot, lambda: "is in the whole" in label(app, "#said"))
        await pilot.press("m")
        await until(pilot, lambda: app.desk.is_made(screen.reading))
        assert [transcripts(call) for call in engine.calls] == [None] + [["The second is here."]] * 2


async def lost(make_app, studio, spoil):
    """The voice as it is asked for after `spoil(file)`."""
    app = make_app(text=TEXT, seed=100)
    async with running(app) as pilot:
        screen = await made(app, pilot)
        readings = app.desk.readings
        spoil(readings.of(screen.reading) / "voice-0.s2voice")
        await pilot.press("n")
        await until(pilot, lambda: "is in the whole" in label(app, "#said"))
        assert readings.voice(screen.reading).transcript == "The first one."
        return studio.engine.calls[-1], readings.complaints


async def test_a_voice_that_is_gone_is_taken_from_what_was_made(make_app, studio):
    parted(studio)
    call, _ = await lost(make_app, studio, lambda path: path.unlink())
    assert transcripts(call) == ["The first one."] and studio.engine.cloned[0].words == "The first one."


async def test_so_is_a_damaged_one(make_app, studio):
    parted(studio)
    call, _ = await lost(make_app, studio, lambda path: path.write_bytes(b"no voice"))
    assert transcripts(call) == ["The first one."]


async def test_the_voice_is_there_before_the_part(make_app, studio, tmp_path, monkeypatch):
    engine = parted(studio)
    app = make_app(text=TEXT, seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        readings, keep = app.desk.readings, app.desk.readings.keep
        seen = []

        def watched(*args):
            seen.append(readings.voice(screen.reading) is not None)
            return keep(*args)

        monkeypatch.setattr(readings, "keep", watched)
        await pilot.press("m")
        await until(pilot, lambda: app.desk.is_made(screen.reading))
        assert seen == [True] * 3 and engine.calls[0].voice is None
        shutil.rmtree(readings.of(screen.reading))


async def test_each_speaker_of_a_dialogue_lends_one(make_app, studio):
    engine = parted(studio)
    engine.plan = lambda text: split_turns(text) or [None]
    app = make_app(text="<|speaker:0|>Here I am. <|speaker:1|>So am I. <|speaker:0|>Good.", seed=100)
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        spans = screen.reading.parts
        assert [span.speaker for span in spans] == [0, 1, 0]
        await pilot.press("m")
        await until(pilot, lambda: app.desk.is_made(screen.reading))
        await pilot.press("n")
        await until(pilot, lambda: "is in the whole" in label(app, "#said"))
        assert [words.strip() for words in transcripts(engine.calls[-1])] == ["Here I am.", "So am I."]
