"""Each screen in a state worth looking at, the same every time: for the snapshots and for the README's pictures."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from s2mlx_app.app import S2App
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.review import Stage
from s2mlx_app.screens.speech_control import FIGURES
from s2mlx_app.state.history import HistoryEntry
from s2mlx_app.state.take_file import UnsavedTake
from textual.widgets import Input, TextArea

from ..fakes.synthesizer import in_halves
from .fakes import FakeStudio, a_voice, hum

TEXT = """\
The harbour was quiet before dawn. [whisper] Nobody had heard the boat come in.

<|speaker:1|>Would you believe it? [laughing] It was full of oranges.
"""


def make_app(folder: Path, theme: str = "s2-dark") -> S2App:
    studio = FakeStudio(folder)
    studio.loudspeakers.speed = 0
    for name, frames in (("anna", 177), ("ben", 240), ("café", 133)):
        studio.library.add(name, a_voice(name, frames), clip=(speech(frames / 21.5, len(name) + frames), 44100))
    studio.engine.frames, studio.engine.passes = 60, in_halves
    return S2App(
        studio,
        folder / "config",
        folder / "state",
        text=TEXT,
        countdown=0.0,
        theme=theme,
        cast=("anna", "ben"),
        languages={"anna": "en", "ben": "de", "café": "fr"},
    )


def speech(seconds: float, seed: int):
    """Louder and quieter syllables."""
    import numpy as np

    sound = hum(seconds, 0.5)
    steps = np.random.default_rng(seed).uniform(0.15, 1.0, int(seconds * 4) + 2)
    return sound * np.interp(np.arange(len(sound)), np.arange(len(steps)) * 11025, steps).astype(np.float32)


async def settle(pilot) -> None:
    """Until nothing is under way and the picture stands still: on a busy machine an app that waits for its turn looks
    idle to `pilot.pause`, so pictures are taken until two are the same."""
    import asyncio

    await pilot.pause()
    while pilot.app.jobs.running or pilot.app.loader.loading:
        await asyncio.sleep(0.01)
    for kind in (Input, TextArea):
        for widget in pilot.app.screen.query(kind):
            widget.cursor_blink = False
            # a text area keeps the lines that it drew while its cursor was out: with them the next picture had none
            widget.notify_style_update()
            widget.refresh()
    before = None
    for _ in range(100):
        await pilot.pause()
        await pilot.pause()
        pictures = [[list(line) for line in screen._compositor.render_strips()] for screen in pilot.app.screen_stack]
        if pictures == before and not pilot.app.jobs.running:
            return
        before = pictures
    raise AssertionError("the picture never stands still")


async def main(pilot) -> None:
    """While the second half of an utterance is heard."""
    import asyncio

    app = pilot.app
    await settle(pilot)
    with mock.patch("time.strftime", lambda *_: "2026-03-09T20:15:00"):  # which the history beside the text shows
        await pilot.press("ctrl+s")
        while not (app.main.speech.audio and app.main.speech.audio.stats.frames == 120):
            await asyncio.sleep(0.01)
    await pilot.pause()
    app.studio.players[0].position = 3.3
    app.main.speech.ticking.pause()
    for _ in range(FIGURES):  # one of which brings the figures up to date
        app.main.speech.tick()
    await pilot.pause()


async def record(pilot) -> None:
    """A take in the hand."""
    await settle(pilot)
    pilot.app.push_screen(
        RecordScreen(recovered=[UnsavedTake(speech(9.4, 3), 44100, "The harbour was quiet before dawn.", "me")])
    )
    await settle(pilot)
    assert pilot.app.screen.stage == Stage.REVIEW


async def history(pilot) -> None:
    await settle(pilot)
    spoken = (TEXT, ("anna", "ben")), ("[excited] Three dusty chairs!", ()), ("Good night.", ("café",))
    for number, (text, voices) in reversed(list(enumerate(spoken))):
        pilot.app.history.add(
            HistoryEntry(
                text,
                voices,
                1234 + number,
                {"temperature": 0.7} if number else {},
                None,
                "Fake S2",
                when=f"2026-03-0{9 - number}T20:15:00",
                seconds=5.6 - number,
                frames=120 - 21 * number,
                rtf=0.62,
                first_audio=0.31,
                id=f"scene{number}",
            ),
            hum(1),
            44100,
        )
    await pilot.press("ctrl+t")
    await settle(pilot)


async def settings(pilot) -> None:
    await settle(pilot)
    await pilot.press("ctrl+g")
    await settle(pilot)


async def help(pilot) -> None:
    await settle(pilot)
    await pilot.press("f1")
    await settle(pilot)


SCENES = {"main": main, "record": record, "history": history, "settings": settings, "help": help}
