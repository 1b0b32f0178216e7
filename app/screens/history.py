"""The history: every utterance, to hear again, save, make again with the same seed, or take to the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import DataTable, Input, Label, Static

from .. import figures
from ..jobs import Job
from ..speaking.audible import Replay
from ..state.history import HistoryEntry
from ..state.history_filter import HistoryFilter, next_voice
from ..widgets.key_line import KeyLine
from ..widgets.voice_list import OWN
from .base import HELP_KEYS, AppScreen
from .history_cleaning import CleanUp
from .sound_saver import SoundSaver, SoundToSave

WIDE = 110  # columns: names of voices have more room


class HistoryScreen(AppScreen[HistoryEntry | None]):
    """Dismissed with the utterance to speak again, or None."""

    CSS_PATH = "history.tcss"

    BINDINGS = [
        Binding("space", "replay", "Replay"),
        Binding("s", "again", "Again"),
        Binding("e", "export", "Export"),
        Binding("t", "take_text", "Text to editor"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("v", "voice", "Voice"),
        Binding("c", "copy", "Command", show=False),
        Binding("d,delete", "delete", "Delete"),
        Binding("u", "undo", "Undo"),
        Binding("o", "reveal", "Show the file", show=False),
        Binding("x", "clean_up", "Clean up", show=False),
        Binding("escape", "back", "Back"),
        *HELP_KEYS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[HistoryEntry] = []
        self.shown: list[HistoryEntry] = []  # those that the filter lets through
        self.filter = HistoryFilter()
        self._used = (0, 0)  # bytes on the disk: listed, in the bin
        self._replay: Replay | None = None
        self._job: Job | None = None  # of the replay
        self._can_undo = False
        self._saver = SoundSaver(self, self.say)

    def compose(self) -> ComposeResult:
        yield Label("History", classes="title", id="history-title", markup=False)
        yield Input(placeholder="words of the text, a voice, a day", id="search", compact=True)
        yield DataTable(id="entries", cursor_type="row", zebra_stripes=True)
        yield Static(id="details", markup=False)
        yield Label("", id="said", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#search").display = False
        table = self.query_one(DataTable)
        table.add_column("When", width=16)
        table.add_column("Length", width=7)
        table.add_column("Voice", width=17 if self.app.size.width < WIDE else 24)
        table.add_column("Text")
        table.focus()
        self.reload()

    def reload(self) -> None:
        def read(job: Job) -> tuple[list[HistoryEntry], bool, tuple[int, int]]:
            history = self.app.history
            return history.entries(), history.removed(), history.bytes_used()

        self.app.jobs.start("history", read, owner=self, done=lambda found: self._show(*found))

    def _show(self, entries: list[HistoryEntry], can_undo: bool, used: tuple[int, int]) -> None:
        self.app.tell_of_damage()
        self._can_undo, self._used = can_undo, used
        self.refresh_bindings()
        self.entries = entries
        self._list()

    def _list(self) -> None:
        """The utterances that the filter lets through."""
        table, self.shown = self.query_one(DataTable), [one for one in self.entries if self.filter.matches(one)]
        row = table.cursor_row
        self.query_one("#history-title", Label).update(self._title())
        table.clear()
        for entry in self.shown:
            ended = {"stop": "", "length": " (cut)", "cancelled": " (stopped)"}.get(entry.finish_reason, "")
            cells = (
                entry.when[:16].replace("T", " "),
                figures.seconds(entry.seconds),
                _voices(entry),
                " ".join(entry.text.split())[:200] + ended,
            )
            table.add_row(*(Text(cell) for cell in cells))  # as text: [whisper] is no markup
        if self.shown:
            table.move_cursor(row=min(row, len(self.shown) - 1))
        elif self.entries:
            self.query_one("#details", Static).update("Nothing like that. Escape shows all.")
        else:
            self.query_one("#details", Static).update("Nothing yet. What you speak on the main screen is kept here.")
        self._describe()

    def _title(self) -> str:
        count, (listed, binned) = len(self.entries), self._used
        of = f"{len(self.shown)} of {count}" if self.filter else str(count)
        voice = self.filter.voice
        whose = "" if voice is None else f" by {voice or OWN}"
        used = (f"{figures.size(listed)} on disk" if listed else "empty") + (
            f", {figures.size(binned)} in the bin" if binned else ""
        )
        return f"History · {of} utterance{'s' * (count != 1)}{whose} · {used}"

    @property
    def current(self) -> HistoryEntry | None:
        row = self.query_one(DataTable).cursor_row
        return self.shown[row] if 0 <= row < len(self.shown) else None

    @on(DataTable.RowHighlighted)
    def _describe(self) -> None:
        entry = self.current
        if entry is None:
            return
        knobs = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in entry.options.items()) or "default options"
        self.query_one("#details", Static).update(
            f"{entry.text.strip()[:300]}\n\n{_voices(entry)} · seed {entry.seed} · {knobs} · {entry.model_name}\n"
            f"{' · '.join(_measured(entry))}\n$ {entry.command()[:400]}"
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

    def action_take_text(self) -> None:
        """The text in place of the one in the editor, which undo brings back."""
        if self.current:
            self.app.main.editor.put(self.current.text)
            self.app.main.say("the text is in the editor; ctrl+z brings back the one that was there")
            self.dismiss(None)

    # which are shown

    def action_search(self) -> None:
        field = self.query_one("#search", Input)
        field.display = True
        field.focus()

    @on(Input.Changed, "#search")
    def _searched(self, event: Input.Changed) -> None:
        self._filter(replace(self.filter, words=event.value))

    @on(Input.Submitted, "#search")
    def _search_ended(self) -> None:
        self.query_one(DataTable).focus()

    def action_voice(self) -> None:
        """Those of the next voice only; after the last, those of all."""
        self._filter(replace(self.filter, voice=next_voice(self.entries, self.filter.voice)))

    def _filter(self, wanted: HistoryFilter) -> None:
        self.filter = wanted
        self._list()

    def _show_all(self) -> None:
        field = self.query_one("#search", Input)
        self._filter(HistoryFilter())
        with field.prevent(Input.Changed):
            field.value = ""
        field.display = False
        self.query_one(DataTable).focus()

    # on the disk

    def action_reveal(self) -> None:
        if self.current:
            path = self.app.history.path(self.current)

            def done(shown: bool) -> None:
                self.say(f"it is {path}")

            self.app.jobs.start("reveal", lambda job: self.app.studio.reveal(path), owner=self, done=done)

    def action_clean_up(self) -> None:
        self._hush()
        CleanUp(self, self.shown if self.filter else [], self.say, self.reload).ask(self.entries, self._used[1])

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

    def why_not(self, action: str, parameters: tuple) -> str:
        return "there is nothing to bring back: d deletes, u undoes that"

    def action_undo(self) -> None:
        """Bring back what was deleted last, whenever that was."""

        def done(id: str | None) -> None:
            self.say("it is back" if id else "there is nothing to bring back")
            self.reload()

        self.app.jobs.start("bring back", lambda job: self.app.history.bring_back(), owner=self, done=done)

    def action_back(self) -> None:
        if self._hush():
            self.say("stopped")
        elif self.filter or self.query_one("#search").display:
            self._show_all()
        else:
            self.dismiss(None)

    def on_unmount(self) -> None:
        self._hush()


def _measured(entry: HistoryEntry) -> Iterator[str]:
    """Those figures that there are."""
    yield f"{entry.frames} frames"
    if entry.first_audio is not None:
        yield f"first sound {figures.seconds(entry.first_audio)}"
    if entry.rtf is not None:
        yield f"RTF {figures.rtf(entry.rtf)}"


def _voices(entry: HistoryEntry) -> str:
    return ", ".join(entry.voices) or OWN
