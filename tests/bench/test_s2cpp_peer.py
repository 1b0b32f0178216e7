"""s2.cpp as a peer, played by a script that answers as its command does: options, log, sound, faults, exit codes."""

import sys

import pytest

from s2mlx.bench import synthetic
from tests.bench import compare_mlx_audio, compare_s2cpp
from tests.bench.s2cpp_peer import Spoken, seconds_a_frame, speak

# Options come in pairs, unknown ones pass unnoticed, and chance ends the speech after three frames unless told not to.
STAND_IN = """#!PYTHON
import os, sys, time, wave
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if not os.path.exists(given["-t"]):
    sys.stderr.write("Pipeline error: could not load tokenizer from " + given["-t"])
    sys.stderr.write("\\nPipeline initialization failed.\\n")
    sys.exit(1)
frames = min(int(given["-max-tokens"]), max(3, int(given.get("--min-tokens-before-end", 0))), MOST)
print("[Metrics] Init: tokenizer=500.000000 ms, codec=1999.000000 ms (CPU), total=2500.000000 ms, max_rss=2400.0 MB")
print("[Generate] Prefilling 31 tokens...")
time.sleep(0.1 + 0.01 * frames)
print("[Metrics] Generate: prefill=1250.5 ms, loop=1.25e+06 ms, total=1.25125e+06 ms, avg=104167 ms/frame")
print("[Metrics] Synthesis: frames=12, kv_init=1.0 ms, decode=749.000000 ms, decode_wall=750.000000 ms, total=9.0 ms")
with wave.open(given["-o"], "wb") as out:
    out.setnchannels(1); out.setsampwidth(2); out.setframerate(44100); out.writeframes(bytes(2 * 2048 * frames))
"""


@pytest.fixture
def play(tmp_path):
    """play(script) -> (command, model)"""
    (tmp_path / "tokenizer.json").write_text("{}")

    def play(script=STAND_IN, most="99"):
        binary = tmp_path / "s2"
        binary.write_text(script.replace("PYTHON", sys.executable).replace("MOST", most))
        binary.chmod(0o755)
        return binary, tmp_path / "model.gguf"

    return play


def test_the_difference_of_two_runs_is_the_time_of_a_frame(play):
    turns = seconds_a_frame(*play(), 2, 2, 12, 2)
    assert len(turns) == 2 and all(wall > 0 for wall, _ in turns)


def test_its_log_tells_of_its_parts(play):
    spoken = speak(*play(), 2, 12)
    assert spoken.parts == {"loading": 2.5, "prompt": 1.2505, "frames": 1250.0, "codec": 0.75}
    assert spoken.wall > 0.2 and spoken.cpu > 0
    quiet = "\n".join(line for line in STAND_IN.splitlines() if "Metrics" not in line)
    assert speak(*play(quiet), 2, 12).parts == {}


def test_what_it_cannot_do_is_one_line(play, tmp_path):
    with pytest.raises(SystemExit, match=r"s2: 5 frames where 12 were asked for$"):
        seconds_a_frame(*play(most="5"), 2, 2, 12, 1)
    aborts = "#!PYTHON\nimport os\nos.write(2, b'ggml.c:1: GGML_ASSERT(a) failed\\nat 0x1\\n')\nos.abort()\n"
    with pytest.raises(SystemExit, match=r"s2: no sound, exit code -6: ggml.c:1: GGML_ASSERT\(a\) failed$"):
        speak(*play(aborts), 2, 12)
    lacks = "[GGUF] missing key: a.b (using default 1)\n[Codec] missing tensor: c.d\nPipeline initialization failed."
    with pytest.raises(SystemExit, match=r"exit code 1: \[Codec\] missing tensor: c.d$"):
        speak(*play(f"#!PYTHON\nimport sys\nsys.exit({lacks!r})\n"), 2, 12)
    with pytest.raises(SystemExit, match="none: No such file"):
        speak(tmp_path / "none", tmp_path / "model.gguf", 1, 1)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(SystemExit, match=r"exit code 1: Pipeline error: could not load tokenizer from .*\.json$"):
        speak(*play(), 2, 12)


def test_the_table_has_a_third_column_when_there_is_a_third_peer():
    notes = [{"side": s, "stage": "ar", "memory": 1e9, "mlx": "1", "version": "2"} for s in ("peer", "ours")]
    both, third = ([(2.0, 2.0)], [(1.0, 1.0)]), [(0.5, 0.8)]
    plain = compare_mlx_audio._table([("AR", *both)], notes)
    assert "s2.cpp" not in plain and "| AR | 2.000 (2.000 to 2.000) | 1.000 (1.000 to 1.000) | 0.500 | 0.500 |" in plain
    lines = compare_mlx_audio._table([("AR", *both), ("codec, whole", *both)], notes, third).splitlines()
    assert lines[0].endswith("| s2.cpp | s2mlx / s2.cpp | of CPU time |") and lines[2].endswith("| - | - | - |")
    whole = "| AR and codec | 4.000 | 2.000 | 0.500 | 0.500 | 0.500 (0.500 to 0.500) | 4.000 | 2.500 |"
    assert lines[4] == whole


def test_our_command_speaks_the_same(tmp_path):
    model = synthetic.write_model(tmp_path, synthetic.tiny())
    spoken = compare_s2cpp.ours(model, 4)
    assert set(spoken.parts) == {"loading", "prompt", "frames"} and 0 < sum(spoken.parts.values()) < spoken.wall
    with pytest.raises(SystemExit, match="s2mlx: exit code 1: error: "):
        compare_s2cpp.ours(tmp_path / "none.gguf", 4)


def test_both_commands_in_a_table():
    theirs = Spoken(8.0, 12.0, {"loading": 2.0, "prompt": 1.0, "frames": 3.0, "codec": 1.0})
    ours = [Spoken(wall, 6.0, {"loading": 1.0, "prompt": 0.5, "frames": 2.0}) for wall in (4.0, 2.0, 6.0)]
    lines = compare_s2cpp.table([(theirs, one) for one in ours], 32).splitlines()
    assert lines[0] == "| seconds for 32 frames | s2.cpp | s2mlx | ratio |"
    assert lines[2:4] == [
        "| wall time | 8.00 (8.00 to 8.00) | 4.00 (2.00 to 6.00) | 0.50 |",
        "| CPU time | 12.00 (12.00 to 12.00) | 6.00 (6.00 to 6.00) | 0.50 |",
    ]
    assert lines[-1] == "| frames and codec | 4.00 (4.00 to 4.00) | 2.00 (2.00 to 2.00) | 0.50 |"
    silent = Spoken(8.0, 12.0, {})
    assert len(compare_s2cpp.table([(silent, ours[0])], 32).splitlines()) == 4
