"""The models: those on this machine and those that can be fetched, what each needs, and the fetching itself."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import DataTable, Label, ProgressBar, Static

from .. import figures
from ..engine.model_offers import ModelOffer
from ..jobs import Job, JobCancelled
from ..widgets.key_line import KeyLine
from .base import HELP_KEYS, AppScreen

STEP = 0.002  # of a download, between two pictures of it


class ModelsScreen(AppScreen[None]):
    """Enter takes the highlighted model; one that is not there is fetched first."""

    CSS_PATH = "models.tcss"
    BINDINGS = [
        Binding("enter", "take", "Use it, or fetch it"),
        Binding("escape", "back", "Stop/back"),
        *HELP_KEYS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.offers: list[ModelOffer] = []
        self._memory = 0  # bytes of this machine
        self._fetching: Job | None = None
        self._fetched = ""  # the name of what is being fetched

    def compose(self) -> ComposeResult:
        yield Label("Models", classes="title", id="models-title", markup=False)
        yield DataTable(id="models", cursor_type="row", zebra_stripes=True)
        yield Static(id="model-details", markup=False)
        yield ProgressBar(id="fetching", show_eta=True)
        yield Label("", id="said", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        for title, width in (("", 1), ("Model", 22), ("Where", 14), ("Download", 9), ("Memory", 9), ("Here", 12)):
            table.add_column(title, width=width)
        table.focus()
        self.query_one(ProgressBar).display = False
        self.say("looking for models")
        self.reload()

    def say(self, text: str) -> None:
        self.query_one("#said", Label).update(text)

    def reload(self) -> None:
        studio = self.app.studio

        def look(job: Job) -> tuple[list[ModelOffer], int]:
            return list(studio.model_offers()), studio.memory()

        self.app.jobs.start("models", look, owner=self, done=lambda found: self._show(*found))

    def _show(self, offers: Sequence[ModelOffer], memory: int) -> None:
        table, first = self.query_one(DataTable), not self.offers
        if first:
            self.say("")
        row = table.cursor_row
        self.offers, self._memory = list(offers), memory
        self.query_one("#models-title", Label).update(
            f"Models · this machine has {figures.size(memory)} of memory" if memory else "Models"
        )
        table.clear()
        for offer in offers:
            table.add_row(*(Text(cell) for cell in self._cells(offer)))
        names = [offer.name for offer in offers]
        chosen = self.app.settings.model
        if first and chosen in names:
            row = names.index(chosen)
        table.move_cursor(row=min(row, len(offers) - 1))
        self._describe()

    def _cells(self, offer: ModelOffer) -> tuple[str, ...]:
        engine = self.app.loader.engine
        loaded = engine is not None and offer.path is not None and str(engine.path) == str(offer.path)
        where = "loaded" if loaded else "here" if offer.path else "to fetch"
        fits = {True: "fits", False: "too large", None: ""}[offer.fits(self._memory)]
        fetched, needed = (figures.size(count) if count else "" for count in (offer.fetched, offer.needed))
        return ("▸" if loaded else "", offer.name, where, fetched, needed, fits)

    @property
    def current(self) -> ModelOffer | None:
        row = self.query_one(DataTable).cursor_row
        return self.offers[row] if 0 <= row < len(self.offers) else None

    @on(DataTable.RowHighlighted)
    def _describe(self) -> None:
        offer = self.current
        if offer:
            needs = f"it needs {figures.size(offer.needed)} of memory while it speaks" if offer.needed else ""
            if offer.fits(self._memory) is False:
                needs += ", more than this machine can spare: it may be slow, or fail for want of memory"
            what = (
                f"enter takes it: {offer.path}"
                if offer.path
                else f"enter fetches {figures.size(offer.fetched) if offer.fetched else 'it'}"
            )
            lines = [what, needs, offer.licence]
            self.query_one("#model-details", Static).update("\n".join(filter(None, lines)))

    @on(DataTable.RowSelected)
    def _chosen(self) -> None:
        self.action_take()

    # what the user asks for

    def action_take(self) -> None:
        offer = self.current
        if offer is None:
            return
        if offer.path is None:
            self._fetch(offer)
        else:
            self._use(offer.name)

    def _use(self, name: str) -> None:
        self.app.change(model=name)
        self.app.loader.load(self.app.settings)
        self.dismiss(None)

    def _fetch(self, offer: ModelOffer) -> None:
        if self._fetching:
            self.say(f"{self._fetched} is being fetched; escape stops it")
            return
        studio, bar = self.app.studio, self.query_one(ProgressBar)
        last = 0.0

        def work(job: Job) -> None:
            def progress(done: int, total: int) -> None:
                nonlocal last
                if job.cancel.is_set():
                    raise JobCancelled
                share = done / total if total else 0.0
                if share >= last + STEP or share == 1:
                    last = share
                    job.report(share, f"{figures.size(done)} of {figures.size(total)}" if total else figures.size(done))

            studio.fetch_model(offer.name, progress)
            if job.cancel.is_set():
                raise JobCancelled

        def progressed(share: float | None, note: str) -> None:
            bar.update(total=1.0, progress=share or 0.0)
            self.say(f"fetching {offer.name}: {note}  (esc stops; it goes on from there the next time)")

        def ended(words: str) -> None:
            self._fetching, bar.display = None, False
            self.say(words)
            self.reload()

        bar.display, self._fetched = True, offer.name
        bar.update(total=None)
        self.say(f"fetching {offer.name}: asking the hub")
        self._fetching = self.app.jobs.start(
            "fetch",
            work,
            owner=self,
            done=lambda _: ended(f"{offer.name} is here: enter takes it"),
            failed=lambda error: ended(
                f"{offer.name}: stopped; enter goes on" if isinstance(error, JobCancelled) else self.app.explain(error)
            ),
            progressed=progressed,
        )

    def action_back(self) -> None:
        if self._fetching and not self._fetching.cancel.is_set():
            self._fetching.cancel.set()
            self.say("stopping")
        else:
            self.dismiss(None)

    def on_unmount(self) -> None:
        if self._fetching:
            self._fetching.cancel.set()
