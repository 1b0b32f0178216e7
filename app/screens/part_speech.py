"""A part of the text is spoken alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..speaking.spoken_audio import Within
from ..speaking.text_parts import from_place, paragraph, with_speaker
from .casting import script_of

if TYPE_CHECKING:
    from .main import MainScreen


def speak_part(screen: MainScreen, which: str) -> None:
    """which: `on`, what is selected, or from the sentence at the cursor to the end; `paragraph`, the one there."""
    editor = screen.editor
    text, span = editor.text, editor.selected
    if which == "paragraph":
        span = paragraph(text, editor.place)
    elif not text[slice(*span)].strip():
        span = from_place(text, editor.place, screen.app.studio.sentences(text))
    words, at = with_speaker(text, span)
    script = script_of(screen, words, Within(text, at))
    if script:
        screen.speak(script)
