"""Where a piece of a text stands after the text was edited around it."""

from __future__ import annotations

from collections.abc import Callable


class MovedText:
    """What has changed from one text to another: one stretch between a common begin and a common end."""

    def __init__(self, before: str, after: str):
        self._same = before == after
        most = min(len(before), len(after))
        self._head = most if self._same else _common(lambda n: before[:n] == after[:n], most)
        tail = lambda n: before[len(before) - n :] == after[len(after) - n :]
        self._tail = len(before) - (0 if self._same else _common(tail, most - self._head))
        self._shift = len(after) - len(before)

    @property
    def end_of_change(self) -> int:
        """Where in the text after the changed stretch ends."""
        return self._tail + self._shift

    def find(self, span: tuple[int, int]) -> tuple[int, int] | None:
        """Characters [begin, end) of the text before, as they stand now; None where something in them has changed."""
        if span[1] <= self._head:
            return span
        if span[0] >= self._tail:
            return span[0] + self._shift, span[1] + self._shift
        return None


def _common(holds: Callable[[int], bool], most: int) -> int:
    """The largest n up to `most` for which it holds: it does for 0, and for each below that n."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if holds(middle):
            least = middle
        else:
            most = middle - 1
    return least
