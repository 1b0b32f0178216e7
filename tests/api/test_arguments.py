"""What a program may pass, and what it is told when it passes something else."""

from pathlib import Path

import numpy as np
import pytest

import s2mlx
from s2mlx.errors import AudioError, UsageError, VoiceError
from s2mlx.options import Options
from s2mlx.synthesizer import read_clip

WAVE = np.sin(np.arange(4410) * 0.05).astype(np.float32)


@pytest.mark.parametrize("name", ["top_k", "seed", "max_frames", "pause_ms", "batch"])
def test_whole_numbers_of_numpy_are_numbers(name):
    value = getattr(Options(**{name: np.int64(20)}), name)
    assert value == 20 and type(value) is int  # a seed is added to what NumPy's integers cannot hold


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": 1.5},
        {"seed": "1"},
        {"max_frames": 20.0},
        {"min_frames": 1.5},
        {"min_frames": None},
        {"top_k": 2.0},
        {"pause_ms": 0.5},
        {"batch": 1.5},
        {"temperature": "warm"},
        {"temperature": float("inf")},
        {"temperature": float("nan")},
        {"top_p": [0.8]},
    ],
)
def test_options_that_make_no_sense(wrong):
    [name] = wrong
    with pytest.raises(UsageError, match=name):
        Options(**wrong)


@pytest.mark.parametrize(
    "clip", [(WAVE, 44100), (list(WAVE), 44100.0), (np.stack([WAVE, WAVE], axis=1), np.int32(44100))]
)
def test_clips_of_samples(clip):
    assert len(read_clip(clip, 44100)) == len(WAVE)


@pytest.mark.parametrize(
    "clip",
    [
        (WAVE, 0),
        (WAVE, -1),
        (WAVE, float("nan")),
        (WAVE, 10**9),
        (WAVE, "fast"),
        (WAVE,),
        (WAVE, 44100, 1),
        WAVE,
        None,
        5,
        (WAVE[:0], 44100),
        (WAVE[0], 44100),
        (WAVE[None, :, None], 44100),
        (np.zeros((5, 0)), 44100),
        (["a"], 44100),
        (np.stack([WAVE, WAVE]), 44100),
        (WAVE * np.nan, 22050),
    ],
    ids=range(17),
)
def test_clips_that_are_none(clip):
    with pytest.raises(AudioError):
        read_clip(clip, 44100)


@pytest.fixture(scope="module")
def tts():
    from tests import goldens

    with s2mlx.load(goldens.path("tiny-q4_k_m.gguf"), tokenizer=goldens.GOLDEN / "tokenizer.json") as tts:
        yield tts


def test_texts_and_voices_of_other_types(tts):
    for text in (None, b"Hello.", 5):
        with pytest.raises(UsageError, match="text"):
            tts.say(text)
    for voice in (b"nora", [None], 5):
        with pytest.raises(UsageError, match="Voice"):
            tts.say("Hello.", voice=voice)
    for voice in ("nora", Path("nora.s2voice"), ["nowhere/nora.s2voice"]):  # of another model, and of no file
        with pytest.raises(VoiceError):
            tts.say("Hello.", voice=voice)


def test_a_seed_of_numpy(tts):
    a, b = (tts.say("Hello.", seed=seed, max_frames=2, min_frames=2).codes for seed in (np.int64(3), 3))
    np.testing.assert_array_equal(a, b)
