"""A part of the main screen: takes and history beside the text, where the terminal has room for them."""

from __future__ import annotations

from textual.containers import Vertical
from textual.content import Content

from .. import figures
from ..jobs import Job
from ..speaking.spoken_audio import Script
from ..state.history import HistoryEntry
from ..state.take_file import UnsavedTake
from ..widgets.side_list import SideList, SpokenList, TakeList
from .base import AppScreen

MOST = 100  # utterances that are listed here; the history has them all


class SidePanel(Vertical):
    """Has its lists, and reads the disk, only once it is shown."""

    screen: AppScreen

    def __init__(self) -> None:
        super().__init__(id="side")
        self.takes = TakeList("none: ^r records one", id="takes")
        self.spoken = SpokenList("nothing yet: ^s speaks the text", id="spoken")
        self._takes: dict[str, UnsavedTake] = {}
        self._entries: dict[str, HistoryEntry] = {}

    async def on_show(self) -> None:
        if not self.takes.is_attached:
            self.takes.border_title, self.spoken.border_title = "Takes", "History"
            self.takes.border_subtitle, self.spoken.border_subtitle = "^r records", "^t all of it"
            await self.mount(self.takes, self.spoken)
        self.reload()

    def reload(self) -> None:
        """Something was spoken, recorded or deleted."""
        if not self.display or not self.takes.is_attached:
            return
        app = self.screen.app

        def read(job: Job) -> tuple[list[UnsavedTake], list[HistoryEntry]]:
            return app.session.listed_takes(), app.history.entries()[:MOST]

        app.jobs.start("side", read, owner=self.screen, done=lambda found: self._show(*found))

    def _show(self, takes: list[UnsavedTake], entries: list[HistoryEntry]) -> None:
        self._takes = {str(take.file): take for take in takes}
        self._entries = {entry.id: entry for entry in entries}
        self.takes.show([(id, _take(take)) for id, take in self._takes.items()])
        self.spoken.show([(id, _entry(entry)) for id, entry in self._entries.items()])

    def on_side_list_line_asked(self, event: SideList.LineAsked) -> None:
        event.stop()
        app = self.screen.app
        if event.side is self.takes and (take := self._takes.get(event.id)):
            self._take_asked(take, event.what)
        elif entry := self._entries.get(event.id):
            if event.what == "again":
                app.main.requests.script(Script(entry.text, entry.voices, entry.speech_options()))
            elif event.what == "choose":
                app.main.editor.put(entry.text)
                app.main.say("the text is back; ctrl+z brings back the one that was here")
            else:
                self._listen(entry)

    def _take_asked(self, take: UnsavedTake, what: str) -> None:
        app = self.screen.app

        def done(whole: UnsavedTake | None) -> None:
            app.tell_of_damage()
            if whole is None:
                self.reload()
            elif what == "choose":
                app.recordings.review([whole])
            else:
                app.main.speech.play(whole.samples, whole.rate)

        app.jobs.start("read take", lambda job: app.session.whole(take), owner=self.screen, done=done)

    def _listen(self, entry: HistoryEntry) -> None:
        app = self.screen.app
        app.jobs.start(
            "read sound",
            lambda job: app.history.sound(entry),
            owner=self.screen,
            done=lambda sound: app.main.speech.play(*sound),
        )


def _take(take: UnsavedTake) -> Content:
    words = " ".join(take.transcript.split())
    return Content.assemble(
        (f"{len(take.samples) / take.rate:5.1f} s  ", "$faint"),
        take.name or "no name",
        ("  " + words, "$faint"),
    )


def _entry(entry: HistoryEntry) -> Content:
    voice = entry.voices[0] if entry.voices else "own"
    return Content.assemble(
        (f"{entry.when[11:16]:5} {figures.clock(entry.seconds):>5}  ", "$faint"),
        (f"{voice[:10]:<10}  ", "$speaking"),
        " ".join(entry.text.split())[:200],
    )
