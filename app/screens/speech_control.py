"""The sound of the main screen: it is made, replayed, paused and silenced here, drawn and counted while it is heard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.timer import Timer

from s2mlx.results import CANCELLED, LENGTH, ended_at_once

from ..engine.protocols import SpeechEngine
from ..jobs import Job, deliver
from ..speaking.audible import Audible, Replay
from ..speaking.growing_utterance import GrowingUtterance
from ..speaking.live_reading import LiveReading, is_long
from ..speaking.live_utterance import LiveUtterance, SpeechFailed, SpeechFrames, SpeechMade, SpeechUnheard
from ..speaking.sentence_follower import SentenceFollower
from ..speaking.spoken_audio import Script, SpokenAudio
from ..widgets.editor import Editor
from ..widgets.progress_line import ProgressLine
from ..widgets.status_line import StatusLine
from ..widgets.waveform import Waveform
from .activity import (
    AwaitingText,
    Idle,
    MadeUnheard,
    MakingUnheard,
    PassNumber,
    Paused,
    Replaying,
    Situation,
    Sounding,
    Speaking,
    Starting,
)
from .base import AppScreen
from .heard_reading import HeardReading
from .misheard_words import MisheardWords
from .sound_saver import SoundToSave
from .speech_figures import figures_of

if TYPE_CHECKING:
    import numpy as np

TICK = 1 / 12  # seconds between looks at the output; each is a picture, and more of them nobody sees
PATIENCE = 1.5  # seconds without sound that nobody wonders about
FIGURES = 3  # ticks between changes of the figures: faster than that nobody reads them


class SpeechControl:
    """Draws on `wave`, marks the sentence being heard in `editor`, counts on `status`, shows how far
    a long text is on `bar`, tells `situation` how it goes.

    The screen hands it the messages of its utterances; `changed()` is called whenever sound begins or ends.
    """

    def __init__(
        self,
        screen: AppScreen,
        wave: Waveform,
        editor: Editor,
        status: StatusLine,
        bar: ProgressLine,
        situation: Situation,
        changed: Callable[[], None],
    ):
        self._screen, self._situation, self._changed = screen, situation, changed
        self._wave, self._editor, self._status = wave, editor, status
        self.audible: Audible | None = None  # what is heard, or about to be
        self.latest: LiveUtterance | None = None  # whose sound this is; its messages still count after that has ended
        self._asked: LiveUtterance | None = (
            None  # the one under way that has no sound yet: what there is stays till then
        )
        self._gaps = 0  # in what was heard last
        self._ticks = 0
        self.misheard = MisheardWords(screen, editor, situation)
        self.reading = HeardReading(screen, bar, editor)
        self._follows = False  # what is heard is the utterance, whose sentences are marked
        self.audio: SpokenAudio | None = None  # of the utterance last spoken, or being spoken
        self._follower: SentenceFollower | None = None
        self._doing: Sounding = Starting()  # what the sound is about, paused or not
        self.ticking: Timer | None = None

    def mounted(self) -> None:
        """The screen is there: its clock may run."""
        self.ticking = self._screen.set_interval(TICK, self.tick, pause=True)

    @property
    def has_audio(self) -> bool:
        return self.audio is not None and bool(self.audio.samples)

    @property
    def is_live(self) -> bool:
        """An utterance is being made or heard for the first time."""
        return isinstance(self.audible, LiveUtterance)

    # what the user asks for

    def speak(self, engine: SpeechEngine, script: Script, again: bool = False, known: bool = False) -> None:
        """again: a part of the text that was spoken, whose other marks stay; its sound is another. A long text is
        spoken in parts that are kept; `known`: if these were begun before."""
        self.silence()
        if again and script.options.seed is not None:
            script = replace(script, options=script.options.replace(seed=script.options.seed + 1))
        if not again:
            self.misheard.begin(script.text)
        app, rate = self._screen.app, engine.sample_rate
        long = not again and script.within is None and is_long(app.studio, script)
        begin: Callable[..., LiveUtterance] = LiveUtterance
        if long:
            begin = partial(LiveReading, app.desk, begun_only=known)
        utterance = begin(
            app.studio,
            engine,
            script,
            app.voices.load,
            lambda: app.open_output(rate),
            lambda message: deliver(self._screen, message),
        )
        self._editor.follow(script.text, script.within)
        self._begin(utterance)

    def speak_as_it_grows(self, utterance: GrowingUtterance) -> None:
        """An utterance whose text is being written, and found in the editor by its `place`."""
        self.silence()
        self._begin(utterance)

    def _begin(self, utterance: LiveUtterance) -> None:
        self._follower = None
        self._asked, self._follows = utterance, True
        self._start(utterance, Starting())

    def replay(self, begin: float = 0.0) -> None:
        """The last utterance again, from `begin` seconds on."""
        if self.audio is None or not self.audio.samples:
            self._situation.say("nothing to replay yet: ^s speaks the text")
        else:
            self.play(self.audio.whole(), self.audio.rate, begin)
            self._editor.follow(self.audio.script.text, self.audio.script.within)
            self._follows = True

    def play(self, samples: np.ndarray, rate: int, begin: float = 0.0, clip_of: str | None = None) -> None:
        """Play samples float32 [n] from `begin` seconds on; `clip_of`: the voice whose clip they are."""
        self.silence()
        self._follows = False
        self._wave.show(samples, rate)
        rest = samples[int(begin * rate) :]
        self._start(Replay(rest, lambda: self._screen.app.open_output(rate), begin), Replaying(clip_of))

    def pause(self) -> None:
        """Hold the sound where it is, or go on; making goes on meanwhile."""
        output = self.audible.output if self.audible else None
        if output is None:
            return
        if output.paused:
            output.resume()
            self._situation.enter(self._doing)
        else:
            output.pause()
            self._situation.enter(Paused())

    def silence(self) -> None:
        """Stop whatever sounds, now."""
        if self.audible:
            self.audible.stop()
            self._ended(self.audible)

    def to_save(self) -> tuple[str, Callable[[Job], SoundToSave]] | None:
        """The last utterance for `SoundSaver.save`: its text, and its sound once it is complete."""
        utterance = self.latest
        if utterance is None or not self.has_audio:
            return None

        def sound(job: Job) -> SoundToSave:
            if not utterance.ended.is_set():
                job.report(None, "the file is written when the speech is complete")
            audio = utterance.complete(job)
            codes = audio.all_codes() if audio.has_codes else None
            return SoundToSave(audio.whole(), audio.rate, codes, audio.finish_reason == CANCELLED)

        return utterance.script.text, sound

    # how it goes

    def _start(self, audible: Audible, doing: Sounding) -> None:
        self.audible, self._doing, self._ticks = audible, doing, 0
        audible.job = self._screen.app.jobs.start(
            "sound",
            audible.run,
            done=lambda result: self._ended(audible),
            failed=lambda error: self._failed(audible, error),
            progressed=lambda share, note: self._situation.enter(Starting(note)) if note else None,
        )
        self.reading.begin(audible)
        self._situation.enter(doing)
        if self.ticking:
            self.ticking.resume()
        self._changed()

    def _failed(self, audible: Audible, error: BaseException) -> None:
        if audible is self.audible:
            self._ended(audible)
            if not (isinstance(audible, LiveUtterance) and audible.trouble is error):
                self._screen.app.complain(error)

    def _ended(self, audible: Audible) -> None:
        if audible is not self.audible:
            return
        self.audible = None
        if self.ticking:
            self.ticking.pause()
        self._wave.complete()
        self._wave.play_at(None)
        self._status.show_time(None, self._wave.envelope.seconds)
        self._editor.mark(None)
        self.reading.look()
        unheard = audible.unheard if isinstance(audible, LiveUtterance) else None
        self._situation.sound_ended(MadeUnheard(self._explain(unheard)) if unheard else Idle())
        self.show_figures()
        self._changed()

    def tick(self) -> None:
        """Look at the output and draw what is heard now."""
        audible = self.audible
        if audible is None or audible.output is None or audible is self._asked:
            return
        self._ticks += 1
        if isinstance(audible, LiveUtterance) and audible.unheard:  # the wave grows, and nobody is anywhere in it
            self._wave.play_at(None)
            self._status.show_time(None, self._wave.envelope.seconds)
            self._editor.mark(None)
            if self._ticks % FIGURES == 1:
                self.show_figures()
            return
        output = audible.output
        heard, lead = output.position, output.lead
        position = audible.begin + heard
        self._wave.play_at(position)
        self._status.show_time(position, self._wave.envelope.seconds)
        if self._follows and self._follower and heard > 0 and self._wave.envelope.seconds >= position:
            self._mark(self._follower.at(position))
        if isinstance(audible, GrowingUtterance) and not (lead > 0 or audible.ahead or output.paused):
            self._doing = AwaitingText()
            if not isinstance(self._situation.activity, AwaitingText):
                self._situation.enter(self._doing)
        if heard and isinstance(self._doing, Speaking) and self._doing.held:
            self._doing = replace(self._doing, held=False)
            if not output.paused and self._situation.remark is None:
                self._situation.enter(self._doing)
        self._gaps = output.underruns
        if self._ticks % FIGURES == 1:
            self.show_figures()
            self.reading.show(position)

    def _mark(self, span: tuple[int, int] | None) -> None:
        place = self.audible.place if isinstance(self.audible, LiveUtterance) else None
        if place is None:
            self._editor.mark(span)
        else:
            self._editor.mark_here(span and place(span))

    def frames_came(self, event: SpeechFrames) -> None:
        utterance, chunk = event.utterance, event.chunk
        first = utterance is self._asked and bool(len(chunk.samples))
        if first:
            self._begin_anew(utterance)
        audio = self.audio
        if utterance is not self.latest or audio is None:
            return
        audio.add(chunk)
        if first:
            self._changed()
            self.show_figures()
        self.misheard.heard(utterance, chunk)
        self._wave.extend(chunk.samples)
        self._follower = utterance.follower
        self._follower.heard(
            chunk.part, chunk.span, len(chunk.samples) / chunk.sample_rate, chunk.finish_reason is not None
        )
        if utterance is not self.audible:
            return
        parts = isinstance(utterance, LiveReading) and utterance.reading is not None  # which its bar tells
        part, pace = PassNumber() if parts else PassNumber(chunk.part, chunk.parts), audio.pace
        if utterance.unheard:
            self._doing = MakingUnheard(self._explain(utterance.unheard), part)
        else:
            slow = pace if pace and pace > 1 else None
            waits = slow is not None or audio.making > PATIENCE
            held = waits and utterance.output is not None and not utterance.output.position
            self._doing = Speaking(part, slow, held, utterance.engine.is_demo)
        if not (utterance.output and utterance.output.paused):
            self._situation.enter(self._doing)
        if utterance.output is None:
            self.show_figures()

    def _begin_anew(self, utterance: LiveUtterance) -> None:
        """The first of its sound takes the place of the sound before."""
        self._asked, self.latest, self._gaps = None, utterance, 0
        self.audio = SpokenAudio(utterance.script, utterance.engine.sample_rate)
        self._wave.clear(self.audio.rate)

    def was_made(self, event: SpeechMade) -> None:
        audio = event.audio
        if not event.utterance.remembered:
            self._screen.app.remember(audio)
        if event.utterance is self.latest:
            self.audio = audio
            self._wave.complete(audio.whole())
            self.show_figures()
            self._changed()
        elif event.utterance is not self._asked:
            return
        if audio.finish_reason == LENGTH:
            self._situation.say(
                f"the limit of {audio.stats.frames} frames ended the speech, not the model: raise max frames in the "
                "settings, ^g"
            )
        elif not audio.stats.frames and audio.finish_reason != CANCELLED:
            self._situation.say(str(ended_at_once("try another seed, or min frames 20 in the settings, ^g")))

    def in_trouble(self, event: SpeechUnheard | SpeechFailed) -> None:
        if isinstance(event, SpeechFailed):
            self._screen.app.complain(event.error)
        elif event.utterance is self.audible:
            self._situation.enter(MakingUnheard(self._explain(event.error)))

    def _explain(self, error: BaseException) -> str:
        return self._screen.app.explain(error)

    def show_figures(self) -> None:
        output = self.audible.output if self.audible else None
        unheard = isinstance(self.audible, LiveUtterance) and self.audible.unheard
        lead = None if output is None or unheard else output.lead
        complete = self.latest is not None and self.latest.ended.is_set()
        device = output.device_name if output else None
        self._status.show(figures_of(self._screen.app, self.audio, complete, lead, self._gaps, device))
