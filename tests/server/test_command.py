"""The command: its options, one line when it is ready, and the bundled voice behind a real address."""

import io
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import soundfile

from s2mlx.cli import model
from s2mlx.cli.serve import _names
from s2mlx.errors import ModelError
from s2mlx.weights.catalog import DEMO, find_model
from tests.cli.conftest import run  # noqa: F401 (a fixture)

from .client import Client

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith("S2MLX_"):
            monkeypatch.delenv(name)
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


@pytest.mark.parametrize(
    "argv, words",
    [
        (["--port", "65536"], "65535"),
        (["--port", "x"], "65535"),
        (["--queue", "-1"], "0 or more"),
        (["--api-key", " "], "empty"),
        (["--cors", "example.org"], "origin"),
        (["--cors", "https://example.org/"], "origin"),
        (["words"], "words"),
    ],
)
def test_wrong_usage(run, argv, words):
    result = run("serve", *argv)
    assert result.code == 2 and words in result.error


@pytest.mark.parametrize("empty", ["", " ", "\n"])
def test_an_empty_key_from_the_environment_is_no_open_door(run, monkeypatch, empty):
    monkeypatch.setenv("S2MLX_SERVE_API_KEY", empty)
    result = run("serve", "--port", "0")
    assert result.code == 2 and "S2MLX_SERVE_API_KEY is empty" in result.error


def test_faults_before_the_model_is_loaded(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "--port" in run("serve", "--port", taken.getsockname()[1]).error
    assert "--host" in run("serve", "--host", "no such host.invalid").error
    assert "no voice 'nobody'" in run("serve", "--port", "0", "-v", "nobody").error
    assert "no model" in run("serve", "--port", "0", "-m", "/no/such.gguf").error


@pytest.mark.parametrize(
    "path, given, name",
    [
        ("/m/s2-pro-q6_k.gguf", None, "s2-pro-q6_k"),
        ("/m/s2-pro-q6_k.gguf", "s2-pro-q6_k", "s2-pro-q6_k"),
        ("/cache/0123abc", "fishaudio/s2-pro", "fishaudio/s2-pro"),
        ("/", "/", "S2"),
        ("/cache/0123abc", None, "S2"),
    ],
)
def test_what_the_model_is_called(path, given, name):
    called, also = _names(SimpleNamespace(path=path, name="S2"), given)
    assert called == name and "S2" in also and (given is None or given in also)


def test_help_imports_nothing_heavy():
    script = "import sys; from s2mlx.cli.main import main; main(); print('MODULES', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script, "serve", "--help"], capture_output=True, text=True, cwd=ROOT)
    assert "POST /v1/audio/speech" in done.stdout
    assert not {"mlx", "numpy", "http", "socketserver"} & set(done.stdout.split("MODULES")[1].split())


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_what_a_supervisor_ends_has_not_failed(run, monkeypatch, number, code):
    """At any time, while the model is loaded too. Who presses Ctrl-C in a script ends the script."""

    def load(*_):
        os.kill(os.getpid(), number)
        time.sleep(10)

    monkeypatch.setattr(model, "open_model", load)
    assert run("serve", "--port", "0").code == code


def test_the_bundled_voice_speaks_and_a_signal_ends_it():
    try:
        find_model(DEMO)
    except ModelError as fault:
        pytest.skip(str(fault))
    reset = lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGTERM)]
    process = subprocess.Popen(
        [sys.executable, "-m", "s2mlx", "serve", "--port", "0", "--strict"],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=reset,
        env={**os.environ, "S2MLX_SERVE_API_KEY": "secret"},
    )
    try:
        words = process.stdout.readline().split()
        assert words[:3] == ["serving", "s2-nano", "at"]
        address = ("127.0.0.1", int(words[3].rpartition(":")[2].removesuffix("/v1")))
        with Client(address) as client:
            assert client.ask("/v1/models").status == 401
            answer = client.post(
                {"voice": "clara", "input": "Good morning.", "response_format": "flac", "seed": 1},
                Authorization="Bearer secret",
            ).answer()
            samples, rate = soundfile.read(io.BytesIO(answer.body))
            assert rate == 22050 and 0.4 < len(samples) / rate < 4 and abs(samples).max() > 0.05
            assert client.post({"input": "Hi.", "stream": True}, Authorization="Bearer secret").answer().status == 400
            client.post(
                {"input": "A long text. " * 200, "voice": "clara", "response_format": "pcm"},
                Authorization="Bearer secret",
            )
            assert client.head()[0] == 200 and client.chunk()
            process.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionError):
                while client.chunk():
                    pass
        out, err = process.communicate(timeout=30)
        # what a supervisor ends has not failed
        assert process.returncode == 0 and out == "" and "Traceback" not in err and "secret" not in err
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, 5)
    finally:
        process.kill()
