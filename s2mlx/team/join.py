"""Which team this process belongs to, as `mlx.launch` has started it."""

from __future__ import annotations

import os
from typing import Any

from ..errors import S2Error
from .rounds import Rounds

# What the launchers of MLX's backends set: ring and jaccl, MPI, NCCL.
_SIGNS = ("MLX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


def in_team() -> bool:
    """Whether a launcher has started this process. Needs no MLX."""
    return any(name in os.environ for name in _SIGNS)


class Team:
    """rank: of this process, 0 leads. size: how many they are. rounds: how they talk, None for a team of one."""

    def __init__(self) -> None:
        import mlx.core as mx

        try:
            group = mx.distributed.init()
        except RuntimeError as fault:
            raise S2Error(f"the machines of the team do not find each other: {fault}") from fault
        self.rank, self.size = group.rank(), group.size()
        self.rounds: Rounds | None = Rounds(_Ring(group)) if self.size > 1 else None

    def close(self) -> None:
        """Let all end, if this one leads."""
        if self.rounds is not None and self.rank == 0:
            self.rounds.leave()


class _Ring:
    """A round as two collectives: how long each message is, then the messages, filled up to the longest."""

    def __init__(self, group: Any):
        self._group = group
        self._stream: Any = None  # of the thread that works the rounds

    def __call__(self, mine: bytes) -> list[bytes]:
        import mlx.core as mx
        import numpy as np

        stream = self._stream = self._stream or mx.new_stream(mx.cpu)
        gather = lambda x: np.array(mx.distributed.all_gather(mx.array(x), group=self._group, stream=stream))
        lengths = gather(np.array([len(mine)], np.int32))
        longest = int(lengths.max())
        if not longest:
            return [b""] * len(lengths)
        filled = np.zeros((1, longest), np.uint8)
        filled[0, : len(mine)] = np.frombuffer(mine, np.uint8)
        return [row[:length].tobytes() for row, length in zip(gather(filled), lengths)]
