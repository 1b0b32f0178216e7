"""Questions and answers that are spoken while they are written: a language model on the thread of the voice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..speech_input import SpeechInput
from ..synthesizer import Synthesizer
from ..text import MarkdownReader
from ..worker import Aside, Closed, KeepGoing
from .model import LanguageModel, Message, Written
from .turns import Turns

_SPOKEN = "Your answer is read aloud as you write it: write as one speaks, in sentences, without lists, tables, emoji."
_TAGS = "Before a word you may put a stage direction such as [laughing] or [whispering], where it helps."


class Answer(NamedTuple):
    """One answer while it is being written.

    written: its pieces as the model writes them, Markdown, thoughts and all, to be shown. heard(end): to be called for
    each chunk of speech with the end of its span, so that the writer knows what is still to be said.
    """

    written: Iterator[Written]
    heard: Callable[[int], None]


class Chat:
    """A conversation with the model in folder `path`, which is loaded onto the thread of `voice`.

    system: what the model is told first; None is that it speaks. temperature, max_tokens: of the language model, each
    answer. Raises `ModelError`.
    """

    def __init__(
        self,
        voice: Synthesizer,
        path: Path,
        system: str | None = None,
        *,
        temperature: float = 0.7,
        max_tokens: int = 1024,
        seed: int | None = None,
    ):
        self._voice, self._temperature, self._max_tokens, self._seed = voice, temperature, max_tokens, seed
        if system is None:
            system = f"{_SPOKEN} {_TAGS}" if voice.config.tags else _SPOKEN
        self._messages: list[Message] = [{"role": "system", "content": system}] if system else []
        [self._model] = voice.beside(lambda keep_going: iter([LanguageModel(path)]))

    def ask(
        self,
        question: str,
        spoken: SpeechInput,
        *,
        lead: Callable[[], float] | None = None,
        rate: float = 1.0,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Have the question answered into `spoken`, which `Synthesizer.stream` speaks (see `PATIENCE` of `turns`), and
        which gets the model's errors. What was asked and answered is kept as the conversation, also of an answer that
        was cancelled. lead: seconds of sound the listener still has; None where nobody listens. rate: of the speech."""
        self._messages.append({"role": "user", "content": question})
        turns = Turns(lead, rate)
        work = lambda keep_going: self._answer(spoken, turns, keep_going)
        return Answer(self._voice.beside(work, cancel), turns.spoke)

    def _answer(self, spoken: SpeechInput, turns: Turns, keep_going: KeepGoing) -> Iterator[Written | Aside]:
        said: list[str] = []
        try:
            reader = MarkdownReader(self._model.opens_thought(self._messages))
            seed = None if self._seed is None else self._seed + len(self._messages)
            for part in self._model.write(
                self._messages,
                max_tokens=self._max_tokens,
                temperature=self._temperature,
                seed=seed,
                keep_going=keep_going,
            ):
                said.append(part.text)
                while spoken.full and keep_going():
                    yield Aside(_nobody, 0.05)
                self._speak(reader.write(part.text), spoken, turns)
                yield part
                if not turns.goes_on():
                    yield Aside(_nobody, 0.0, turns.gets_a_turn)
            self._speak(reader.close(), spoken, turns)
        except Closed:  # the voice has ended before its text
            pass
        except Exception as fault:
            spoken.close(fault)
            raise
        finally:
            self._messages.append({"role": "assistant", "content": "".join(said)})
            spoken.close()

    def _speak(self, words: str, spoken: SpeechInput, turns: Turns) -> None:
        if words:
            turns.wrote(words)
            spoken.write(words)


def _nobody(wake: Callable[[], None]) -> None:
    """Nobody wakes it: it goes on when there is nothing else to do."""
