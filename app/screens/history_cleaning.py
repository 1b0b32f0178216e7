"""What of the history may go: the old, what a filter found, and what is in the bin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .. import figures
from ..jobs import Job
from ..state.history import HistoryEntry
from .base import AppScreen
from .choice import Choice

if TYPE_CHECKING:
    from ..app import S2App

AGES = (("a day", 1), ("a week", 7), ("a month", 30))


@dataclass(frozen=True)
class Sweep:
    """`entries` go into the bin; none of them: the bin is emptied for good."""

    what: str
    entries: tuple[HistoryEntry, ...] = ()


def sweeps(entries: Sequence[HistoryEntry], found: Sequence[HistoryEntry], binned: int, now: datetime) -> list[Sweep]:
    """What can be offered. `found`: what a filter shows; `binned`: bytes in the bin."""
    offers = [Sweep(f"what is shown now: {len(found)}", tuple(found))] if found else []
    for words, days in AGES:
        day = (now - timedelta(days=days)).isoformat()
        old = tuple(entry for entry in entries if entry.when and entry.when < day)
        if old:
            offers.append(Sweep(f"older than {words}: {len(old)}", old))
    if binned:
        offers.append(Sweep(f"what is in the bin: {figures.size(binned)}, for good"))
    return offers


class CleanUp:
    """Asks above `screen`; `say(line)` tells of it, and `changed()` follows. `found`: what a filter shows."""

    def __init__(
        self,
        screen: AppScreen,
        found: Sequence[HistoryEntry],
        say: Callable[[str], None],
        changed: Callable[[], None],
    ):
        self._screen, self._found, self._say, self._changed = screen, found, say, changed

    @property
    def _app(self) -> S2App:
        return self._screen.app

    def ask(self, entries: Sequence[HistoryEntry], binned: int) -> None:
        offers = sweeps(entries, self._found, binned, datetime.now())
        if not offers:
            self._say("nothing here is older than a day, and the bin is empty")
            return
        self._app.push_screen(
            Choice("Delete", [offer.what for offer in offers]),
            lambda at: None if at is None else self._sweep(offers[at]),
        )

    def _sweep(self, offer: Sweep) -> None:
        history = self._app.history

        def work(job: Job) -> None:
            if offer.entries:
                history.remove(*offer.entries)
            else:
                history.empty_bin()

        def done(_: None) -> None:
            count = len(offer.entries)
            self._say(f"{count} deleted: u brings them back" if count else "the bin is empty")
            self._changed()

        self._app.jobs.start("clean up", work, owner=self._screen, done=done)
