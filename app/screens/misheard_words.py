"""Words of the text that a check did not hear: marked while it is spoken, said again when the user asks for it."""

from __future__ import annotations

from s2mlx.results import AudioChunk

from ..speaking.growing_utterance import GrowingUtterance
from ..speaking.live_utterance import LiveUtterance
from ..speaking.misheard import Misheard
from ..widgets.editor import Editor
from .activity import Situation
from .base import AppScreen


class MisheardWords:
    """A part of the speech: marks words in `editor`."""

    def __init__(self, screen: AppScreen, editor: Editor, situation: Situation):
        self._screen, self._editor, self._situation = screen, editor, situation
        self._misheard = Misheard("", lambda text: screen.app.studio.sentences(text))

    def begin(self, text: str) -> None:
        """All of `text` is spoken anew: nothing of it was heard."""
        self._misheard = Misheard(text, self._screen.app.studio.sentences)
        self._editor.mark_misheard("", [])

    def heard(self, utterance: LiveUtterance, chunk: AudioChunk) -> None:
        """More sound has come, maybe with what was heard of it."""
        if chunk.heard and self._misses(utterance, chunk):
            self._mark()
            self._situation.say("words marked in the text were not heard: F9 says their sentence again")

    def say_again(self) -> str | None:
        """What to speak to have the sentence with misheard words at the cursor, or the next, again; its marks go."""
        sentence = self._misheard.sentence(self._editor.place)
        if sentence is None:
            known = (
                "every word was heard"
                if self._misheard.checked
                else "nothing was checked: switch on “hear each pass” in the settings, ^g"
            )
            self._situation.say(known)
            return None
        words = self._misheard.take(sentence)
        self._mark()
        return words

    def _mark(self) -> None:
        self._editor.mark_misheard(self._misheard.text, self._misheard.words)

    def _misses(self, utterance: LiveUtterance, chunk: AudioChunk) -> bool:
        """Whether there are more words to mark."""
        if isinstance(utterance, GrowingUtterance) and utterance.place:
            text, heard = self._editor.text, Misheard(utterance.text)
            heard.add(chunk)
            return self._misheard.join(text, heard, utterance.place)
        return utterance.script.text == self._misheard.text and self._misheard.add(chunk)
