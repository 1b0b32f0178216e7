"""`s2mlx convert` from outside: words, exit codes, signals."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def test_a_file_and_a_word_about_it(run, small, folder):
    result = run("convert", small(), folder / "made.gguf", "--type", "q4_k", tty=("stderr",))
    assert result.code == 0 and result.out == f"{folder / 'made.gguf'}\n"
    assert "MB/s" in result.err and "->" in result.err and "no codec" in result.err
    assert run("info", folder / "made.gguf", "--json").json["types"]["Q4_K"]["tensors"] == 14


def test_figures(run, small, folder):
    result = run("convert", small(), folder / "made.gguf", "--json")
    figures = result.json
    assert result.code == 0 and figures["type"] == "q8_0" and figures["seconds"] > 0
    assert figures["bytes"] == (folder / "made.gguf").stat().st_size
    assert figures["types"] == run("info", folder / "made.gguf", "--json").json["types"]


def test_notes_are_left_out_when_it_shall_be_quiet(run, small, folder):
    source = small(dim=64)
    assert "note: " in run("convert", source, folder / "one.gguf", "--type", "q4_k").err
    assert "note: " not in run("convert", source, folder / "two.gguf", "--type", "q4_k", "--quiet").err


@pytest.mark.parametrize(
    "words, code, reason",
    [
        (["source.gguf", "made.gguf", "--type", "q9"], 2, "no type 'q9'; known: f32"),
        (["source.gguf", "source.gguf"], 2, "the source itself"),
        (["source.gguf", "made.gguf", "--type", "f16"], 2, "is f16 already"),
        (["source.gguf", "made.guff"], 2, "ends in .gguf"),
        (["source.gguf", "made.bin"], 2, "ends in .gguf"),
        (["nowhere.gguf", "made.gguf"], 1, "nowhere.gguf"),
        (["source.gguf", "no/folder/made.gguf"], 1, "there is no folder"),
        (["source.gguf", "there.gguf"], 1, "there.gguf exists; --force"),
        (["source.gguf"], 2, "DST"),
    ],
)
def test_one_line_for_every_fault(run, small, folder, monkeypatch, words, code, reason):
    small()
    (folder / "there.gguf").write_bytes(b"")
    monkeypatch.chdir(folder)
    result = run("convert", *words)
    assert result.code == code and reason in result.error and result.err.count("\n") == 1
    assert sorted(os.listdir(folder)) == ["source.gguf", "there.gguf"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing(small, folder, sent):
    source = small(layers=4, type="f16", vocab=20000)
    words = ["convert", source, folder / "made.gguf", "--type", "q6_k"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"Traceback" not in err and out == b""
    assert os.listdir(folder) == ["source.gguf"]


# the command, with a pause after each piece and a word after the first
SLOWLY = """
import sys, time
from s2mlx.cli import convert
from s2mlx.cli.main import main
told = []
def show(self, done, total):
    if not told:
        told.append(print("begun", flush=True))
    time.sleep(0.02)
convert._ProgressLine.show = show
sys.exit(main())
"""


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from s2mlx.cli.main import main; main(['convert', '--help']);"
        "print('MODULES', *sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert not set(done.stdout.split("MODULES")[1].split()) & {"numpy", "mlx", "gguf", "tokenizers"}


def test_the_time_that_is_left(monkeypatch):
    """By the pace since the work began: not by what was read before, and not before there is a pace."""
    from s2mlx.cli import convert

    now, shown = [100.0], []
    monkeypatch.setattr(convert.time, "monotonic", lambda: now[0])
    line = convert._ProgressLine(SimpleNamespace(progress=shown.append))
    line.begin()
    line.show(1, 1000)
    assert shown == []
    now[0] = 110.0
    line.show(250_000_000, 1_000_000_000)
    assert shown == ["25 % of 1.0 GB, 25 MB/s, 30.0 s left"]
    now[0] = 110.1
    line.show(260_000_000, 1_000_000_000)
    assert len(shown) == 1


def test_a_tensor_does_not_wait_for_the_end_of_the_one_before(tmp_path, monkeypatch):
    """The workers have pieces of the next one already: else all but one of them idle at every end."""
    from s2mlx.convert import encode

    begun, waiting = [], []

    class Pool:
        def submit(self, call, data, kind, target, name):
            begun.append(name)
            return SimpleNamespace(result=lambda: waiting.append(list(begun)) or data)

    region = SimpleNamespace(release=lambda *_: None)
    tensor = lambda rows: SimpleNamespace(
        rows=np.zeros((rows, 8), np.uint8), shape=(rows, 4), nbytes=8 * rows, type=None, region=region
    )
    plan = [SimpleNamespace(name=name, tensor=tensor(2), kind=None, same=False) for name in "abc"]
    monkeypatch.setattr(encode, "PIECE", 4)
    monkeypatch.setattr(encode, "processors", lambda: 2)
    pieces = encode.Pieces(plan, Pool())
    made = [[read for _, read in pieces.of(planned)] for planned in plan]
    assert made == [[8, 8]] * 3 and begun == ["a", "a", "b", "b", "c", "c"]
    assert waiting[0] == ["a", "a", "b", "b"]
