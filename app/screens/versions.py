"""One text spoken several times in one batch, each with another seed: heard one by one, the best starred, saved, spoken
again. They are kept in the history, and found there when the same text is asked for again."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Label, Static

from s2mlx.results import ended_at_once

from ..engine.levels import matched
from ..jobs import Job, JobCancelled
from ..speaking.spoken_audio import Script, Within
from ..speaking.text_parts import with_speaker
from ..widgets.key_line import KeyLine
from ..widgets.version_table import VersionTable, version_line
from ..widgets.waveform import Waveform
from .base import HELP_KEYS, AppScreen
from .casting import script_of
from .listening import Listening
from .sound_saver import SoundSaver, SoundToSave
from .version_maker import MadeVersion, VersionMaker, kept_versions

if TYPE_CHECKING:
    from ..app import S2App

VERSIONS = 4  # to begin with
KEYS = "space listens, l listens through, b stars the best, e exports, s speaks it again"


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
        *HELP_KEYS,
    ]

    def __init__(self, script: Script):
        super().__init__()
        self.script = script
        self.made: list[MadeVersion] = []
        self.at = 0  # the version in the hand
        self.best: int | None = None
        self.table = VersionTable(id="versions")
        self.wave = Waveform("", id="version-wave")
        self.listening = Listening(self, self.wave, self._heard)
        self._saver = SoundSaver(self, self.say)
        self._wanted = VERSIONS
        self._seeds: set[int] = set()  # that were tried, those that gave no sound among them
        self._through = False  # the next one is heard when this one ends
        self._making: Job | None = None

    def compose(self) -> ComposeResult:
        yield Label("Versions: the same text, another seed each time", classes="title")
        yield Static(" ".join(self.script.text.split())[:600], id="versions-text", markup=False)
        yield self.table
        yield self.wave
        yield Label("", id="said", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self._draw()
        self._find()

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

    def _find(self) -> None:
        """Those that were made before, then the making of what is missing."""
        app, wanted = self.app, self.script
        self.say("looking for versions that there are already")

        def read(job: Job) -> list[MadeVersion]:
            return kept_versions(app, wanted)

        def done(kept: list[MadeVersion]) -> None:
            self.made = kept
            self._seeds = {version.seed for version in kept}
            self.best = next((number for number, version in enumerate(kept) if version.starred), None)
            self._wanted = max(VERSIONS, len(kept))
            self._take(self.best or 0)
            self._make()

        def failed(error: BaseException) -> None:
            self._make()

        app.jobs.start("versions", read, owner=self, done=done, failed=failed)

    def _next_seeds(self, count: int) -> list[int]:
        seed = self.script.options.seed
        while seed is not None and seed in self._seeds:
            seed += 1
        seeds = [secrets.randbits(32) for _ in range(count)] if seed is None else list(range(seed, seed + count))
        return [seed % 2**64 for seed in seeds]

    def _make(self) -> None:
        """All that are missing, in one batch."""
        app, first = self.app, len(self.made)
        engine = app.loader.engine
        if engine is None or first >= self._wanted:
            self.say(KEYS if engine else "no model is loaded")
            return
        seeds = self._next_seeds(self._wanted - first)
        maker = VersionMaker(app, engine, self.script, seeds)

        def done(lost: list[int]) -> None:
            progressed(None, "")
            self._making = None
            if lost:
                self._wanted = len(self.made)
                self._draw()
                self.say(f"{ended_at_once('+ tries another seed')}: {', '.join(f'seed {seed}' for seed in lost)}")
            else:
                self._make()

        def failed(error: BaseException) -> None:
            progressed(None, "")
            self._making, self._wanted = None, len(self.made)
            self._take(min(self.at, max(0, len(self.made) - 1)))
            self.say("stopped: + makes one more" if isinstance(error, JobCancelled) else app.explain(error))

        def progressed(share: float | None, note: str) -> None:
            self._seeds.update(maker.begun)
            for version in maker.news():
                self.made.append(version)
                app.remembered()
                if len(self.made) - 1 == self.at:
                    self._take(self.at, listen=len(self.made) == 1)
            self._draw()
            if note:
                self.say(f"making version {len(self.made) + 1}, {note}  (esc stops)")

        self.say(f"making version {first + 1}  (esc stops)")
        self._making = app.jobs.start("version", maker.run, owner=self, done=done, failed=failed, progressed=progressed)

    # hearing

    def _take(self, number: int, listen: bool = False) -> None:
        """Version `number` into the hand, heard if `listen`."""
        self.listening.hush()
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
        self.listening.hush()
        version = self.current
        if version is None:
            self.say(f"version {self.at + 1} is not made yet")
            return
        loudness = matched([each.speech for each in self.made])[self.at]
        samples = version.audio.whole()
        self.listening.play(samples * loudness if loudness != 1.0 else samples, version.audio.rate, begin)

    def _heard(self, error: BaseException | None) -> None:
        if error:
            self._through = False
            self.say(self.app.explain(error))
        elif self._through and self.at + 1 < len(self.made):
            self._take(self.at + 1, listen=True)
        else:
            self._through = False

    @on(Waveform.Sought)
    def _sought(self, event: Waveform.Sought) -> None:
        self._listen(event.seconds)

    @on(VersionTable.VersionChosen)
    def _version_chosen(self, event: VersionTable.VersionChosen) -> None:
        self._take(event.number, listen=self.listening.replay is not None)

    @on(VersionTable.VersionEntered)
    def _version_entered(self) -> None:
        self._listen()

    # what the user asks for

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        needs_one = "listen", "listen_through", "star", "export", "again"
        return self.current is not None if action in needs_one else True

    def why_not(self, action: str, parameters: tuple) -> str:
        return "no version is made yet"

    def action_listen(self) -> None:
        self._through = False
        if not self.listening.hush():
            self._listen()

    def action_listen_through(self) -> None:
        self._through = True
        self._listen()

    def action_star(self) -> None:
        """The one in the hand is the best, or it no more is; also after the next start."""
        before, self.best = self.best, None if self.best == self.at else self.at
        self._draw()
        changed = [
            (self.made[number].entry, number == self.best) for number in {before, self.best} if number is not None
        ]

        def keep(job: Job) -> None:
            for entry, starred in changed:
                if entry:
                    self.app.history.star(entry, starred)

        self.app.jobs.start("star", keep)

    def action_export(self) -> None:
        version = self.current
        if version:
            audio = version.audio
            codes = audio.all_codes() if audio.codes else None  # those of an earlier start are not kept
            self._saver.save(
                self.script.text, lambda job: SoundToSave(audio.whole(), audio.rate, codes), codes=codes is not None
            )

    def action_again(self) -> None:
        version = self.current
        if version:
            self.listening.hush()
            self.dismiss(version.seed)

    def action_more(self) -> None:
        self._wanted += 1
        self._draw()
        if not self._making:
            self._make()

    def action_back(self) -> None:
        if self._making:
            self._making.cancel.set()
            self.listening.hush()
        elif not self.listening.hush():
            self.dismiss(None)
        self._through = False

    def on_unmount(self) -> None:
        self.listening.hush()
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
