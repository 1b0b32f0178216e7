"""Who speaks which pass of a text. Knows numbers and estimated seconds only."""

from __future__ import annotations

from collections.abc import Sequence

WINDOW = 64  # passes that may be ahead of the first one that is not done: what is ahead of it is kept in memory


class Shares:
    """seconds: estimated, of each pass. members: how many speak. depth: passes that each is given beforehand.

    A pass goes to whom the least is left to do, so a fast machine gets more of them: nobody waits for a slow one but
    at the end.
    """

    def __init__(self, seconds: Sequence[float], members: int, depth: int = 2):
        self._seconds, self._depth = list(seconds), depth
        self._given: list[dict[int, float]] = [{} for _ in range(members)]  # not done yet
        self._next, self._first_open = 0, 0
        self._done: set[int] = set()
        self.spoken = [0.0] * members  # seconds, estimated, of what each has done
        self.counts = [0] * members

    def hand_out(self) -> list[list[int]]:
        """The passes that each member gets now, in order."""
        gets: list[list[int]] = [[] for _ in self._given]
        while self._next < min(len(self._seconds), self._first_open + WINDOW):
            free = [member for member, given in enumerate(self._given) if len(given) < self._depth]
            if not free:
                break
            member = min(free, key=lambda one: (sum(self._given[one].values()), self.spoken[one], one))
            self._given[member][self._next] = self._seconds[self._next]
            gets[member].append(self._next)
            self._next += 1
        return gets

    def done(self, member: int, index: int) -> None:
        self.spoken[member] += self._given[member].pop(index)
        self.counts[member] += 1
        self._done.add(index)
        while self._first_open in self._done:
            self._done.remove(self._first_open)
            self._first_open += 1

    @property
    def finished(self) -> bool:
        return self._first_open == len(self._seconds)
