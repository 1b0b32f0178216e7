"""A long stream is measured in a process of its own, and takes no more memory the longer it lasts."""

import pytest

from s2mlx.bench import endurance, synthetic
from s2mlx.errors import S2Error


def test_a_long_stream_holds_memory_flat(tmp_path):
    told = []
    model = synthetic.write_model(tmp_path, synthetic.tiny("q8_0"))
    marks = endurance.measure(model, 1, each=10, progress=told.append)
    assert [int(m["speech"] // 10) for m in marks] == [1, 2, 3, 4, 5, 6] and len(told) == 6
    assert all(a["took"] < b["took"] for a, b in zip(marks, marks[1:]))
    held = [m["active"] for m in marks]
    assert max(held[3:]) < 1.1 * max(held[:3])  # a cache more or less; a pass that stayed would add 5 %, each


def test_a_process_that_fails_says_why(tmp_path):
    with pytest.raises(S2Error, match="no model"):
        endurance.measure(tmp_path / "nothing.gguf", 1)
