"""The command on a real engine: a tiny model with random weights, whose noise is as reproducible as speech."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.synthetic import make_model

ROOT = Path(__file__).parents[2]
TOKENIZER = ROOT / "tests" / "golden" / "tokenizer.json"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model") / "tiny.gguf", context=2048)


@pytest.fixture(autouse=True)
def configured(model, monkeypatch):
    monkeypatch.setenv("S2MLX_MODEL", str(model))
    monkeypatch.setenv("S2MLX_TOKENIZER", str(TOKENIZER))
    monkeypatch.setenv("S2MLX_MIN_FRAMES", "4")
    monkeypatch.setenv("S2MLX_MAX_FRAMES", "6")


@pytest.fixture
def clip(tmp_path):
    rng = np.random.default_rng(1)
    soundfile.write(tmp_path / "clip.wav", rng.uniform(-0.3, 0.3, 24000).astype(np.float32), 24000)
    return "clip.wav"


def test_a_seed_gives_the_same_file_stream_and_codes(run, tmp_path):
    figures = run("say", "Hello.", "-o", "a.wav", "--codes", "a.npy", "--seed", "5", "--json").json
    assert figures["seed"] == 5 and 4 <= figures["frames"] <= 6 and figures["peak_memory"] > 0
    streamed = run("say", "Hello.", "-o", "-", "--raw", "--codes", "b.npy", "--seed", "5").stdout
    codes = np.load(tmp_path / "a.npy")
    assert codes.shape == (10, figures["frames"]) and np.array_equal(codes, np.load(tmp_path / "b.npy"))
    samples, rate = soundfile.read(tmp_path / "a.wav", dtype="int16")
    assert rate == 44100 and len(samples) == 2048 * codes.shape[1]
    assert np.abs(samples - np.frombuffer(streamed, "<i2").astype(int)).max() <= 1
    other = run("say", "Hello.", "--no-play", "--codes", "c.npy", "--seed", "6", "--json").json
    assert other["seed"] == 6 and not np.array_equal(codes, np.load(tmp_path / "c.npy"))


def test_codes_decode_to_what_was_said(run, tmp_path):
    run("say", "Hello.", "-o", "a.wav", "--codes", "a.npy", "--seed", "5")
    assert run("decode", "a.npy", "-o", "b.wav").code == 0
    whole = run("decode", "a.npy", "-o", "-", "--raw").stdout
    assert (
        np.abs(
            soundfile.read(tmp_path / "a.wav", dtype="int16")[0].astype(int)
            - soundfile.read(tmp_path / "b.wav", dtype="int16")[0]
        ).max()
        <= 1
    )
    pieces = np.frombuffer(run("decode", "a.npy", "-o", "-", "--raw", "--chunk", "1").stdout, "<i2")
    assert np.abs(pieces.astype(int) - np.frombuffer(whole, "<i2")).max() <= 1


def test_encode(run, clip, tmp_path):
    assert run("encode", clip, "-o", "clip.npy").code == 0
    assert np.load(tmp_path / "clip.npy").shape == (10, 22)
    assert run("encode", clip, "-o", "clip2.npy", "--compat", "s2cpp").code == 0


def test_a_voice_from_a_clip(run, clip, tmp_path):
    assert run("voice", "add", "me", "--clip", clip, "--text", "My words.").code == 0
    assert run("voice", "list").out.splitlines()[1].split()[:3] == ["me", "1.0", "s"]
    rest = ["--no-play", "--seed", "5", "--json", "--codes"]
    saved = run("say", "Hello.", "-v", "me", *rest, "a.npy").json
    given = run("say", "Hello.", "--ref", clip, "--ref-text", "My words.", *rest, "b.npy").json
    assert saved["voice"] == ["me"] and given["voice"] == ["clip.wav"]
    assert saved["prompt_tokens"] == given["prompt_tokens"] > 22
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))


def test_two_speakers(run, clip):
    refs = ["--ref", clip, "--ref-text", "One.", "--ref", clip, "--ref-text", "Two."]
    result = run("say", "<|speaker:0|>Hello. <|speaker:1|>Hello you.", *refs, "--no-play", "--json")
    assert result.code == 0 and len(result.json["passes"]) == 2


def test_the_limit_is_named(run):
    result = run("say", "Hello.", "--no-play", "--json", "--min-frames", "6")
    assert result.json["finish_reason"] == "length" and "the limit of 6 frames" in result.err


def test_a_codec_alone_decodes_but_does_not_speak(run, tmp_path):
    make_model(tmp_path / "codec.gguf", ar=False)
    np.save(tmp_path / "codes.npy", np.zeros((10, 3), np.int32))
    assert run("decode", "codes.npy", "-o", "out.wav", "-m", "codec.gguf").code == 0
    result = run("say", "Hello.", "-o", "x.wav", "-m", "codec.gguf")
    assert result.code == 1 and "only a codec" in result.error and not (tmp_path / "x.wav").exists()


def test_an_interrupt_in_the_middle(tmp_path, model):
    line = ["say", "A long text. " * 40, "-o", "-", "--raw", "--min-frames", "400", "--max-frames", "400"]
    process = subprocess.Popen(
        [sys.executable, "-m", "s2mlx", *line],
        cwd=ROOT,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.read(4096)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err == b""


def test_without_a_model_the_demo_voice_speaks_and_says_so_once(run, monkeypatch):
    from s2mlx.errors import ModelError
    from s2mlx.weights.catalog import find_model

    monkeypatch.delenv("S2MLX_MODEL")
    monkeypatch.delenv("S2MLX_TOKENIZER")
    try:
        find_model()
    except ModelError as fault:
        pytest.skip(str(fault))
    result = run("say", "Hello.", "-o", "out.wav", "--json", "--seed", "5", tty=("stderr",))
    assert result.code == 0 and "demo voice" in result.err and result.json["frames"] >= 4
    again = run("say", "Hello.", "-o", "again.wav", "--json", "--seed", "5", tty=("stderr",))
    assert again.code == 0 and "demo voice" not in again.err


def test_an_interrupted_file_holds_the_passes_that_ended(tmp_path, model):
    text = "".join(f"<|speaker:{i % 2}|>Some words." for i in range(400))
    line = ["say", text, "-o", str(tmp_path / "out.wav"), "--min-frames", "20", "--max-frames", "20"]
    process = subprocess.Popen(
        [sys.executable, "-m", "s2mlx", *line],
        cwd=ROOT,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not any(part.stat().st_size > 44 for part in tmp_path.glob(".out.wav.*")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == b"" and err.startswith(b"note: interrupted; ")
    frames, pause = 20 * 2048, 44100 // 4
    assert soundfile.info(tmp_path / "out.wav").frames % (frames + pause) == 0
    assert [p.name for p in tmp_path.iterdir() if p.name != "home"] == ["out.wav"]


def test_what_the_bundled_voice_cannot_speak_is_noted(run, monkeypatch):
    monkeypatch.delenv("S2MLX_MODEL")
    monkeypatch.delenv("S2MLX_TOKENIZER")
    arguments = ["-m", "s2-nano", "-o", "out.wav", "--max-frames", "4"]
    result = run("say", "Guten Tag, wie geht es Ihnen? [laughing]", *arguments)
    assert result.code == 0 and "note: S2-nano speaks English; German words" in result.err
    assert "note: S2-nano knows no tags: [laughing]" in result.err
    assert "note" not in run("say", "Good day.", *arguments).err
    assert "note" not in run("say", "Guten Tag, wie geht es Ihnen?", *arguments, "--quiet").err
    refused = run("say", "[laughing]", *arguments)
    assert refused.code == 2 and "nothing to say" in refused.error
    older = run("say", "<speaker:0>Good day.", *arguments)
    assert older.code == 0 and "<speaker:0> is read as <|speaker:0|>" in older.err
