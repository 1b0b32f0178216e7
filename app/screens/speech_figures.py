"""The figures of the main screen: of the sound there is, of the model, of the device."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..speaking.spoken_audio import SpokenAudio
from ..widgets.status_line import Figures

if TYPE_CHECKING:
    from ..app import S2App


def figures_of(
    app: S2App, audio: SpokenAudio | None, complete: bool, lead: float | None, gaps: int, device: str | None
) -> Figures:
    """`complete`: no more of `audio` comes. `lead`: seconds that wait to be heard, None where nothing is."""
    engine, stats = app.loader.engine, audio.stats if audio else None
    memory = max(stats.peak_memory if stats else 0, engine.memory if engine else 0) or None
    place = Figures(
        lead=lead,
        underruns=gaps,
        memory=memory,
        model=engine.name if engine else "",
        device=device or app.settings.output or "default output",
    )
    if audio is None or stats is None or not stats.frames:
        return place
    return replace(
        place,
        first_audio=stats.first_audio,
        rtf=audio.factor if complete else audio.pace,
        steady=audio.pace is not None,
        frames=stats.frames,
    )
