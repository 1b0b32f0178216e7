"""The app: holds what all screens share and moves between them. Draws nothing itself."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from textual import on
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from s2mlx.errors import S2Error
from s2mlx.voices import check_name, key

from .commands import commands
from .engine.fitting import Fitting
from .engine.loader import Dropped, EngineRoom
from .engine.shapes import Player, Studio, Synthesizer
from .jobs import Job, JobEnded, JobProgressed, Jobs
from .recording.takes import Takes
from .screens.help import HelpScreen, key_groups
from .screens.history import HistoryScreen
from .screens.main import MainScreen
from .screens.settings import SettingsScreen
from .speaking.utterance import Made
from .state import settings as settings_file
from .state.history import History, Utterance, distinct_options
from .state.session import Session
from .themes import ALL
from .widgets.key_line import SMALLEST

PATIENCE = 1.0  # seconds that leaving waits for the jobs


class S2App(Takes, App[int]):
    """`config` and `state` are folders; `overrides` are settings of this run only, such as the command line's model."""

    TITLE = "s2mlx"
    CSS_PATH = "styles.tcss"
    # the size of the terminal, as the styles know it
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (SMALLEST.width, "-narrow"), (72, "-medium"), (110, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (SMALLEST.height, "-low"), (16, "-short"), (22, "-high"), (34, "-tall")]
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
        countdown: float | None = None,
        **overrides,
    ):
        super().__init__()
        self.studio, self.library = studio, studio.library
        self._settings_path, self._log_path = config / "app.json", state / "app.log"
        self._kept, self._complaints = settings_file.load(self._settings_path)
        self._written = self._kept  # what the file was told last
        self.settings = self._kept.replace(**overrides)
        self.session = Session(state)
        self.history = History(state / "history", studio.write_audio, studio.read_audio)
        self.fitting = Fitting(self.library)
        self.guests = guests or {}  # voices for this run only, by name
        self.jobs = Jobs(self)
        self.room = EngineRoom(studio, self.jobs, self._engine_changed)
        self.deleted: list[tuple[str, Any, tuple]] = []
        self._writing = threading.Lock()
        self._text = ""
        self._autosave_failed = self._warned = False
        self._countdown = {} if countdown is None else {"countdown": countdown}
        self._main = MainScreen(self.session.text() if text is None else text)
        for theme in ALL:
            self.register_theme(theme)
        self.theme = self.settings.theme

    def on_mount(self) -> None:
        self.push_screen(self._main)
        for complaint in self._complaints:
            self.notify(complaint, severity="warning")
        self.room.load(self.settings)
        self.jobs.start(
            "recover", lambda job: self.session.adopt_broken_recording(), done=lambda _: self.offer_kept_take()
        )

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
            self._log(event.error)
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
        screen = owner or self._main
        return screen.is_attached and screen in self.screen_stack

    def explain(self, error: BaseException) -> str:
        """An error in one line, as the user should hear it."""
        if isinstance(error, S2Error):
            return str(error)
        if isinstance(error, Dropped):
            return "cancelled"
        if isinstance(error, OSError):
            where = f": {error.filename}" if error.filename else ""
            return f"{error.strerror or error}{where}"
        if isinstance(error, MemoryError):
            return "there is not enough memory for this"
        return f"{type(error).__name__}: {error} (a fault of this program; details in {self._log_path})"

    def notify(self, message: str, **options) -> None:
        """A notice as Textual shows it, except that nothing in it is markup: it names files, devices, voices."""
        super().notify(message, **options | {"markup": False})

    def complain(self, error: BaseException, way_on: str = "") -> None:
        """Show an error where it stays readable: as a notice, and in the state line."""
        if isinstance(error, Dropped):
            return
        line = self.explain(error)
        self.notify(f"{line}\n{way_on}".strip(), severity="error", timeout=12)
        if self._main.ready:
            self._main.status.say(line)

    def _log(self, error: BaseException) -> None:
        """Faults of this program keep their traceback, in a file."""
        if isinstance(error, (S2Error, Dropped, OSError)):
            return
        try:
            self._log_path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._log_path, "a", encoding="utf-8") as log:
                traceback.print_exception(error, file=log)
        except OSError:
            pass  # the message on the screen is what is left

    # settings

    def change(self, **changes) -> None:
        """Change settings now, and keep them."""
        self.settings = self.settings.replace(**changes)
        self._kept = self._kept.replace(**changes)
        self.theme = self.settings.theme
        self.jobs.start("settings", lambda job: self._save_settings())

    def _save_settings(self) -> None:
        """Jobs may overtake each other: whichever writes, writes what holds now."""
        with self._writing:
            kept = self._kept
            settings_file.update(self._settings_path, self._written, kept)
            self._written = kept

    def _save_text(self) -> None:
        with self._writing:
            self.session.keep_text(self._text)

    def keep_text(self, text: str) -> None:
        def failed(error: BaseException) -> None:
            if not self._autosave_failed:  # once, not at every key
                self.complain(error, "The text cannot be kept for the next start.")
            self._autosave_failed = True

        def done(_) -> None:
            self._autosave_failed = False

        self._text = text
        self.jobs.start("autosave", lambda job: self._save_text(), done=done, failed=failed)

    # engine, devices, voices: for jobs

    def _engine_changed(self) -> None:
        self._main.engine_changed()

    def open_player(self, rate: int) -> Player:
        """On a job's thread. Raises DeviceError."""
        return self.studio.player(rate, self.settings.output, self.settings.prebuffer)

    def load_voice(self, name: str, engine: Synthesizer, job: Job):
        """The voice as `engine` takes it. Raises VoiceError."""
        return self.fitting.fit(name, self.guests.get(name) or self.library.get(name), engine, job)

    def voice_names(self) -> list[str]:
        return [*self.library.names(), *self.guests]

    def name_trouble(self, name: str, but: str = "") -> str:
        """Why a voice cannot be called so, or an empty string. `but`: the name it has now."""
        try:
            check_name(name)
            other = next((one for one in self.voice_names() if key(one) == key(name.strip()) and one != but), None)
        except S2Error as error:
            return self.explain(error)
        return f"there is a voice {other} already: take another name" if other else ""

    def free_name(self, stem: str) -> str:
        """me, me-2, me-3, ..."""
        try:
            taken, number = set(map(key, self.voice_names())), 1
        except S2Error:  # said by the list of voices already
            return stem
        while key(name := stem if number == 1 else f"{stem}-{number}") in taken:
            number += 1
        return name

    def remember(self, made: Made) -> None:
        """Put an utterance into the history."""
        if not made.samples or not len(made.whole()):
            return
        request, stats, settings = made.request, made.stats, self.settings
        engine = self.room.engine
        utterance = Utterance(
            request.text,
            request.names,
            stats.seed,
            distinct_options(request.options),
            settings.model,
            engine.name if engine else "",
            settings.compat,
            settings.tokenizer,
            made.when,
            len(made.whole()) / made.rate,
            stats.frames,
            stats.rtf,
            stats.first_audio,
            made.finish_reason,
        )
        self.jobs.start("remember", lambda job: self.history.add(utterance, made.whole(), made.rate))

    # moving between screens

    def action_history(self) -> None:
        def back(entry: Utterance | None) -> None:
            if entry:
                engine = self.room.engine
                if engine and entry.model_name and entry.model_name != engine.name:
                    self.notify(f"It was made with {entry.model_name}; with {engine.name} it will sound different.")
                self._main.speak(entry.text, entry.voices, entry.request())

        self._main.silence()
        self.push_screen(HistoryScreen(), back)

    def is_open(self, kind: type[Screen]) -> bool:
        """A second one above it would undo what the first one does."""
        return any(isinstance(screen, kind) for screen in self.screen_stack)

    def action_settings(self) -> None:
        if not self.is_open(SettingsScreen):
            self.push_screen(SettingsScreen())

    def action_help(self) -> None:
        if not self.is_open(HelpScreen):
            self.push_screen(HelpScreen(key_groups(self)))

    def get_system_commands(self, screen: Screen) -> Iterable[SystemCommand]:
        return commands(self, screen)

    async def action_quit(self) -> None:
        """Silence first, then leave; the jobs are told to end."""
        if self._main.sounding:
            self._main.sounding.stop()
        self._text = self._main.editor.text
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
        self._text = self._main.editor.text
        self.jobs.start("autosave", lambda job: self._save_text())
        self.keep_running_take()
        self.jobs.start("close devices", lambda job: self.studio.close())
        ended = self.jobs.leave(PATIENCE)
        if ended:
            self.session.leave()
            if self.room.engine:
                self.room.engine.close()
        return ended
