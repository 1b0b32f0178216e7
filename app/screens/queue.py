"""The queue of long texts: which wait, how far the one under way is, what failed and why."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Label

from s2mlx.files import read_text_file

from .. import figures
from ..paths import TEXTS, readable, typed
from ..speaking.reading_desk import ReadingDesk
from ..state.reading import Reading
from ..widgets.key_line import KeyLine
from ..widgets.progress_line import ProgressLine
from ..widgets.queue_list import QueueList
from ..widgets.voice_list import OWN
from .base import HELP_KEYS, AppScreen
from .casting import script_of
from .form import Field, Form
from .long_texts import show_parts

LARGEST_FILE = 4 << 20  # bytes


class QueueScreen(AppScreen[None]):
    CSS_PATH = "queue.tcss"
    BINDINGS = [
        Binding("a", "add_text", "Add the text"),
        Binding("f", "add_file", "Add a file"),
        Binding("m", "make", "Make, stop"),
        Binding("d,delete", "delete", "Remove"),
        Binding("u", "undo", "Undo"),
        Binding("shift+up", "move(-1)", "Earlier", show=False),
        Binding("shift+down", "move(1)", "Later", show=False),
        Binding("escape", "app.pop_screen", "Back"),
        *HELP_KEYS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.list = QueueList(id="queue")
        self.bar = ProgressLine(id="queue-bar")

    def compose(self) -> ComposeResult:
        yield Label("Queue of long texts", classes="title")
        yield self.bar
        yield self.list
        yield Label("", id="said", markup=False)
        yield KeyLine()

    @property
    def desk(self) -> ReadingDesk:
        return self.app.desk

    @property
    def current(self) -> Reading | None:
        return next((one for one in self.desk.queue if one.id == self.list.current), None)

    def on_mount(self) -> None:
        self.desk.watchers.append(self._changed)
        self.desk.load()
        self.list.focus()
        self.say("a adds the text of the editor, f a file; m makes what waits, unheard; enter shows the parts")

    def on_unmount(self) -> None:
        self.desk.watchers.remove(self._changed)

    def say(self, text: str) -> None:
        self.query_one("#said", Label).update(text)

    def _changed(self) -> None:
        desk = self.desk
        self.list.show([(one.id, self._row(one)) for one in desk.queue])
        making = desk.current and desk.now(desk.current)
        waiting = sum(one.wanted and not desk.is_made(one) for one in desk.queue)
        if making:
            found = desk.estimate(making)
            left = "making" if found.left is None else f"{figures.clock(found.left)} left of this one"
            share = found.made / found.whole if found.whole else 0.0
            self.bar.show(share, f"{left} · {waiting - 1} wait" if waiting > 1 else left, "$speaking")
        else:
            done = sum(desk.is_made(one) for one in desk.queue)
            self.bar.show(
                done / len(desk.queue) if desk.queue else 0.0,
                f"{done} of {len(desk.queue)} are made" + (f" · {waiting} wait: m goes on" if waiting else ""),
                "$paused" if waiting else "$done",
            )
        self.refresh_bindings()

    def _row(self, reading: Reading) -> Content:
        desk, count = self.desk, len(reading.parts)
        made = desk.made.get(reading.id, 0)
        if reading.trouble:  # also of one whose parts are there, and whose file could not be written
            sign, style, state = "✗", "$failed", f"failed: {reading.trouble}"
        elif made >= count:
            sign, style, state = "✓", "$done", "done"
        elif desk.is_making(reading):
            waits = (maker := desk.maker_of(reading)) is not None and maker.waits
            sign, style, state = "▶", "$speaking", "steps aside" if waits else f"part {min(count, made + 1)} of {count}"
        elif reading.wanted:
            sign, style, state = "◌", "$paused", "waits" if desk.is_going(reading) else "waits for m"
        else:
            sign, style, state = "‖" if made else "·", "$faint", "stopped" if made else "not begun"
        of = f"{made}/{count}"
        voice = ", ".join(reading.voices) or OWN
        return Content.assemble(
            (f"{sign} ", style),
            f"{of:>9}  ",
            (f"{state[:60]:<18}", style),
            " ",
            (f"{voice[:12]:<12}  ", "$speaking"),
            reading.title,
            (f"  → {reading.folder}" if reading.folder else "", "$faint"),
        )

    @on(QueueList.OptionSelected, "#queue")
    def _entered(self, event: QueueList.OptionSelected) -> None:
        if self.current:
            show_parts(self.app, self.current)

    # what the user asks for

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        return self.current is not None if action in ("make", "delete", "move") else True

    def why_not(self, action: str, parameters: tuple) -> str:
        return "the queue is empty: a puts the text of the editor into it, f a file"

    def action_add_text(self) -> None:
        self._add(self.app.main.editor.text, "", None)

    def action_add_file(self) -> None:
        fields = [
            Field("path", "Text file (.txt, .md)"),
            Field("folder", "Folder for the sound, or nothing: it stays here", hint="~/Audiobooks"),
        ]

        def check(values: dict) -> str:
            folder = values["folder"].strip()
            if trouble := readable(values):
                return trouble
            if typed(values["path"]).suffix.lower() not in TEXTS:
                return f"the name must end in {', '.join(TEXTS)}"
            return f"there is no folder {typed(folder)}" if folder and not typed(folder).is_dir() else ""

        def chosen(values: dict | None) -> None:
            if values is None:
                return
            path, folder = typed(values["path"]), values["folder"].strip()
            self.app.jobs.start(
                "open",
                lambda job: read_text_file(path, LARGEST_FILE),
                owner=self,
                done=lambda text: self._add(text, path.stem, str(typed(folder).absolute()) if folder else None),
            )

        self.app.push_screen(Form("Add a text file to the queue", fields, "Add", check), chosen)

    def _add(self, text: str, title: str, folder: str | None) -> None:
        from s2mlx.text import clean_text, has_words

        text = clean_text(text)
        if not has_words(text):
            self.say("there is no word to say in it")
            return
        script = script_of(self.app.main, text)
        if script is None:
            self.say(self.app.main.situation.remark or "a speaker has no voice")
            return

        self.desk.plan(
            text,
            script.names,
            script.options,
            lambda reading: self.say(f"“{reading.title}” waits: {len(reading.parts)} parts"),
            folder=folder,
            title=title,
            wanted=True,
        )

    def action_make(self) -> None:
        reading = self.current
        if reading is None:
            return
        waiting = any(one.wanted for one in self.desk.queue)
        is_done = self.desk.is_made(reading) and not reading.trouble
        if is_done and waiting and not self.desk.current:
            self.desk.make()
            self.say("goes on with what waits")
        elif is_done:
            self.say("all of it is there: enter shows its parts, e there exports it")
        elif self.desk.is_going(reading):
            self.desk.stop(reading)
            self.say("stopped: what is there stays; m goes on")
        else:
            self.desk.make(reading)

    def action_delete(self) -> None:
        if self.current:
            self.desk.remove(self.current, lambda: self.say("removed: u brings it back"))

    def action_undo(self) -> None:
        self.desk.bring_back(lambda id: self.say("it is back" if id else "there is nothing to bring back"))

    def action_move(self, by: int) -> None:
        if self.current:
            self.desk.move(self.current, by)
