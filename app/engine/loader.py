"""The one loaded model: loading it, replacing it, waiting for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from s2mlx.errors import ModelError

from ..jobs import Job, JobCancelled, Jobs, aside
from ..state.settings import Settings
from .live_first import LiveFirst
from .protocols import SpeechEngine, Studio


class EngineLoader:
    """`changed()` is called on the interface thread whenever the state moves."""

    def __init__(self, studio: Studio, jobs: Jobs, changed: Callable[[], None]):
        self._studio, self._jobs, self._changed = studio, jobs, changed
        self._settled = threading.Event()  # loaded or failed
        self._job: Job | None = None
        self._begun = False  # before that the model counts as loading: it is about to
        self.engine: LiveFirst | None = None
        self.error: BaseException | None = None
        self.fraction: float | None = None

    @property
    def loading(self) -> bool:
        return self._job is not None or not self._begun

    def load(self, settings: Settings) -> None:
        """Load what the settings name, in place of what is there."""
        self._begun = True
        if self._job:
            self._job.cancel.set()
        if self.engine:
            aside(self.engine.close, "close")
        self.engine, self.error, self.fraction = None, None, None
        self._settled.clear()
        limit = settings.memory_limit_gb

        def work(job: Job) -> SpeechEngine:
            last = 0.0

            def progress(fraction: float) -> None:
                nonlocal last
                if job.cancel.is_set():
                    raise JobCancelled
                if fraction >= last + 0.01:
                    last = fraction
                    job.report(fraction)

            engine = self._studio.load(
                settings.model,
                tokenizer=settings.tokenizer,
                compat=settings.compat,
                memory_limit=int(limit * 1e9) if limit else None,
                on_progress=progress,
            )
            if job.cancel.is_set():
                engine.close()
                raise JobCancelled
            return engine

        self._job = job = self._jobs.start(
            "load",
            work,
            done=lambda engine: self._settle(job, engine, None),
            failed=lambda error: self._settle(job, None, error),
            progressed=lambda fraction, note: self._progress(job, fraction),
        )
        self._changed()

    def drop(self) -> None:
        """Give up loading."""
        if self._job:
            self._job.cancel.set()

    def wait(self, job: Job) -> LiveFirst:
        """The engine, for a job that needs it; waits while it loads. Raises ModelError."""
        while not self._settled.wait(0.05):
            if job.cancel.is_set():
                raise JobCancelled
        if self.engine is None:
            raise ModelError(f"no model is loaded ({self.error}); choose one in the settings")
        return self.engine

    def _progress(self, job: Job, fraction: float | None) -> None:
        if job is self._job:
            self.fraction = fraction
            self._changed()

    def _settle(self, job: Job, engine: SpeechEngine | None, error: BaseException | None) -> None:
        if job is not self._job:  # a later load has taken over
            if engine:
                aside(engine.close, "close")
            return
        self._job, self.engine, self.error = None, LiveFirst(engine) if engine else None, error
        self._settled.set()
        self._changed()
