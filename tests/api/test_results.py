"""What came of a request: its passes, how it ended, and the corrections of the whole."""

import numpy as np
import pytest

from s2mlx.options import Options
from s2mlx.results import CANCELLED, LENGTH, STOP, AudioChunk, Pass, Stats, Tally, corrected, ended_at_once, worst

RATE = 1000


def chunk(part, frames, samples, reason=None):
    return AudioChunk(
        np.zeros(samples, np.float32),
        RATE,
        np.zeros((10, frames), np.int32),
        part,
        2,
        (part * 5, part * 5 + 5),
        Stats(seed=9, frames=frames),
        reason,
    )


@pytest.mark.parametrize(
    "reasons, whole",
    [
        ([STOP], STOP),
        ([STOP, LENGTH, STOP], LENGTH),
        ([LENGTH, CANCELLED], CANCELLED),
        ([], CANCELLED),
    ],
)
def test_the_whole_ends_as_its_worst_pass(reasons, whole):
    assert worst(reasons) == whole == worst(iter(reasons))


def test_a_tally_counts_passes():
    tally = Tally()
    assert tally.finish_reason == CANCELLED and tally.frames == 0
    for piece in (chunk(0, 1, 40), chunk(0, 2, 80, LENGTH), chunk(1, 0, 0), chunk(1, 3, 120, STOP)):
        tally.add(piece)
    assert tally.passes == [Pass(0, (0, 5), 3, LENGTH, 0.12), Pass(1, (5, 10), 3, STOP, 0.12)]
    assert (tally.frames, tally.finish_reason, tally.stats.seed) == (6, LENGTH, 9)
    assert tally.seconds == pytest.approx(0.24) and tally.cut == tally.passes[:1]


def test_corrections_of_the_whole():
    samples = np.concatenate([np.full(500, 0.5, np.float32), np.zeros(500, np.float32)])
    assert corrected(samples, RATE, Options()) is samples
    assert len(corrected(samples, RATE, Options(trim=True))) == 550
    assert corrected(samples, RATE, Options(normalize=True)).max() == pytest.approx(0.95)
    both = corrected(samples, RATE, Options(trim=True, normalize=True))
    assert len(both) == 550 and both.max() == pytest.approx(0.95)
    assert Options(trim=True).needs_whole and Options(normalize=True).needs_whole and not Options().needs_whole


def test_speech_without_a_frame_is_told_with_the_knobs_of_who_asked():
    assert str(ended_at_once()) == "the model ended the speech at once; try another seed, or min_frames 20"
    assert str(ended_at_once("try --seed")) == "the model ended the speech at once; try --seed"
