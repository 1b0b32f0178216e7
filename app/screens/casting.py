"""Which voices a text needs, and what it is spoken with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tags
from ..speaking.spoken_audio import Script, Within

if TYPE_CHECKING:
    from .main import MainScreen


def cast_for(screen: MainScreen, text: str) -> tuple[str, ...] | None:
    """The voices a text needs. None, and a word about it, when a speaker that is named has or can have no voice."""
    cast = screen.app.settings.cast
    named = tags.speakers(text)
    if named and named[-1] >= tags.SPEAKERS:
        screen.say(f"the text names speaker {named[-1]}: only 0 to {tags.SPEAKERS - 1} can be given a voice")
        return None
    count = max(named, default=0) + 1
    wanted = cast[:count] + (None,) * (count - len(cast))
    if not any(wanted):
        return ()
    names: list[str] = []
    for speaker, name in enumerate(wanted):
        if name is None:
            screen.say(f"speaker {speaker} has no voice: highlight one in the list and press {speaker}")
            screen.voice_list.focus()
            return None
        names.append(name)
    return tuple(names)


def script_of(screen: MainScreen, text: str, within: Within | None = None) -> Script | None:
    """`text` in the voices of the cast, as the settings and the first voice's own want it. None, and a word about it,
    where the cast has a gap. within: what it is a part of."""
    names, app = cast_for(screen, text), screen.app
    if names is None:
        return None
    options = app.settings.options()
    return Script(text, names, app.voices.notes.of(names[0]).applied(options) if names else options, within)
