"""Two voices side by side: the same text with the same seed, heard by turns from the same place and equally loud."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Label, Static

from s2mlx.options import Options

from .. import figures, tags
from ..engine.levels import matched
from ..jobs import Job, JobCancelled
from ..speaking.live_utterance import AMPLE
from ..speaking.spoken_audio import Script, SpokenAudio
from ..speaking.text_parts import with_speaker
from ..widgets.key_line import KeyLine
from ..widgets.voice_list import OWN
from ..widgets.waveform import Waveform
from .base import HELP_KEYS, AppScreen
from .listening import Listening

if TYPE_CHECKING:
    from ..app import S2App

SIDES = ("A", "B")


@dataclass(frozen=True)
class MadeSide:
    """One of the two: its sound, and how loud its speech is, in dBFS."""

    audio: SpokenAudio
    speech: float


class CompareScreen(AppScreen[int | None]):
    """Dismissed with the number of the voice that is to speak from now on, or None. `names`: None is the model's own
    voice."""

    CSS_PATH = "compare.tcss"
    BINDINGS = [
        Binding("x,tab", "change", "The other one", key_display="x"),
        Binding("space", "listen", "Listen, stop"),
        Binding("enter", "choose", "This one speaks"),
        Binding("escape", "back", "Stop/back"),
        *HELP_KEYS,
    ]

    def __init__(self, text: str, names: tuple[str | None, str | None], options: Options):
        super().__init__()
        self.text, self.names, self._options = text, names, options
        self.made: list[MadeSide | None] = [None, None]
        self.at = 0  # the side in the hand
        self.waves = [Waveform("", id=f"wave-{side}") for side in SIDES]
        self.listening = Listening(self, self.waves[0], self._heard)
        self._making: Job | None = None

    def compose(self) -> ComposeResult:
        yield Label("A/B: the same text, the same seed, equally loud", classes="title")
        yield Static(" ".join(self.text.split())[:600], id="compared-text", markup=False)
        for side, wave in zip(SIDES, self.waves, strict=True):
            yield Label("", id=f"side-{side}", classes="side", markup=False)
            yield wave
        yield Label("", id="said", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self._draw()
        self._make(0)

    def say(self, text: str) -> None:
        self.query_one("#said", Label).update(text)

    def _draw(self) -> None:
        for number, (side, name) in enumerate(zip(SIDES, self.names, strict=True)):
            made = self.made[number]
            facts = (
                f"{figures.seconds(len(made.audio.whole()) / made.audio.rate)}, {made.speech:.0f} dB" if made else "…"
            )
            label = self.query_one(f"#side-{side}", Label)
            label.update(f"{'▸' if number == self.at else ' '} {side}  {name or OWN}   {facts}")
            label.set_class(number == self.at, "-here")
        self.refresh_bindings()

    # making

    def _make(self, number: int) -> None:
        app, name = self.app, self.names[number]
        engine = app.loader.engine
        if engine is None:
            self.say("no model is loaded")
            return
        first, options = self.made[0], self._options
        if name:
            options = app.voices.notes.of(name).applied(options)
        if first and options.seed is None:
            options = options.replace(seed=first.audio.stats.seed)
        script = Script(self.text, (name,) if name else (), options)

        def work(job: Job) -> MadeSide:
            audio = SpokenAudio(script, engine.sample_rate, when=time.strftime("%Y-%m-%dT%H:%M:%S"))
            voice = [app.voices.load(name, engine, job)] if name else None
            for chunk in engine.stream(self.text, voice=voice, options=options, cancel=job.cancel, lead=lambda: AMPLE):
                audio.add(chunk)
                if job.cancel.is_set():
                    raise JobCancelled
                job.report(None, f"making {SIDES[number]}: {figures.clock(chunk.stats.audio_seconds)}  (esc stops)")
                audio.finish_reason = chunk.finish_reason or audio.finish_reason
            return MadeSide(audio, app.studio.levels(audio.whole(), audio.rate).speech)

        def done(made: MadeSide) -> None:
            self._making = None
            self.made[number] = made
            app.remember(made.audio)
            self.waves[number].show(made.audio.whole(), made.audio.rate)
            self._draw()
            self.say("x changes, space listens, enter lets this one speak from now on")
            if number == 0:
                self._listen()
                self._make(1)

        def failed(error: BaseException) -> None:
            self._making = None
            self.say("stopped" if isinstance(error, JobCancelled) else app.explain(error))

        self.say(f"making {SIDES[number]}  (esc stops)")
        self._making = app.jobs.start(
            "compare", work, owner=self, done=done, failed=failed, progressed=lambda share, note: self.say(note)
        )

    # hearing

    @property
    def _share(self) -> float:
        """How much of the sound in the hand was heard, 0..1."""
        made, replay = self.made[self.at], self.listening.replay
        if made is None or replay is None or replay.output is None:
            return 0.0
        seconds = len(made.audio.whole()) / made.audio.rate
        return min(1.0, (replay.begin + replay.output.position) / seconds) if seconds else 0.0

    def _listen(self, share: float = 0.0) -> None:
        self.listening.hush()
        made = self.made[self.at]
        if made is None:
            self.say(f"{SIDES[self.at]} is not made yet")
            return
        both = [side.speech for side in self.made if side]
        loudness = matched(both)[self.at] if len(both) == 2 else 1.0
        samples, rate = made.audio.whole(), made.audio.rate
        sound = samples * loudness if loudness != 1.0 else samples
        self.listening.play(sound, rate, share * len(samples) / rate, self.waves[self.at])

    def _heard(self, error: BaseException | None) -> None:
        if error:
            self.say(self.app.explain(error))

    @on(Waveform.Sought)
    def _sought(self, event: Waveform.Sought) -> None:
        self.at = self.waves.index(event.waveform)
        self._draw()
        self._listen(event.seconds / max(event.waveform.envelope.seconds, 1e-3))

    # what the user asks for

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """None, which is shown in grey, until there is something to hear."""
        if action == "change":
            return all(self.made) or None
        return self.made[self.at] is not None or None if action in ("listen", "choose") else True

    def why_not(self, action: str, parameters: tuple) -> str:
        if action == "change":
            return "nothing to compare yet: both are heard by turns as soon as they are made"
        return f"{self.names[self.at] or OWN} is not made yet"

    def action_change(self) -> None:
        share = self._share
        self.at = 1 - self.at
        self._draw()
        self._listen(share)

    def action_listen(self) -> None:
        if not self.listening.hush():
            self._listen()

    def action_choose(self) -> None:
        self.listening.hush()
        self.dismiss(self.at)

    def action_back(self) -> None:
        if self._making:
            self._making.cancel.set()
            self.listening.hush()
        elif not self.listening.hush():
            self.dismiss(None)

    def on_unmount(self) -> None:
        self.listening.hush()
        if self._making:
            self._making.cancel.set()


def compare_voices(app: S2App) -> None:
    """The voice that speaks what is selected, or the whole text, and the one in the hand."""
    from s2mlx.text import has_words

    main, cast = app.main, app.settings.cast
    text, span = main.editor.text, main.editor.selected
    if text[slice(*span)].strip():
        text, _ = with_speaker(text, span)
    speakers = tags.who_speaks(text)
    speaker = speakers[0] if speakers else 0
    names = (cast[speaker] if speaker < len(cast) else None), main.voice_list.current
    if not has_words(text):
        main.say("nothing to say yet: type some text")
    elif len(speakers) > 1:
        main.say("two voices are compared by a text of one speaker: select a part of it")
    elif names[0] == names[1]:
        main.voice_list.focus()
        main.say(f"{names[0] or OWN} speaks already: highlight another voice, and F3 compares the two")
    elif app.loader.engine is None:
        main.say("the model is not loaded yet")
    else:
        main.speech.silence()

        def back(chosen: int | None) -> None:
            if chosen is not None:
                main.voices.bind(names[chosen], speaker)
                main.say(f"{names[chosen] or OWN} speaks" + (f" as <|speaker:{speaker}|>" if speaker else ""))

        app.push_screen(CompareScreen(tags.without_speakers(text), names, app.settings.options()), back)
