"""A machine that speaks what it is given, and has nothing but its model."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import S2Error
from ..options import Options
from ..results import CANCELLED
from ..synthesizer import Synthesizer
from .leader import passes_of
from .rounds import Message, Rounds
from .same_model import fingerprint

if TYPE_CHECKING:
    from ..request.assigned import AssignedPasses


def follow(tts: Synthesizer, rounds: Rounds, rank: int) -> None:
    """Serve until the leader ends it, which is also when everything is done. Raises `TeamLost`."""
    rounds.say(kind="ready", model=fingerprint(tts.path))
    job: _Job | None = None
    try:
        while True:
            _, message = rounds.hear() or (0, {"kind": ""})
            kind = message["kind"]
            if kind == "leave":
                return
            if kind == "job":
                job = _Job(tts, rounds, message)
            elif kind == "passes" and job is not None and message["rank"] == rank:
                job.passes.add(passes_of(message))
            elif kind == "end" and job is not None:
                job.stop()
                job = None
    finally:
        if job is not None:
            job.stop()


class _Job:
    """One text of the leader's: `passes` takes those that are given, a thread says what became of them."""

    def __init__(self, tts: Synthesizer, rounds: Rounds, message: Message):
        from ..request.assigned import AssignedPasses

        self.passes: AssignedPasses = AssignedPasses(message["parts"])
        self._number = message["job"]
        self._cancel = threading.Event()
        options = Options(**message["options"])
        voices = [_voice(tts, one) for one in message["voices"]]
        chunks = tts.on_engine(
            lambda engine, going: engine.speak(self.passes, voices, options, options.seed or 0, going, silent=True),
            self._cancel,
        )
        threading.Thread(target=self._tell, args=(chunks, rounds), name="s2mlx-team-job", daemon=True).start()

    def stop(self) -> None:
        self._cancel.set()
        self.passes.end()

    def _tell(self, chunks: Any, rounds: Rounds) -> None:
        try:
            for chunk in chunks:
                if chunk.finish_reason != CANCELLED:
                    done = {"index": chunk.part, "codes": chunk.codes, "reason": chunk.finish_reason}
                    rounds.say(kind="codes", job=self._number, **done)
        except BaseException as fault:
            if not self._cancel.is_set():
                with suppress(RuntimeError):
                    why = str(fault) if isinstance(fault, S2Error) else f"an unexpected {type(fault).__name__}: {fault}"
                    rounds.say(kind="fault", job=self._number, why=why)


def _voice(tts: Synthesizer, given: dict[str, Any]) -> Any:
    from ..voices import Voice

    return Voice(given["codes"], given["transcript"], tts.sample_rate, tts.config.codebook_size)
