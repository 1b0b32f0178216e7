"""The command: its options, one line when it is ready, and the bundled voice behind a real address."""

import importlib.util
import io
import json
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
from s2mlx.cli.serve import _names, _wyoming
from s2mlx.errors import ModelError
from s2mlx.weights.catalog import DEMO, find_model
from tests.cli.conftest import run  # noqa: F401 (a fixture)

from .client import Client

ROOT = Path(__file__).parents[2]
WYOMING = importlib.util.find_spec("wyoming") is not None


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
        (["--wyoming", "x"], "65535"),
        (["--wyoming", "::1:10200"], "brackets"),
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
        pytest.importorskip("wyoming")
        error = run("serve", "--port", "0", "--wyoming", taken.getsockname()[1]).error
        assert "another --wyoming may be free" in error and "--port" not in error
    assert "--wyoming no such" in run("serve", "--port", "0", "--wyoming", "no such host.invalid:0").error
    assert "--host" in run("serve", "--host", "no such host.invalid").error
    assert "no voice 'nobody'" in run("serve", "--port", "0", "-v", "nobody").error
    assert "no model" in run("serve", "--port", "0", "-m", "/no/such.gguf").error


def test_a_variable_that_names_no_recognizer_is_told_at_once(run, monkeypatch):
    monkeypatch.setenv("S2MLX_EAR", "trumpet")
    result = run("serve", "--port", "0", "-m", "/no/such.gguf")
    assert result.code == 2 and "no recognizer is called trumpet" in result.error


def test_wyoming_needs_its_package(run, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = run("serve", "--wyoming", "0")
    assert result.code == 2 and 'pip install "s2mlx[wyoming]"' in result.error and "\n" not in result.error


def test_what_the_network_is_told_must_be_within_its_reach(run):
    pytest.importorskip("wyoming", reason="needs wyoming: pip install 's2mlx[wyoming]'")
    pytest.importorskip("zeroconf", reason="needs zeroconf: pip install 's2mlx[wyoming]'")
    result = run("serve", "--port", "0", "--wyoming", "0", "--zeroconf")
    assert result.code == 2 and "--wyoming 0.0.0.0:10200" in result.error
    assert run("serve", "--port", "0", "--zeroconf").code == 2


def test_a_key_leaves_no_other_door_open(run, monkeypatch):
    """Wyoming knows none: it lets others in where that is said of itself only."""
    pytest.importorskip("wyoming")
    loads = []
    monkeypatch.setattr(model, "open_model", lambda *_: loads.append(1) or _nothing())
    monkeypatch.setenv("S2MLX_SERVE_API_KEY", "secret")
    result = run("serve", "--port", "0", "--host", "0.0.0.0", "--wyoming", "0")
    assert result.code == 2 and "Wyoming has no key" in result.error and "--wyoming 0.0.0.0:0" in result.error
    assert not loads and "secret" not in result.error
    for allowed in (["--wyoming", "0"], ["--host", "0.0.0.0", "--wyoming", "127.0.0.1:0"], ["--wyoming", "0.0.0.0:0"]):
        assert "nothing is loaded" in run("serve", "--port", "0", *allowed).error
    monkeypatch.delenv("S2MLX_SERVE_API_KEY")
    assert "nothing is loaded" in run("serve", "--port", "0", "--host", "0.0.0.0", "--wyoming", "0").error
    assert len(loads) == 4


def _nothing():
    raise ModelError("nothing is loaded")


@pytest.mark.parametrize(
    "word, meant", [("10200", (None, 10200)), ("0.0.0.0:1", ("0.0.0.0", 1)), ("[::1]:0", ("::1", 0))]
)
def test_where_wyoming_is_spoken(word, meant):
    assert _wyoming(word) == meant


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


def test_the_server_without_wyoming_needs_no_package():
    script = "import sys; import s2mlx.server.listener; print('MODULES', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert "wyoming" not in done.stdout.split("MODULES")[1].split()


def test_the_bundled_voice_speaks_and_a_signal_ends_it():
    try:
        find_model(DEMO)
    except ModelError as fault:
        pytest.skip(str(fault))
    reset = lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGTERM)]
    process = subprocess.Popen(
        [sys.executable, "-m", "s2mlx", "serve", "--port", "0", "--strict", *(["--wyoming", "0"] if WYOMING else [])],
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
        if WYOMING:
            words = process.stdout.readline().split()
            assert words[:2] == ["Wyoming", "at"]
            described(words[2].removeprefix("tcp://127.0.0.1:"))
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


def described(port):
    with socket.create_connection(("127.0.0.1", int(port)), 60) as client:
        client.sendall(b'{"type": "describe"}\n')
        with client.makefile("rb") as file:
            head = json.loads(file.readline())
            info = json.loads(file.read(head["data_length"]))
    [program] = info["tts"]
    assert program["supports_synthesize_streaming"] and program["description"] == "s2mlx with s2-nano"
    voices = {voice["name"]: voice["languages"] for voice in program["voices"]}
    assert voices["clara"] == ["en"] and "default" in voices
