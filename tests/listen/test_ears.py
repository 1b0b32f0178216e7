"""Which recognizer listens, and what it hears."""

import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import soundfile

from s2mlx.errors import EarError, UsageError
from s2mlx.files.folders import assets_dir
from s2mlx.listen import NO_EAR, compare, ears, find_ear
from s2mlx.listen.on_mlx import ParakeetEar, WhisperEar
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


def test_times_neither_overlap_nor_end_behind_the_sound(ear, monkeypatch):
    """Where Moonshine cuts within speech, it says that a line lasts into the next; its rate may round a sound up."""
    said = [("one two", 0.25, 1.5), ("three", 1.25, 5.0)]
    lines = [SimpleNamespace(text=text, start_time=start, duration=long) for text, start, long in said]
    library = SimpleNamespace(transcribe_without_streaming=lambda samples, rate: SimpleNamespace(lines=lines))
    monkeypatch.setattr(ear, "_library", library)
    heard = ear.hear(np.zeros(44101, np.float32), 22050)
    assert heard.text == "one two three"
    times = [time for word in heard.words for time in (word.start, word.end)]
    assert times == sorted(times)
    assert times[3] == times[4] == 1.0 and times[-1] == 44101 / 22050


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


def test_another_language_needs_another_ear(monkeypatch):
    monkeypatch.delenv(ears.VARIABLE, raising=False)
    monkeypatch.setattr(ears, "find_spec", lambda name: name == "moonshine_voice" or None)
    with pytest.raises(EarError, match="moonshine knows no German; on a Mac: pip install mlx-whisper"):
        ears.check_ear(language="de")
    ears.check_ear(language="en")
    monkeypatch.setattr(ears, "find_spec", lambda name: name != "parakeet_mlx" or None)
    assert ears._place(None, "de") == "on_mlx.WhisperEar" and ears._place(None, None) == "moonshine.MoonshineEar"
    monkeypatch.setattr(ears, "find_spec", lambda name: True)
    assert ears._place(None, "de") == "on_mlx.ParakeetEar" and ears._place(None, "ja") == "on_mlx.WhisperEar"
    assert ears._place("whisper:some/model", "en") == "on_mlx.WhisperEar"
    with pytest.raises(UsageError, match="moonshine has one model"):
        ears.check_ear("moonshine:other")


def whisper_of(told):
    """A mlx_whisper that gives what it is told to, by the names that ours calls."""
    package, inner = ModuleType("mlx_whisper"), ModuleType("mlx_whisper.transcribe")

    class ModelHolder:
        model = model_path = None

        @classmethod
        def get_model(cls, path, dtype):
            told["loaded"] = path
            return path

    def transcribe(audio, *, path_or_hf_repo, verbose, language, word_timestamps, condition_on_previous_text):
        told["asked"] = (audio.dtype, len(audio), path_or_hf_repo, language, word_timestamps)
        if told.get("fault"):
            raise told["fault"]
        words = [dict(word=" Guten", start=0.1, end=0.4, probability=0.9), dict(word=" Tag.", start=0.4, end=0.9)]
        words[1]["probability"] = 0.7
        return {"text": " Guten Tag.", "language": "de", "segments": [{"words": words}, {}]}

    package.transcribe, inner.ModelHolder = transcribe, ModelHolder
    return {"mlx_whisper": package, "mlx_whisper.transcribe": inner}


def test_whisper_is_asked_on_one_thread_and_its_words_taken(monkeypatch):
    told = {}
    for name, module in whisper_of(told).items():
        monkeypatch.setitem(sys.modules, name, module)
    ear = WhisperEar("some/model")
    heard = ear.hear(np.ones(44100, np.float32), 44100, "de")
    assert told["loaded"] == "some/model" and told["asked"] == (np.float32, 16000, "some/model", "de", True)
    assert (heard.text, heard.language, round(heard.confidence, 2)) == ("Guten Tag.", "de", 0.8)
    assert [(w.text, w.start, w.end, w.exact) for w in heard.words] == [
        ("Guten", 0.1, 0.4, True),
        ("Tag.", 0.4, 0.9, True),
    ]
    told["fault"] = RuntimeError("no network")
    with pytest.raises(EarError, match="whisper could not listen with some/model: no network"):
        ear.hear(np.ones(44100, np.float32), 44100)
    ear.close()


def test_parakeet_gives_words_from_its_tokens(monkeypatch):
    package, sound = ModuleType("parakeet_mlx"), ModuleType("parakeet_mlx.audio")
    token = lambda text, start, end, sure: SimpleNamespace(text=text, start=start, end=end, confidence=sure)
    tokens = [token(" Gu", 0.0, 0.1, 0.9), token("ten", 0.1, 0.3, 0.9), token(" Tag", 0.4, 0.6, 0.6)]
    tokens.append(token(".", 0.6, 0.7, 0.8))
    model = SimpleNamespace(preprocessor_config="config", generate=lambda mel: [SimpleNamespace(tokens=tokens)])
    package.from_pretrained, sound.get_logmel = lambda path: model, lambda samples, config: samples
    monkeypatch.setitem(sys.modules, "parakeet_mlx", package)
    monkeypatch.setitem(sys.modules, "parakeet_mlx.audio", sound)
    ear = ParakeetEar()
    heard = ear.hear(np.ones(16000, np.float32), 16000, "de")
    assert [(w.text, w.start, w.end) for w in heard.words] == [("Guten", 0.0, 0.3), ("Tag.", 0.4, 0.7)]
    assert heard.text == "Guten Tag." and round(heard.confidence, 2) == 0.8
    assert ear.hear(np.zeros(16000, np.float32), 16000).text == ""
    ear.close()


def test_nothing_of_a_recognizer_is_imported_before_it_is_chosen():
    code = "import sys, s2mlx.cli.main; from s2mlx.listen import Heard, find_ear, compare; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert not {"moonshine_voice", "whisper_normalizer", "tokenizers"} & set(done.stdout.split())
