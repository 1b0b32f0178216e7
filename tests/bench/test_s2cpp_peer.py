"""s2.cpp as a peer, played by a script that answers as its command does."""

import sys

import pytest

from tests.bench import compare_mlx_audio
from tests.bench.s2cpp_peer import seconds_a_frame

STAND_IN = """#!{python}
import sys, time, wave
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert set(given) == {{"-m", "-t", "-text", "-threads", "-max-tokens", "-o"}} and given["-threads"] == "2"
frames = {frames}
time.sleep(0.1 + 0.01 * frames)
with wave.open(given["-o"], "wb") as out:
    out.setnchannels(1); out.setsampwidth(2); out.setframerate(44100); out.writeframes(bytes(2 * 2048 * frames))
"""


@pytest.fixture
def play(tmp_path):
    def play(frames="int(given['-max-tokens'])", script=STAND_IN):
        binary = tmp_path / "s2"
        binary.write_text(script.format(python=sys.executable, frames=frames))
        binary.chmod(0o755)
        return seconds_a_frame(binary, tmp_path / "model.gguf", 2, 2, 12, 2)

    return play


def test_the_difference_of_two_runs_is_the_time_of_a_frame(play):
    turns = play()
    assert len(turns) == 2 and all(wall > 0 for wall, _ in turns)


def test_what_it_cannot_do_is_one_line(play, tmp_path):
    with pytest.raises(SystemExit, match="3 frames where 12 were asked for, 3 where 2 were"):
        play(frames="3")
    with pytest.raises(SystemExit, match="no sound, exit code 1: no such model"):
        play(script='#!{python}\nimport sys; sys.exit("loading\\nno such model")\n')
    with pytest.raises(SystemExit, match="No such file"):
        seconds_a_frame(tmp_path / "none", tmp_path / "model.gguf", 1, 1, 2, 1)


def test_the_table_has_a_third_column_when_there_is_a_third_peer():
    notes = [{"side": s, "stage": "ar", "memory": 1e9, "mlx": "1", "version": "2"} for s in ("peer", "ours")]
    both, third = ([(2.0, 2.0)], [(1.0, 1.0)]), [(0.5, 0.8)]
    plain = compare_mlx_audio._table([("AR", *both)], notes)
    assert "s2.cpp" not in plain and "| AR | 2.000 (2.000 to 2.000) | 1.000 (1.000 to 1.000) | 0.500 | 0.500 |" in plain
    lines = compare_mlx_audio._table([("AR", *both), ("codec, whole", *both)], notes, third).splitlines()
    assert lines[0].endswith("| s2.cpp | s2mlx / s2.cpp | of CPU time |") and lines[2].endswith("| - | - | - |")
    whole = "| AR and codec | 4.000 | 2.000 | 0.500 | 0.500 | 0.500 (0.500 to 0.500) | 4.000 | 2.500 |"
    assert lines[4] == whole
