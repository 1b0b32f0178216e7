"""The history: every utterance, to hear again, save, make again with the same seed, or take to the command line."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import DataTable, Label, Static

from .. import figures
from ..jobs import Job
from ..speaking.audible import Replay
from ..state.history import HistoryEntry
from ..widgets.key_line import KeyLine
from ..widgets.voice_list import OWN
from .base import AppScreen
from .sound_saver import SoundSaver, SoundToSave


class HistoryScreen(AppScreen[HistoryEntry | None]):
    """Dismissed with the utterance to speak again, or None."""

    CSS_PATH = "history.tcss"

    BINDINGS = [
        Binding("space", "replay", "Replay"),
        Binding("s", "again", "Again"),
        Binding("e", "export", "Export"),
        Binding("c", "copy", "Command"),
        Binding("d,delete", "delete", "Delete"),
        Binding("u", "undo", "Undo"),
        Binding("escape", "back", "Back"),
        Binding("question_mark", "app.help", "Help", key_display="?/F1"),
        Binding("f1", "app.help", "Help", key_display="F1"),  # shown where ? is typed
    ]

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[HistoryEntry] = []
        self._replay: Replay | None = None
        self._job: Job | None = None  # of the replay
        self._can_undo = False
        self._saver = SoundSaver(self, self.say)

    def compose(self) -> ComposeResult:
        yield Label("History", classes="title")
        yield DataTable(id="entries", cursor_type="row", zebra_stripes=True)
        yield Static(id="details", markup=False)
        yield Label("", id="said", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_column("When", width=16)
        table.add_column("Length", width=7)
        table.add_column("Voice", width=14)
        table.add_column("Text")
        table.focus()
        self.reload()

    def reload(self) -> None:
        def read(job: Job) -> tuple[list[HistoryEntry], bool]:
            return self.app.history.entries(), self.app.history.removed()

        self.app.jobs.start("history", read, owner=self, done=lambda found: self._show(*found))

    def _show(self, entries: list[HistoryEntry], can_undo: bool) -> None:
        self.app.tell_of_damage()
        self._can_undo = can_undo
        self.refresh_bindings()
        table = self.query_one(DataTable)
        row = table.cursor_row
        self.entries = entries
        table.clear()
        for entry in entries:
            ended = {"stop": "", "length": " (cut)", "cancelled": " (stopped)"}.get(entry.finish_reason, "")
            cells = (
                entry.when[:16].replace("T", " "),
                figures.seconds(entry.seconds),
                _voices(entry),
                " ".join(entry.text.split())[:200] + ended,
            )
            table.add_row(*(Text(cell) for cell in cells))  # as text: [whisper] is no markup
        if entries:
            table.move_cursor(row=min(row, len(entries) - 1))
        else:
            self.query_one("#details", Static).update("Nothing yet. What you speak on the main screen is kept here.")
        self._describe()

    @property
    def current(self) -> HistoryEntry | None:
        row = self.query_one(DataTable).cursor_row
        return self.entries[row] if 0 <= row < len(self.entries) else None

    @on(DataTable.RowHighlighted)
    def _describe(self) -> None:
        entry = self.current
        if entry is None:
            return
        knobs = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in entry.options.items()) or "default options"
        self.query_one("#details", Static).update(
            f"{entry.text.strip()[:300]}\n\n{_voices(entry)} · seed {entry.seed} · {knobs} · {entry.model_name}\n"
            f"{entry.frames} frames · first sound {figures.seconds(entry.first_audio)} · RTF {figures.rtf(entry.rtf)}\n"
            f"$ {entry.command()[:400]}"
        )

    @on(DataTable.RowSelected)
    def _chosen(self) -> None:
        self.action_replay()

    def say(self, text: str) -> None:
        self.query_one("#said", Label).update(text)

    def action_replay(self) -> None:
        entry = self.current
        if entry is None:
            return
        self._hush()
        app = self.app

        def play(job: Job) -> None:
            samples, rate = app.history.sound(entry)
            replay = self._replay = Replay(samples, lambda: app.open_output(rate))
            replay.run(job)

        self._job = app.jobs.start(
            "replay", play, owner=self, done=lambda _: self.say(""), failed=lambda error: self.say(app.explain(error))
        )
        self.say("replaying  (esc stops)")

    def _hush(self) -> bool:
        """Stop the replay; True when there was one."""
        if self._job is None or self._job not in self.app.jobs.running:
            return False
        self._job.cancel.set()
        if self._replay:
            self._replay.stop()
        return True

    def action_again(self) -> None:
        if self.current:
            self._hush()
            self.dismiss(self.current)

    def action_export(self) -> None:
        entry = self.current
        if entry:
            self._saver.save(entry.text, lambda job: SoundToSave(*self.app.history.sound(entry)))

    def action_copy(self) -> None:
        entry = self.current
        if entry:
            self.app.copy_to_clipboard(entry.command())
            self.say("copied; if your terminal does not take it, the line is above")

    def action_delete(self) -> None:
        entry = self.current
        if entry:

            def done(_: Any) -> None:
                self.say("deleted: u brings it back")
                self.reload()

            self._hush()
            self.app.jobs.start("forget", lambda job: self.app.history.remove(entry), owner=self, done=done)

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        return self._can_undo if action == "undo" else True

    def action_undo(self) -> None:
        """Bring back what was deleted last, whenever that was."""

        def done(id: str | None) -> None:
            self.say("it is back" if id else "there is nothing to bring back")
            self.reload()

        self.app.jobs.start("bring back", lambda job: self.app.history.bring_back(), owner=self, done=done)

    def action_back(self) -> None:
        if self._hush():
            self.say("stopped")
        else:
            self.dismiss(None)

    def on_unmount(self) -> None:
        self._hush()


def _voices(entry: HistoryEntry) -> str:
    return ", ".join(entry.voices) or OWN
