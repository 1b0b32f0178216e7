"""The screens of the studio in a state worth looking at, as `scenes` has those of the first hour."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

from s2mlx_app.screens.form import Question
from s2mlx_app.screens.parts import PartsScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.review import Stage
from s2mlx_app.state.take_file import UnsavedTake
from s2mlx_app.state.voice_notes import VoiceNote

from ..fakes.synthesizer import by_sentence
from . import scenes
from .scenes import settle, speech

WORDS = "The harbour was quiet before dawn."


async def takes(pilot) -> None:
    """Three takes, one of them too quiet; the second is the best, and seen from closer."""
    await settle(pilot)
    studio = pilot.app.studio
    quiet = SimpleNamespace(ok=False, usable=True, problems=("too quiet (-41 dB): move closer",))
    good = SimpleNamespace(ok=True, usable=True, problems=())
    studio.judge_take = lambda samples, rate: quiet if abs(samples).max() < 0.1 else good
    sounds = speech(9.4, 3), speech(8.1, 5), speech(7.2, 7) * 0.1
    recovered = [UnsavedTake(sound, 44100, WORDS, "me") for sound in sounds]
    recovered[1] = replace(recovered[1], best=True)
    pilot.app.push_screen(RecordScreen(recovered=recovered))
    await settle(pilot)
    assert pilot.app.screen.stage == Stage.REVIEW
    await pilot.press("+", "right", "right")
    await settle(pilot)


async def tags(pilot) -> None:
    await settle(pilot)
    await pilot.press("f4")
    await settle(pilot)


async def card(pilot) -> None:
    """The card of a voice that has notes."""
    await settle(pilot)
    pilot.app.voices.notes.change("anna", VoiceNote("close, warm; for stories", rate=0.95, seed=7))
    pilot.app.main.voice_list.focus()
    pilot.app.main.voice_list.highlight("anna")
    await pilot.press("n")
    await settle(pilot)


async def filtered(pilot) -> None:
    """The history, searched."""
    await scenes.history(pilot)
    await pilot.press("slash", *"oranges")
    await settle(pilot)


async def models(pilot) -> None:
    """One of them is being fetched."""
    await settle(pilot)
    await pilot.press("f8")
    await settle(pilot)
    pilot.app.studio.fetch_gate.close()
    pilot.app.studio.fetch_gate.let(4)
    await pilot.press("down", "down", "enter")
    while "4 B of" not in str(pilot.app.screen.query_one("#said").content):
        await asyncio.sleep(0.01)
    pilot.app.screen.query_one("#fetching").query_one("ETAStatus").display = False  # which counts on
    await pilot.pause()


async def compared(pilot) -> None:
    """Two voices, the second one in the hand."""
    await settle(pilot)
    pilot.app.main.editor.put("The harbour was quiet before dawn.")
    pilot.app.main.voice_list.highlight("ben")
    await pilot.press("f3")
    while not all(pilot.app.screen.made):
        await asyncio.sleep(0.01)
    await pilot.press("x")
    await asyncio.sleep(0.05)
    listening = pilot.app.screen.listening
    while not pilot.app.studio.players or not listening.replay or not listening.replay.output:
        await asyncio.sleep(0.01)
    pilot.app.studio.players[-1].position = 1.2
    pilot.app.screen.listening.tick()
    pilot.app.screen.listening.ticking.pause()
    await pilot.pause()


async def versions(pilot) -> None:
    """Three of four versions are made; the second is the best, and heard."""
    await settle(pilot)
    app = pilot.app
    app.main.editor.put("The harbour was quiet before dawn.")
    app.change(seed=1234)
    app.studio.engine.hold(90)  # chunks: three versions of thirty
    await pilot.press("ctrl+n")
    while not (hasattr(app.screen, "made") and len(app.screen.made) == 3):
        await asyncio.sleep(0.01)
    await pilot.press("down", "b")
    while not app.screen.listening.replay or not app.screen.listening.replay.output or len(app.studio.players) < 2:
        await asyncio.sleep(0.01)
    app.studio.players[-1].position = 1.2
    app.screen.listening.tick()
    app.screen.listening.ticking.pause()
    app.screen.say("making version 4, seed 1237  (esc stops)")
    await pilot.pause()


async def palette(pilot) -> None:
    """Actions by name, found by typing."""
    await settle(pilot)
    await pilot.press("ctrl+p")
    await settle(pilot)
    await pilot.press(*"voice")
    await pilot.app.workers.wait_for_complete()
    await settle(pilot)


BOOK = """\
# The harbour

