"""The line of samples against a plain list."""

import numpy as np
import pytest

from s2mlx.audio.play.line import Line


@pytest.mark.parametrize("seed", range(20))
def test_like_a_list(seed):
    rng = np.random.default_rng(seed)
    line, everything, cursor, kept = Line(), np.zeros(0, np.float32), 0, 0
    for _ in range(200):
        action = rng.integers(4)
        if action == 0:
            piece = rng.standard_normal(int(rng.choice([0, 1, 5, 40]))).astype(np.float32)
            line.append(piece)
            everything = np.append(everything, piece)
        elif action == 1:
            most = int(rng.integers(0, 30))
            assert np.array_equal(line.take(most), everything[cursor : cursor + most])
            cursor = min(cursor + most, len(everything))
        elif action == 2:
            cursor = min(cursor, max(line._first, cursor - int(rng.integers(0, 25))))
            line.go_back_to(cursor)
        else:
            # Also beyond the cursor: what was not taken must stay.
            kept = max(kept, int(rng.integers(0, len(everything) + 20)))
            line.forget_before(kept)
        assert line.total == len(everything) and line.cursor == cursor and len(line) == len(everything) - cursor
        assert line._first <= cursor
        assert np.array_equal(line.since(cursor), everything[cursor:])
        assert sum(map(len, line._pieces)) == line.total - line._first


def test_forgetting_frees():
    line = Line()
    for _ in range(100):
        line.append(np.ones(10, np.float32))
        line.take(10)
        line.forget_before(line.cursor - 25)
    assert sum(map(len, line._pieces)) <= 40
