"""A switch: each sentence is spoken as soon as it is finished, typed by the user or written by another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from ..engine.outside_text import OutsideText
from ..jobs import deliver
from ..speaking.growing_utterance import GrowingUtterance
from ..speaking.spoken_audio import Script
from ..speaking.unspoken_text import UnspokenText
from .casting import cast_for

if TYPE_CHECKING:
    from .main import MainScreen

REST = 0.6  # seconds without a change after which a mark ends a sentence, though no word follows
LOOK = 0.1  # seconds between looks at whether more text may come
MOST_AHEAD = 20_000  # characters, 20 minutes, that other programs may be ahead of the voice
LARGEST_TEXT = 1_000_000  # characters, in the editor, from other programs
LONGEST = 600.0  # seconds of an utterance: then another begins, so that memory and history hold whole ones


class AsIType:
    """A part of the main screen. `arriving`: text that another program writes; it comes in once the screen is there,
    and is spoken."""

    def __init__(self, screen: MainScreen):
        self._screen = screen
        self.on = False
        self.arriving: OutsideText | None = None
        self._text = UnspokenText(lambda text: screen.app.studio.sentences(text))
        self._utterance: GrowingUtterance | None = None
        self._beginning = False  # an utterance, whose text is about to be sent
        self._rested = False  # nobody has typed for a while
        self._ended = False  # the other program has; what waits is spoken to its end, as soon as it can be
        self._timer: Timer | None = None
        self._seed: int | None = None  # of the model's own voice, which is to stay the same one
        self._told = False  # that what was sent stays as it is

    # what the user asks for

    def switch(self) -> None:
        if self.on:
            self.end()
            self._screen.say("what you type is not spoken any more: F12 switches that on again")
            return
        if not self.arriving:
            self._text.begin(self._screen.editor.text)
        self._switched(True)
        self._seed, self._told = None, False
        self._screen.say("each sentence is spoken when it is finished: F12 or esc ends that")
        self._changed()

    def end(self) -> bool:
        """Off; what was sent is spoken to its end. True if it was on."""
        was = self.on
        self._switched(False)
        self._close()
        return was

    def passed_over(self) -> None:
        """All that is there is spoken in another way."""
        if self.on:
            self._text.begin(self._screen.editor.text)
            self._text.send(self._text.waiting)

    # what happens

    def mounted(self) -> None:
        if self.arriving:
            self._text.begin(self._screen.editor.text)
            self._switched(True)
            self._screen.set_interval(LOOK, self._take)
            self.arriving.start()

    def text_changed(self) -> None:
        if not self.on and not self.arriving:
            return
        text = self._screen.editor.text
        if text == self._text.text:
            return
        if self._text.change(text) and self.on and not self._told:
            self._told = True
            self._screen.say("what was spoken already is not spoken again: ^s speaks the whole text")
        self._changed()

    def settle(self) -> None:
        """Sound has begun or ended, the model has come, another screen has gone."""
        if self._utterance and self._screen.speech.audible is not self._utterance:
            self._close()
            if seed := self._utterance.seed:
                self._seed = seed
            self._utterance = None
        if not self._beginning:
            self._send()

    def _changed(self) -> None:
        self._rested = self._ended = False
        if self._timer:
            self._timer.stop()
        self._timer = self._screen.set_timer(REST, self._has_rested)
        self._send()

    def _has_rested(self) -> None:
        self._rested = True
        self._send()

    def _switched(self, on: bool) -> None:
        self.on = on
        self._screen.editor.border_subtitle = "speaks as you type" if on else ""
        self._screen.refresh_bindings()

    # other programs

    def _take(self) -> None:
        """As long as the voice keeps up, more may come."""
        assert self.arriving is not None
        ahead = len(self._text.waiting) + (self._utterance.ahead if self._utterance else 0)
        if ahead > MOST_AHEAD or not (came := self.arriving.take()):
            return
        screen = self._screen
        if came.error:
            screen.app.complain(came.error)
        if came.text and len(screen.editor.text) + len(came.text) > LARGEST_TEXT:
            self.arriving.stop()
            screen.say("the text has become too long for the editor: no more of it is read", "failed")
        elif came.text:
            screen.editor.append(came.text)
            self.text_changed()
        if came.ended:
            self._ended = True
            self._send()

    # sentences

    def _send(self) -> None:
        """What is finished goes to be spoken, if it can be."""
        screen = self._screen
        engine = screen.app.loader.engine
        if not self.on or engine is None or screen.app.screen is not screen:
            return
        words = self._text.waiting if self._ended else self._text.finished(self._rested)
        if not words.strip():
            return
        from s2mlx.text import has_words, notes
        from s2mlx.worker import Closed

        if not has_words(words):
            return
        names = cast_for(screen, words)
        if names is None:
            return
        current = self._utterance
        if current is None:
            if screen.speech.audible:
                return  # it is heard out; `settle` comes then
            current = self._begin(names)
        if names != current.script.names[: len(names)] or not names and current.script.names:
            self._close()  # another voice; the next begins when this one was heard
        if not current.takes_more or current.full:
            return
        screen.requests.tell(notes(words, engine.config))
        try:
            current.write(words, now=self._rested or self._ended)
        except Closed:
            return
        self._text.send(words)
        if current.seconds > LONGEST:
            self._close()

    def _begin(self, names: tuple[str, ...]) -> GrowingUtterance:
        screen, app = self._screen, self._screen.app
        engine, options = app.loader.engine, app.settings.options()
        assert engine is not None
        if names:
            options = app.voices.notes.of(names[0]).applied(options)
        elif options.seed is None and self._seed is not None:
            options = options.replace(seed=self._seed)
        cast = names + tuple(name for name in app.settings.cast[len(names) :] if name and names)
        utterance = GrowingUtterance(
            app.studio,
            engine,
            Script("", cast, options),
            app.voices.load,
            lambda: app.open_output(engine.sample_rate),
            lambda message: deliver(screen, message),
        )
        utterance.place = self._text.find
        self._text.begin_speech()
        self._utterance, self._beginning = utterance, True
        screen.speech.speak_as_it_grows(utterance)
        self._beginning = False
        return utterance

    def _close(self) -> None:
        if self._utterance:
            self._utterance.finish()