The harbour was quiet before dawn. Nobody had heard the boat come in, and nobody would have believed what it carried.

# The oranges

It was full of oranges. They rolled over the quay and into the water, where gulls looked at them. Then the bells rang.
"""


async def _with_book(pilot):
    """-> the app, with a text of several parts."""
    await settle(pilot)
    app = pilot.app
    app.main.editor.put(BOOK)
    app.change(seed=1234, cast=("anna",))
    app.studio.engine.passes = by_sentence
    return app


async def parts(pilot) -> None:
    """Three of five parts are made; the second was said again, and is heard."""
    app = await _with_book(pilot)
    await pilot.press("f6")
    while not (isinstance(app.screen, PartsScreen) and app.screen.reading.id in app.desk.sounds):
        await asyncio.sleep(0.01)
    for number in (0, 2, 1, 1):
        app.screen.table.take(number)
        before = len(app.studio.players)
        await pilot.press("s")
        while len(app.studio.players) == before or not app.screen.listening.replay:
            await asyncio.sleep(0.01)
    while not app.screen.listening.replay.output:
        await asyncio.sleep(0.01)
    app.studio.players[-1].position = 1.2
    app.screen.listening.tick()
    app.screen.listening.ticking.pause()
    await pilot.pause()
    await pilot.pause()


async def queue(pilot) -> None:
    """One is done, one failed, one waits."""
    app = await _with_book(pilot)
    engine = app.studio.engine
    await pilot.press("f7")
    await settle(pilot)
    for text in (BOOK, "The second one. It is short.", "The third one. It waits. So it is.", "The last one waits too."):
        app.main.editor.put(text)
        engine.fail_at = 36 if text.startswith("The third") else None
        if text.startswith("The last"):
            engine.hold()
        await pilot.press("a")
        if not text.startswith("The last"):
            await settle(pilot)
    while app.desk.current is None:
        await asyncio.sleep(0.01)
    app.desk.stop(app.desk.current)
    await settle(pilot)
    app.screen.say("m makes what waits")
    await pilot.pause()


async def question(pilot) -> None:
    """A recording was left behind."""
    await settle(pilot)
    pilot.app.push_screen(
        Question(
            "A recording of 7.9 s was not made a voice yet.",
            [("look", "Look at it"), ("later", "Not now"), ("drop", "Delete it")],
        )
    )
    await settle(pilot)


async def swept(pilot) -> None:
    """What of the history may go."""
    await scenes.history(pilot)
    await pilot.press("slash", *"oranges", "enter", "x")
    await settle(pilot)


async def clip(pilot) -> None:
    """A voice from a file; what is wrong is said below."""
    await settle(pilot)
    pilot.app.main.voices.forms.add_clip("clips/harbour.wav")
    await settle(pilot)
    await pilot.press("ctrl+s")
    await settle(pilot)


async def recording(pilot) -> None:
    """The first seconds of a take."""
    await settle(pilot)
    app = pilot.app
    screen = RecordScreen(countdown=0.0)
    app.push_screen(screen)
    await settle(pilot)
    await pilot.press("space")
    for _ in range(500):
        for microphone in app.studio.recorders:
            microphone.hear(0.5 if screen.stage != Stage.RECORDING else 0.0)
        if screen.stage == Stage.RECORDING:
            break
        await asyncio.sleep(0.01)
    assert screen.stage == Stage.RECORDING
    screen._ticking.pause()
    screen.trimmer.clear(1000)
    screen.trimmer.extend(speech(3.2, 3)[:: 44100 // 1000])
    screen.meter.reset()
    screen.meter.show(-14.0, -22.0)
    screen.cue("● recording 0:03   0:26 left   2 s more at least")
    await pilot.pause()


async def failed(pilot) -> None:
    """A message that takes more than its two rows."""
    await settle(pilot)
    pilot.app.main.say(
        "the language model somebody/a-model-with-a-long-name is not on this machine: get it with `s2mlx download "
        "somebody/a-model-with-a-long-name`, or name another with --lm (looked in /home/anna/.cache/huggingface/hub)",
        "failed",
    )
    await settle(pilot)


SCENES = {
    "question": question,
    "swept": swept,
    "clip": clip,
    "recording": recording,
    "failed": failed,
    "queue": queue,
    "palette": palette,
    "parts": parts,
    "versions": versions,
    "compared": compared,
    "models": models,
    "takes": takes,
    "tags": tags,
    "card": card,
    "filtered": filtered,
}
