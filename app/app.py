"""The app: holds what all screens share and moves between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import SystemCommand
from textual.binding import Binding
from textual.filter import LineFilter
from textual.screen import Screen

from s2mlx.text import clean_text

from .commands import Actions, commands, take_file
from .engine.loader import EngineLoader
from .engine.protocols import SoundOutput, Studio
from .engine.voice_shelf import VoiceShelf
from .jobs import JobCancelled, JobEnded, JobProgressed, Jobs
from .paths import dropped
from .screens.main import MainScreen
from .screens.recording_flow import COUNTDOWN, RecordingFlow
from .screens.refusals import TellingApp
from .speaking.spoken_audio import Script, SpokenAudio
from .state.faults import in_a_line, keep_fault
from .state.history import History, HistoryEntry, distinct_options
from .state.known_voices import KnownVoices
from .state.session import Session
from .state.settings import Settings, SettingsFile
from .state.voice_notes import VoiceNotes
from .themes import OURS, meanings
from .widgets.key_line import SMALLEST
from .widgets.visible_lines import VisibleLines

if TYPE_CHECKING:
    from .speaking.reading_desk import ReadingDesk

_VISIBLE = VisibleLines()
MOST_COMPLAINTS = 3  # of a kind that are told one by one
PATIENCE = 1.0  # seconds that leaving waits for the jobs


class S2App(TellingApp):
    """`config` and `state` are folders; `overrides` are settings of this run only, such as the command line's model.
    `guests`: voices for this run only, by name. `countdown`: seconds before a recording begins. `begun()` is called
    when the first picture is there."""

    TITLE = "s2mlx"
    CSS_PATH = ["styles.tcss", "screens/main.tcss"]
    # the size of the terminal, as the styles know it
    HORIZONTAL_BREAKPOINTS = [
        (0, "-slim"),
        (SMALLEST.width, "-narrow"),
        (72, "-medium"),
        (110, "-wide"),
        (160, "-vast"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (SMALLEST.height, "-low"), (16, "-short"), (22, "-high"), (34, "-tall")]
    COMMANDS = {Actions}
    BINDINGS = [
        Binding("ctrl+p", "command_palette", "Actions", priority=True),
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]

    def __init__(
        self,
        studio: Studio,
        config: Path,
        state: Path,
        *,
        text: str | None = None,
        guests: dict[str, Any] | None = None,
        countdown: float = COUNTDOWN,
        begun: Callable[[], None] = lambda: None,
        **overrides: Any,
    ):
        super().__init__()
        self.studio, self._begun = studio, begun
        self.log_path = state / "app.log"
        self._settings = SettingsFile(config / "app.json", **overrides)
        self.session = Session(state)
        self.voices = VoiceShelf(
            studio, VoiceNotes(config / "voices.json"), KnownVoices(state / "voice-ids.json"), guests
        )
        self.history = History(
            state / "history", studio.write_audio, studio.read_audio, identities=self.voices.identities
        )
        self.jobs = Jobs(self)
        self.loader = EngineLoader(studio, self.jobs, lambda: self.main.engine_changed())
        self._writing = threading.Lock()
        self._text = ""
        self._autosave_failed = self._warned = False
        self.main = MainScreen(self.session.text(), None if text is None else clean_text(text))
        self.recordings = RecordingFlow(self, self.main.use_voice, countdown)
        for theme in OURS:
            self.register_theme(theme)
        self._begin_with(self.settings.theme)

    def _begin_with(self, theme: str) -> None:
        """As `self.theme = theme` does, before there are styles: so they are read once."""
        self.set_reactive(S2App.theme, theme)
        self.update_classes({"-dark-mode": self.current_theme.dark, "-light-mode": not self.current_theme.dark}, False)
        self.stylesheet.set_variables(self.get_css_variables())

    @cached_property
    def desk(self) -> ReadingDesk:
        """Where long texts are made; not there before it is asked for."""
        from .screens.long_texts import make_desk

        return make_desk(self, self.log_path.parent / "readings")

    @property
    def has_desk(self) -> bool:
        """Somebody has asked for it."""
        return "desk" in self.__dict__

    @property
    def settings(self) -> Settings:
        return self._settings.now

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """What the colours mean, in themes that are not ours."""
        return meanings(self.current_theme)

    def get_default_screen(self) -> Screen:
        """What is drawn first: the main screen, over no other."""
        return self.main

    def on_mount(self) -> None:
        self.main.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """With the first picture there, and keys taken: what takes long or imports much begins behind it."""
        self._begun()
        self.tell_of_damage()
        self.loader.load(self.settings)
        self.main.voices.refresh()
        self.main.side.reload()
        self.jobs.start(
            "recover",
            lambda job: self.session.adopt_broken_recordings(),
            done=lambda _: self.recordings.offer_kept_takes(),
        )

    async def on_event(self, event: events.Event) -> None:
        """What is pasted comes in without what steers a terminal, wherever it goes to."""
        if isinstance(event, events.Paste):
            event.text = clean_text(event.text)
            path = dropped(event.text) if self.screen is self.main and not event.is_forwarded else None
            if path and take_file(self, path):
                return
        await super().on_event(event)

    # what happens in jobs

    @on(JobProgressed)
    def _progressed(self, event: JobProgressed) -> None:
        job = event.job
        if job.progressed and job in self.jobs.running and self._stands(job.owner):
            job.progressed(event.fraction, event.note)

    @on(JobEnded)
    def _job_ended(self, event: JobEnded) -> None:
        job = event.job
        self.jobs.ended(job)
        if event.error is not None:
            keep_fault(event.error, self.log_path)
        if not self._stands(job.owner):
            return
        if event.error is None:
            if job.done:
                job.done(event.result)
        elif job.failed:
            job.failed(event.error)
        else:
            self.complain(event.error)

    def _stands(self, owner: Screen | None) -> bool:
        """The screen is there still, in front or covered, and may be drawn on."""
        screen = owner or self.main
        return screen.is_attached and screen in self.screen_stack

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every line of every widget goes through."""
        return [*super().get_line_filters(), _VISIBLE]

    def explain(self, error: BaseException) -> str:
        """An error in one line, as the user should hear it."""
        return in_a_line(error, self.log_path)

    def complain(self, error: BaseException, way_on: str = "") -> None:
        """Show an error where it stays readable: in the state line, which grows with it; a notice would hide the text.
        Where that line is not seen, as a notice too."""
        if isinstance(error, JobCancelled):
            return
        line = self.explain(error)
        if self.screen is not self.main or not (self.main.ready and self.main.status.display):
            self.notify(f"{line}\n{way_on}".strip(), severity="error", timeout=12)
        if self.main.ready:
            self.main.say(f"{line}. {way_on}" if way_on else line, "failed")

    def tell_of_damage(self) -> None:
        """Say which state files were put aside since the last time."""
        owners: list[Any] = [self._settings, self.session, self.history, self.voices.notes, self.voices.known]
        if self.has_desk:
            owners.append(self.desk.readings)
        for complaints in (owner.complaints for owner in owners):
            told, complaints[:] = list(complaints), []
            if len(told) > MOST_COMPLAINTS:
                told[MOST_COMPLAINTS:] = [f"and {len(told) - MOST_COMPLAINTS} more"]
            for complaint in told:
                self.notify(complaint, severity="warning", timeout=12)

    # settings

    def change(self, **changes: Any) -> None:
        """Change settings now, and keep them."""
        self._settings.change(**changes)
        self.theme = self.settings.theme
        self.jobs.start("settings", lambda job: self._settings.save())

    # the text

    def _save_text(self) -> None:
        with self._writing:
            self.session.keep_text(self._text)

    def keep_text(self, text: str) -> None:
        def failed(error: BaseException) -> None:
            if not self._autosave_failed:  # once, not at every key
                self.complain(error, "The text cannot be kept for the next start.")
            self._autosave_failed = True

        def done(_: Any) -> None:
            self._autosave_failed = False

        self._text = text
        self.jobs.start("autosave", lambda job: self._save_text(), done=done, failed=failed)

    # sound

    def open_output(self, rate: int) -> SoundOutput:
        """On a job's thread. Raises DeviceError."""
        return self.studio.open_output(rate, self.settings.output, self.settings.prebuffer)

    def remember(self, audio: SpokenAudio) -> None:
        """Put an utterance into the history."""
        if audio.samples and len(audio.whole()):
            entry = self.entry_of(audio)
            self.jobs.start(
                "remember",
                lambda job: self.history.add(entry, audio.whole(), audio.rate),
                done=lambda _: self.remembered(),
            )

    def entry_of(self, audio: SpokenAudio) -> HistoryEntry:
        """An utterance as the history has it."""
        script, stats, settings, engine = audio.script, audio.stats, self.settings, self.loader.engine
        return HistoryEntry(
            script.text,
            script.names,
            stats.seed,
            distinct_options(script.options),
            settings.model,
            engine.name if engine else "",
            settings.compat,
            settings.tokenizer,
            audio.when,
            len(audio.whole()) / audio.rate,
            stats.frames,
            audio.factor,
            stats.first_audio,
            audio.finish_reason,
        )

    def remembered(self) -> None:
        self.tell_of_damage()
        self.main.side.reload()

    # moving between screens

    def action_history(self) -> None:
        def back(entry: HistoryEntry | None) -> None:
            if entry:
                engine = self.loader.engine
                if engine and entry.model_name and entry.model_name != engine.name:
                    self.notify(f"It was made with {entry.model_name}; with {engine.name} it will sound different.")
                self.main.requests.script(Script(entry.text, entry.voices, entry.speech_options()))

        from .screens.history import HistoryScreen

        self.main.speech.silence()
        self.push_screen(HistoryScreen(), back)

    def is_open(self, kind: type[Screen]) -> bool:
        """A second one above it would undo what the first one does."""
        return any(isinstance(screen, kind) for screen in self.screen_stack)

    def action_models(self) -> None:
        from .screens.models import ModelsScreen

        if not self.is_open(ModelsScreen):
            self.push_screen(ModelsScreen())

    def action_settings(self) -> None:
        from .screens.settings import SettingsScreen

        if not self.is_open(SettingsScreen):
            self.push_screen(SettingsScreen())

    def action_help(self) -> None:
        from .screens.help import HelpScreen, key_groups

        if not self.is_open(HelpScreen):
            self.push_screen(HelpScreen(key_groups(self, self.screen), getattr(self.screen, "HOW", "")))

    def get_system_commands(self, screen: Screen) -> Iterable[SystemCommand]:
        return commands(self, screen)

    async def action_quit(self) -> None:
        """Silence first, then leave; the jobs are told to end."""
        if self.main.speech.audible:
            self.main.speech.audible.stop()
        self._text = self.main.editor.text
        try:
            self._save_text()
        except OSError as error:
            if not self._warned:
                self._warned = True
                self.complain(error, "The text could not be kept. Quit again to leave all the same.")
                return
        self.exit(0)

    def leave(self) -> bool:
        """After the screen is gone, whatever ended it: keep text and take, end jobs and engine. True when all ended."""
        self._text = self.main.editor.text
        self.jobs.start("autosave", lambda job: self._save_text())
        self.recordings.keep_running()
        self.jobs.start("close devices", lambda job: self.studio.close())
        ended = self.jobs.leave(PATIENCE)
        if ended:
            self.session.leave()
            if self.loader.engine:
                self.loader.engine.close()
        return ended
