"""What the main screen is asked to speak: the text, a part, a sentence again; until the model is there it waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..speaking.spoken_audio import Script, Within
from ..speaking.text_parts import from_place, paragraph, with_speaker
from .casting import script_of

if TYPE_CHECKING:
    from .main import MainScreen


class SpeechRequests:
    """A part of the main screen. What waits for the model is the latest request: of the whole text as it stands then,
    of a part as it stood when it was asked for."""

    def __init__(self, screen: MainScreen):
        self._screen = screen
        self._waiting: Callable[[], None] | None = None
        self._noted: set[str] = set()  # what was said already of texts that the model cannot speak

    # what the user asks for

    def text(self) -> None:
        """All of it."""
        if script := script_of(self._screen, self._screen.editor.text):
            self._speak(script, self.text)

    def part(self, which: str) -> None:
        """What is selected. Without that, which: `on`, from the sentence at the cursor to the end; `paragraph`, the one
        there."""
        editor = self._screen.editor
        text, span = editor.text, editor.selected
        if not text[slice(*span)].strip():
            if which == "paragraph":
                span = paragraph(text, editor.place)
            else:
                span = from_place(text, editor.place, self._screen.app.studio.sentences(text))
        words, at = with_speaker(text, span)
        self._words(words, Within(text, at))

    def again(self) -> None:
        """The sentence at the cursor with words that were not heard."""
        words = self._screen.speech.misheard.say_again()
        if words is not None:
            self._words(words, again=True)

    def script(self, script: Script) -> None:
        """As it was spoken before."""
        self._speak(script, lambda: self.script(script), known=True)

    # how it goes

    @property
    def waits(self) -> bool:
        """Something is spoken as soon as the model is there."""
        return self._waiting is not None

    def forget(self) -> None:
        """What waits is not wanted any more."""
        self._waiting = None

    def model_came(self) -> None:
        """What has waited for it is spoken."""
        waiting, self._waiting = self._waiting, None
        if waiting:
            waiting()

    def tell(self, notes: list[str]) -> None:
        """What there is to be said of a text before it is spoken."""
        for note in notes:
            if note not in self._noted:  # once: the next try is meant
                self._noted.add(note)
                self._screen.app.notify(note, title="About this text", severity="warning", timeout=12)

    def _words(self, words: str, within: Within | None = None, again: bool = False) -> None:
        if script := script_of(self._screen, words, within):
            self._speak(script, lambda: self._words(words, within, again), again)

    def _speak(self, script: Script, later: Callable[[], None], again: bool = False, known: bool = False) -> None:
        """Now, or `later` where the model is not there yet. again: a part of what was spoken; known: as it was spoken
        before."""
        from s2mlx.text import has_words, notes

        screen, text, loader = self._screen, script.text, self._screen.app.loader
        if not has_words(text):
            screen.say("there is no word to say in this text" if text.strip() else "nothing to say yet: type some text")
            screen.editor.area.focus()
            return
        if loader.engine is None:
            self._waiting = later
            if not loader.loading:
                loader.load(screen.app.settings)
            screen.engine_changed()
            return
        self._waiting = None
        self.tell(notes(text, loader.engine.config))
        if not again:
            screen.typing.passed_over()
        screen.speech.speak(loader.engine, script, again, known)
