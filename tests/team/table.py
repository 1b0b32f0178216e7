"""A team in one process: rounds without a network."""

import threading

from s2mlx.team.rounds import Rounds


class Table:
    """`rounds()` for each member; `break_up` makes the next round fail, as a lost machine does."""

    def __init__(self, size):
        self._said, self._size = [b""] * size, size
        self._all_said, self._all_heard = threading.Barrier(size), threading.Barrier(size)

    def rounds(self, **more):
        return [Rounds(lambda data, rank=rank: self._swap(rank, data), **more) for rank in range(self._size)]

    def break_up(self):
        self._all_said.abort()
        self._all_heard.abort()

    def _swap(self, rank, data):
        self._said[rank] = data
        self._all_said.wait(30)
        heard = list(self._said)
        self._all_heard.wait(30)
        return heard
