"""One text spoken several times, each with another seed: heard one by one, the best starred, saved, spoken again."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.timer import Timer
from textual.widgets import Label, Static

from s2mlx.results import ended_at_once, worst

from ..engine.levels import matched
from ..jobs import Job, JobCancelled
from ..speaking.audible import Replay
from ..speaking.live_utterance import AMPLE
from ..speaking.spoken_audio import Script, SpokenAudio, Within
from ..speaking.text_parts import with_speaker
from ..widgets.key_line import KeyLine
from ..widgets.version_table import VersionTable, version_line
from ..widgets.waveform import Waveform
from .base import AppScreen
from .casting import script_of
from .sound_saver import SoundSaver, SoundToSave

if TYPE_CHECKING:
    from ..app import S2App

TICK = 1 / 20  # seconds between looks at the output
VERSIONS = 4  # to begin with; each is made after the one before
KEYS = "space listens, l listens through, b stars the best, e exports, s speaks it again"


@dataclass(frozen=True)
class MadeVersion:
    """One of them: its sound, and how loud its speech is, in dBFS."""

    audio: SpokenAudio
    speech: float

    @property
    def seconds(self) -> float:
        return len(self.audio.whole()) / self.audio.rate

    @property
    def seed(self) -> int:
        return self.audio.stats.seed


class VersionsScreen(AppScreen[int | None]):
    """Dismissed with the seed with which the text is to be spoken again, or None. A seed of the script's options is
    that of the first version, and those after it count on from there; without one each takes any."""

    CSS_PATH = "versions.tcss"
    BINDINGS = [
        Binding("space", "listen", "Listen, stop"),
        Binding("l", "listen_through", "Listen through"),
        Binding("b", "star", "Best"),
        Binding("e", "export", "Export"),
        Binding("s", "again", "Again with its seed"),
        Binding("plus", "more", "One more", key_display="+"),
        Binding("escape", "back", "Stop/back"),
        Binding("question_mark", "app.help", "Help", key_display="?/F1"),
        Binding("f1", "app.help", "Help", key_display="F1"),  # shown where ? is typed
    ]

    def __init__(self, script: Script):
        super().__init__()
        self.script = script
        self.made: list[MadeVersion] = []
        self.at = 0  # the version in the hand
        self.best: int | None = None
        self.replay: Replay | None = None
        self.table = VersionTable(id="versions")
        self.wave = Waveform("", id="version-wave")
        self._saver = SoundSaver(self, self.say)
        self._wanted = VERSIONS
        self._tried = 0  # seeds, those that gave no sound among them
        self._through = False  # the next one is heard when this one ends
        self._making: Job | None = None
        self._ticking: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Label("Versions: the same text, another seed each time", classes="title")
        yield Static(" ".join(self.script.text.split())[:600], id="versions-text", markup=False)
        yield self.table
        yield self.wave
        yield Label("", id="said", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self._ticking = self.set_interval(TICK, self.tick, pause=True)
        self._draw()
        self._make()

    def say(self, text: str) -> None:
        self.query_one("#said", Label).update(text)

    @property
    def current(self) -> MadeVersion | None:
        return self.made[self.at] if self.at < len(self.made) else None

    def _draw(self) -> None:
        lines = [
            version_line(number, number == self.best, version.seconds, version.speech, version.seed)
            for number, version in enumerate(self.made)
        ]
        lines += [version_line(number, False, None, 0.0, None) for number in range(len(self.made), self._wanted)]
        self.table.show(lines, self.at)
        self.refresh_bindings()

    # making

    def _make(self) -> None:
        app, script, number = self.app, self.script, len(self.made)
        engine = app.loader.engine
        if engine is None or number >= self._wanted:
            self.say(KEYS if engine else "no model is loaded")
            return
        if script.options.seed is not None:
            script = Script(script.text, script.names, script.options.replace(seed=script.options.seed + self._tried))
        self._tried += 1

        def work(job: Job) -> MadeVersion:
            audio, reasons = SpokenAudio(script, engine.sample_rate), []
            audio.when = time.strftime("%Y-%m-%dT%H:%M:%S")
            voice = [app.voices.load(name, engine, job) for name in script.names] or None
            stream = engine.stream(
                script.text, voice=voice, options=script.options, cancel=job.cancel, lead=lambda: AMPLE
            )
            for chunk in stream:
                audio.add(chunk)
                if job.cancel.is_set():
                    raise JobCancelled
                if chunk.finish_reason:
                    reasons.append(chunk.finish_reason)
                seed, seconds = chunk.stats.seed, chunk.stats.audio_seconds
                job.report(None, f"making version {number + 1}, seed {seed}: {seconds:.1f} s  (esc stops)")
            if job.cancel.is_set():
                raise JobCancelled
            if not len(audio.whole()):
                raise ended_at_once("+ tries another seed")
            audio.finish_reason = worst(reasons)
            return MadeVersion(audio, app.studio.levels(audio.whole(), audio.rate).speech)

        def done(version: MadeVersion) -> None:
            self._making = None
            self.made.append(version)
            app.remember(version.audio)
            if number == self.at:
                self._take(number, listen=number == 0)
            self._draw()
            self._make()

        def failed(error: BaseException) -> None:
            self._making, self._wanted = None, len(self.made)
            self._take(min(self.at, max(0, len(self.made) - 1)))
            self.say("stopped: + makes one more" if isinstance(error, JobCancelled) else app.explain(error))

        self.say(f"making version {number + 1}  (esc stops)")
        self._making = app.jobs.start(
            "version", work, owner=self, done=done, failed=failed, progressed=lambda share, note: self.say(note)
        )

    # hearing

    def _take(self, number: int, listen: bool = False) -> None:
        """Version `number` into the hand, heard if `listen`."""
        self._hush()
        self.at = number
        version = self.current
        if version:
            self.wave.show(version.audio.whole(), version.audio.rate)
        else:
            self.wave.clear()
        self._draw()
        if listen and version:
            self._listen()

    def _listen(self, begin: float = 0.0) -> None:
        """The one in the hand from `begin` seconds on, as loud as the softest of all."""
        self._hush()
        version, app = self.current, self.app
        if version is None:
            self.say(f"version {self.at + 1} is not made yet")
            return
        loudness = matched([each.speech for each in self.made])[self.at]
        samples, rate = version.audio.whole(), version.audio.rate
        sound = samples[int(begin * rate) :]
        replay = Replay(sound * loudness if loudness != 1.0 else sound, lambda: app.open_output(rate), begin)
        self.replay = replay

        def ended(error: BaseException | None = None) -> None:
            if replay is not self.replay:
                return
            self._hush()
            if error:
                self._through = False
                self.say(app.explain(error))
            elif self._through and self.at + 1 < len(self.made):
                self._take(self.at + 1, listen=True)
            else:
                self._through = False

        replay.job = app.jobs.start("listen", replay.run, owner=self, done=lambda _: ended(), failed=ended)
        if self._ticking:
            self._ticking.resume()

    def _hush(self) -> bool:
        """True when something was heard."""
        replay, self.replay = self.replay, None
        if replay:
            replay.stop()
            self.wave.play_at(None)
        if self._ticking:
            self._ticking.pause()
        return replay is not None

    def tick(self) -> None:
        if self.replay and self.replay.output:
            self.wave.play_at(self.replay.begin + self.replay.output.position)

    @on(Waveform.Sought)
    def _sought(self, event: Waveform.Sought) -> None:
        self._listen(event.seconds)

    @on(VersionTable.VersionChosen)
    def _version_chosen(self, event: VersionTable.VersionChosen) -> None:
        self._take(event.number, listen=self.replay is not None)

    @on(VersionTable.VersionEntered)
    def _version_entered(self) -> None:
        self._listen()

    # what the user asks for

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        needs_one = "listen", "listen_through", "star", "export", "again"
        return self.current is not None if action in needs_one else True

    def action_listen(self) -> None:
        self._through = False
        if not self._hush():
            self._listen()

    def action_listen_through(self) -> None:
        self._through = True
        self._listen()

    def action_star(self) -> None:
        """The one in the hand is the best, or it no more is."""
        self.best = None if self.best == self.at else self.at
        self._draw()

    def action_export(self) -> None:
        version = self.current
        if version:
            audio = version.audio
            self._saver.save(
                self.script.text, lambda job: SoundToSave(audio.whole(), audio.rate, audio.all_codes()), codes=True
            )

    def action_again(self) -> None:
        version = self.current
        if version:
            self._hush()
            self.dismiss(version.seed)

    def action_more(self) -> None:
        self._wanted += 1
        self._draw()
        if not self._making:
            self._make()

    def action_back(self) -> None:
        if self._making:
            self._making.cancel.set()
            self._hush()
        elif not self._hush():
            self.dismiss(None)
        self._through = False

    def on_unmount(self) -> None:
        self._hush()
        if self._making:
            self._making.cancel.set()


def open_versions(app: S2App) -> None:
    """Of what is selected, or of the whole text, in the voices of the cast."""
    from s2mlx.text import has_words

    main = app.main
    whole, span = main.editor.text, main.editor.selected
    text, at = with_speaker(whole, span) if span[1] > span[0] else (whole, 0)
    if not has_words(text):
        main.say("nothing to say yet: type some text")
    elif app.loader.engine is None:
        main.say("the model is not loaded yet")
    elif (script := script_of(main, text, Within(whole, at))) is not None:
        main.speech.silence()

        def back(seed: int | None) -> None:
            if seed is not None:
                main.requests.script(replace(script, options=script.options.replace(seed=seed)))

        app.push_screen(VersionsScreen(script), back)
