"""The command as a process: signals, pipes, closed streams, what stdout holds, what --help imports."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from s2mlx.audio import pcm16, stream_wav_header

from ..fakes import FRAME, RATE

ROOT = Path(__file__).parents[2]
HEAVY = {
    "mlx",
    "numpy",
    "textual",
    "sounddevice",
    "soundfile",
    "soxr",
    "tokenizers",
    "huggingface_hub",
    "gguf",
    "rich",
    "transformers",
    "mlx_lm",
    "platformdirs",
    "asyncio",
    "http",
}


def command(*argv, fake=None, **options):
    """Popen of the command, with the fake engine when `fake` has its options."""
    module = "s2mlx" if fake is None else "tests.cli.fake_command"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **({"FAKE": fake} if fake else {})}
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    reset = lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGTERM)]
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, argv)], env=environment, preexec_fn=reset, **options
    )


def finished(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out, (err or b"").decode()


@pytest.mark.parametrize(
    "argv",
    [
        ["--help"],
        ["--version"],
        ["say", "--help"],
        ["record", "--help"],
        ["tui", "--help"],
        ["download", "--help"],
        ["info", "--help"],
        ["encode", "--help"],
        ["decode", "--help"],
        ["devices", "--help"],
        ["voice", "add", "--help"],
        ["say", "--bad"],
    ],
)
def test_help_imports_nothing_heavy(argv):
    script = (
        "import sys; from s2mlx.cli.main import main; code = main();"
        "print('MODULES', *sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script, *argv], capture_output=True, text=True, cwd=ROOT)
    loaded = set(done.stdout.split("MODULES")[1].split())
    assert not loaded & HEAVY


@pytest.mark.parametrize("before", [b"", b"something"])
def test_a_file_for_stdout_gets_its_length(tmp_path, before):
    """`-o - > file.wav`: players show how long it is."""
    path = tmp_path / "out.wav"
    with open(path, "wb") as file:
        file.write(before)
        file.flush()
        command("say", "One. Two.", "-o", "-", fake="{}", stdout=file).wait(60)
    data = path.read_bytes()
    path.write_bytes(data.removeprefix(before))
    assert data.startswith(before) and soundfile.info(path).frames == (len(data) - len(before) - 44) // 2 > 0


def test_what_is_appended_to_is_left_alone(tmp_path):
    path = tmp_path / "out.wav"
    path.write_bytes(b"kept")
    with open(path, "ab") as file:
        command("say", "One.", "-o", "-", fake="{}", stdout=file).wait(60)
    assert path.read_bytes().startswith(b"kept" + stream_wav_header(RATE))


def test_stdout_holds_sound_and_nothing_else():
    code, out, err = finished(command("say", "One. Two.", "-o", "-", fake='{"finish": "length"}'))
    assert code == 0 and out == stream_wav_header(RATE) + pcm16(np.full(6 * FRAME, 0.25, np.float32))
    assert "warning: " in err


def test_text_from_a_pipe():
    process = command("say", "-o", "-", "--raw", fake="{}", stdin=subprocess.PIPE)
    out, err = process.communicate(b"Eins. Zwei.", timeout=60)
    assert process.returncode == 0 and len(out) == 2 * 6 * FRAME


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_passes_that_ended(tmp_path, sent):
    process = command("say", "One. Two.", "-o", tmp_path / "out.wav", fake='{"delay": 0.05, "frames": 5}')
    while b"ready" not in (line := process.stderr.readline()):
        assert line
    for number in (sent, signal.SIGHUP, sent):  # as `timeout` or a closing terminal does
        process.send_signal(number)
    code, out, err = finished(process)
    assert code == 130 and "Traceback" not in err
    assert len(soundfile.read(tmp_path / "out.wav")[0]) == 5 * FRAME
    assert {*os.listdir(tmp_path)} - {"home"} == {"out.wav"}  # and no draft of it


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_sound(sent):
    process = command("say", "One.", fake="{}")
    while b"playing" not in (line := process.stderr.readline()):
        assert line
    process.send_signal(sent)
    code, out, err = finished(process)
    assert code == 130 and "stopped" in err and "Traceback" not in err


def test_a_closed_pipe_ends_quietly():
    process = command("say", "One. Two.", "-o", "-", "--raw", fake='{"frames": 200}')
    process.stdout.read(100)
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read().replace(b"ready\n", b"") == b""


def test_help_into_a_closed_pipe_ends_quietly():
    read, write = os.pipe()
    os.close(read)
    process = command("say", "--help", stdout=write)
    os.close(write)
    assert finished(process)[::2] == (0, "")


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_stream_is_no_crash(tmp_path, closed):
    line = f'exec "{sys.executable}" -m tests.cli.fake_command say One. -o "{tmp_path}/out.wav" {closed}>&-'
    done = subprocess.run(
        ["sh", "-c", line], cwd=ROOT, capture_output=True, timeout=60, env={**os.environ, "FAKE": "{}"}
    )
    assert done.returncode == 0 and (tmp_path / "out.wav").exists()
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr


def test_no_stdin_and_no_text_is_wrong_usage():
    line = f'exec "{sys.executable}" -m s2mlx say <&-'
    done = subprocess.run(["sh", "-c", line], cwd=ROOT, capture_output=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith(b"error: nothing to say")


def test_words_that_are_not_utf8():
    done = subprocess.run([sys.executable, "-m", "s2mlx", "say", b"caf\xe9"], cwd=ROOT, capture_output=True, timeout=60)
    code, err = done.returncode, done.stderr.decode()
    assert code == 2 and err == "error: the text is not valid UTF-8\n"


def test_a_terminal_that_cannot_print_it():
    done = subprocess.run(
        [sys.executable, "-m", "s2mlx", "say", "x", "-v", "日本"],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "XDG_DATA_HOME": "/nonexistent"},
    )
    assert done.returncode == 1 and done.stderr.startswith(b"error: ") and done.stderr.count(b"\n") == 1


def test_exit_codes():
    assert finished(command("nonsense"))[0] == 2
    assert finished(command())[0] == 2
    assert finished(command("--version"))[0] == 0
    code, out, err = finished(command("say", "Hello.", "-m", "/no/such/model.gguf", "-o", "/dev/null"))
    assert code == 1 and err.startswith("error: ") and err.count("\n") == 1 and out == b""
