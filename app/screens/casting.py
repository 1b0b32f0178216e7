"""Which voices a text needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tags

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
