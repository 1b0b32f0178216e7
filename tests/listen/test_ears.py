"""Which recognizer listens, and what it hears."""

import os
import subprocess
import sys

import numpy as np
import pytest
import soundfile

from s2mlx.errors import EarError, UsageError
from s2mlx.files.folders import assets_dir
from s2mlx.listen import NO_EAR, compare, ears, find_ear
from s2mlx.listen.pieces import LONGEST, SEEK, pieces


@pytest.fixture(scope="module")
def ear():
    pytest.importorskip("moonshine_voice", reason='the recognizer is not installed: pip install "s2mlx[ear]"')
    ear = find_ear("moonshine")
    yield ear
    ear.close()


def clip(name):
    path = assets_dir() / "nano" / f"{name}.flac"
    if not path.exists():
        pytest.skip("the bundled voices were left out")
    return soundfile.read(path, dtype="float32")


def test_a_clip_is_written_down_with_times(ear):
    samples, rate = clip("clara")
    heard = ear.hear(samples, rate, twice=True)
    assert compare("The garden is quiet this morning, and the first roses are open.", heard.text).rate < 0.2
    assert heard.language == "en" and heard.confidence > 0.7
    assert " ".join(word.text for word in heard.words) == heard.text
    times = [time for word in heard.words for time in (word.start, word.end)]
    assert times == sorted(times) and times[0] >= 0 and times[-1] <= len(samples) / rate


def test_silence_and_noise_are_no_words(ear):
    assert ear.hear(np.zeros(48000, np.float32), 48000, twice=True).text == ""
    assert ear.hear(np.zeros(0, np.float32), 48000).text == ""
    noise = np.random.default_rng(0).normal(0, 0.1, 44100).astype(np.float32)
    assert compare("Hello, this is my first sentence.", ear.hear(noise, 22050).text).missing > 3


def test_a_long_recording_is_heard_in_pieces_cut_where_it_is_quiet():
    rate, seconds = 1000, 130
    sound = np.random.default_rng(0).normal(0, 0.1, rate * seconds).astype(np.float32)
    quiet = [(35, 36), (68, 69), (100, 101)]
    for begin, end in quiet:
        sound[begin * rate : end * rate] = 0
    found = list(pieces(sound, rate))
    assert np.array_equal(np.concatenate([piece for _, piece in found]), sound)
    assert all(LONGEST - SEEK <= len(piece) / rate <= LONGEST for _, piece in found[:-1])
    assert all(begin <= at / rate <= end for (at, _), (begin, end) in zip(found[1:], quiet))


def test_without_one_there_is_one_line_how_to_get_it(monkeypatch):
    monkeypatch.delenv(ears.VARIABLE, raising=False)
    monkeypatch.setattr(ears, "find_spec", lambda name: None)
    with pytest.raises(EarError) as fault:
        find_ear()
    assert str(fault.value) == NO_EAR and "s2mlx[ear]" in NO_EAR
    with pytest.raises(EarError, match="moonshine is not installed: pip install"):
        find_ear("moonshine")


def test_the_variable_chooses_and_wrong_names_are_told(monkeypatch):
    monkeypatch.setenv(ears.VARIABLE, "off")
    with pytest.raises(EarError, match="switched off"):
        find_ear()
    with pytest.raises(UsageError, match="no recognizer is called bat: there are moonshine"):
        find_ear("bat")


def test_nothing_of_a_recognizer_is_imported_before_it_is_chosen():
    code = "import sys, s2mlx.cli.main; from s2mlx.listen import Heard, find_ear, compare; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert not {"moonshine_voice", "whisper_normalizer", "tokenizers"} & set(done.stdout.split())
