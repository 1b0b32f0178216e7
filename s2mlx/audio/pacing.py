"""How much sound to have in hand before it starts, so that it does not run dry. Numbers only.

With real-time factor r (wall time / audio time), R seconds of audio still to come and chunks of at most c seconds, the
k-th chunk arrives r * (G_k - B) after the start, G_k being all audio up to it and B what was there at the start; until
then G_k - c must last. The last chunk binds when r > 1: B >= R * (r - 1) + c. Otherwise the next: B >= r * c.
"""

from __future__ import annotations

MARGIN = 0.1               # s for the jitter of a busy machine
RTF_UNCERTAINTY = 1.05     # a factor measured on the first frames is that far off
UNKNOWN_RTF = 1.0
UNKNOWN_LENGTH = 10.0      # s, when nobody says how long the speech will be


def seconds_needed(rtf: float | None, expected: float | None, received: float, largest_chunk: float,
                   margin: float = MARGIN) -> float:
    """Seconds of audio to have unplayed before starting, or starting again after a gap.

    expected: seconds of the whole speech; received: seconds that have arrived so far, played or not.
    An estimate that turned out short counts as a tenth of what came, so that a late gap does not repeat at once.
    """
    factor = RTF_UNCERTAINTY * (UNKNOWN_RTF if rtf is None else rtf)
    remaining = max((UNKNOWN_LENGTH if expected is None else expected) - received, 0.1 * received)
    return margin + factor * largest_chunk + max(0.0, factor - 1) * remaining
