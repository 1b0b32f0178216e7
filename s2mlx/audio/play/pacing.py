"""How much sound to have in hand before it starts, so that it does not run dry. Numbers only.

With real-time factor r (wall time / audio time), R seconds of audio still to come and chunks of at most c seconds, the
k-th chunk arrives r * (G_k - B) after the start, G_k being all audio up to it and B what was there at the start; until
then G_k - c must last. The last chunk binds when r > 1: B >= R * (r - 1) + c. Otherwise the next: B >= r * c.
"""

from __future__ import annotations

MARGIN = 0.1  # s for the jitter of a busy machine
RTF_UNCERTAINTY = 1.05  # a factor measured on the first frames is that far off
UNKNOWN_RTF = 1.0
EVIDENCE = 0.2  # s of audio after the first piece before its pace is believed
UNKNOWN_LENGTH = 10.0  # s, when nobody says how long the speech will be


def seconds_needed(
    rtf: float | None, expected: float | None, received: float, largest_chunk: float, margin: float = MARGIN
) -> float:
    """Seconds of audio to have unplayed before starting, or starting again after a gap.

    expected: seconds of the whole speech; received: seconds that have arrived so far, played or not.
    An estimate that turned out short counts as a tenth of what came, so that a late gap does not repeat at once.
    """
    factor = RTF_UNCERTAINTY * (UNKNOWN_RTF if rtf is None else rtf)
    remaining = max((UNKNOWN_LENGTH if expected is None else expected) - received, 0.1 * received)
    return margin + factor * largest_chunk + max(0.0, factor - 1) * remaining


class Pace:
    """How fast the pieces of one speech arrive, and what follows for its start. Seconds throughout."""

    def __init__(self, rtf: float | None = None, expected: float | None = None):
        """rtf, expected: what the producer says of itself, if anything."""
        self.rtf, self.expected = rtf, expected
        self._received = self._largest = 0.0
        self._first: tuple[float, float] | None = None  # clock at the first piece, its length
        self._latest = 0.0

    def arrived(self, seconds: float, now: float) -> None:
        """A piece of that length has come."""
        self._received += seconds
        self._largest = max(self._largest, seconds)
        self._first = self._first or (now, seconds)
        self._latest = now

    @property
    def factor(self) -> float | None:
        """Time between arrivals over the audio they brought. Better than what one is told: that counts the time before
        the first piece, which is over, and is far too high at the beginning."""
        if self._first is None:
            return self.rtf
        since, before = self._first
        came = self._received - before
        return (self._latest - since) / came if came >= EVIDENCE else self.rtf

    def needed(self, margin: float) -> float:
        """Audio to have in hand now before starting."""
        return seconds_needed(self.factor, self.expected, self._received, self._largest, margin)
