"""What the README's reader does first: a clip and its words in, a file of speech out, in a process of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from s2mlx.listen import compare

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
WORDS = "The garden is quiet this morning, and the first roses are open."
SPEAKERS = {
    "flite": ["flite", "-voice", "slt", "-t", WORDS, "-o", "clip.wav"],
    "espeak-ng": ["espeak-ng", "-w", "clip.wav", WORDS],
}


@pytest.fixture(params=SPEAKERS)
def clip(request, tmp_path):
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    subprocess.run(SPEAKERS[request.param], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "clip.wav"


def spoken(clip, *words):
    """What `say --ref clip` prints and writes."""
    model = ["-m", GOLDEN / "tiny-q4_k_m.gguf", "--tokenizer", GOLDEN / "tokenizer.json"]
    frames = ["--max-frames", "20", "--min-frames", "20", "--seed", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "s2mlx", "say", "Good morning.", *model, "--ref", clip, *words, *frames, "--json"]
        + ["-o", "out.wav"],
        cwd=clip.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), "S2MLX_EAR": "moonshine"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    sound = soundfile.info(clip.parent / "out.wav")
    assert (sound.samplerate, sound.channels, sound.frames) == (44100, 1, 20 * 2048)
    return json.loads(done.stdout), done.stderr


def test_a_clip_and_its_words(clip):
    figures, _ = spoken(clip, "--ref-text", WORDS)
    assert figures["frames"] == 20 and figures["voice"] == ["clip.wav"]
    assert figures["prompt_tokens"] > soundfile.info(clip).duration * 44100 / 2048


def test_a_clip_whose_words_are_heard(clip):
    """By the recognizer itself; a word in twelve may be another."""
    pytest.importorskip("moonshine_voice", reason='the recognizer is not installed: pip install "s2mlx[ear]"')
    _, told = spoken(clip)
    [heard] = re.findall(r'^note: heard in clip.wav: "(.*)"$', told, re.M)
    assert compare(WORDS, heard).rate < 0.1, heard
