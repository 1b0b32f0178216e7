"""Voices of other models, fitted to the one that is loaded."""

import threading

import numpy as np
import pytest

from s2mlx.audio import write_audio
from s2mlx.config import ModelConfig
from s2mlx.errors import GenerationError, VoiceError
from s2mlx.voices import Voice, VoiceFitter

FOREIGN = Voice(np.zeros((4, 9), np.int32), "Its words.", 22050, 256, "kept")
CLIP = np.full(22050, 0.25, np.float32), 22050


class Model:
    """Notes what it is asked for; `hold` keeps it busy until it is set."""

    config = ModelConfig()

    def __init__(self):
        self.asked, self.hold, self.begun = [], None, threading.Event()

    def clone(self, clip, transcript, *, name="", cancel=None):
        self.asked.append((clip, transcript, name))
        self.begun.set()
        if self.hold:
            assert self.hold.wait(10)
        if cancel and cancel.is_set():
            raise GenerationError("cancelled")
        return Voice(np.zeros((10, 5), np.int32), transcript, name=name)


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def fitter(model, library):
    return VoiceFitter(model, library)


def test_a_voice_that_fits_stays_as_it_is(fitter, model):
    voice = Voice(np.zeros((10, 3), np.int32), "Words.")
    assert fitter.fits(voice) and fitter.fit(voice) is voice and model.asked == []


def test_another_is_made_once_from_the_clip_in_the_library(fitter, model, library):
    library.add("kept", FOREIGN, clip=CLIP)
    began = []
    made = [fitter.fit(library.get("kept"), on_making=lambda: began.append(1)) for _ in range(2)]
    assert not fitter.fits(FOREIGN) and made[0] == made[1] and made[0].codes.shape == (10, 5)
    [((samples, rate), words, name)] = model.asked
    assert (len(samples), rate, words, name) == (22050, 22050, "Its words.", "kept") and began == [1]


def test_equal_voices_keep_their_names(fitter, model, library):
    for name in ("one", "two"):
        library.add(name, FOREIGN, clip=CLIP)
    assert [fitter.fit(library.get(name)).name for name in ("one", "two")] == ["one", "two"] and len(model.asked) == 1


def test_without_a_recording_the_error_says_what_differs_and_where_one_is_looked_for(fitter, library, tmp_path):
    library.add("kept", FOREIGN)
    with pytest.raises(VoiceError, match="codebooks 4, the model has 10"):
        fitter.fit(library.get("kept"))
    with pytest.raises(VoiceError, match=r"codebooks 4.*, or put its clip beside it, as .*kept\.flac"):
        fitter.fit(FOREIGN, clip=tmp_path / "kept.flac")


def test_a_voice_by_path_takes_the_clip_beside_it_and_no_namesakes(fitter, model, library, tmp_path):
    library.add("kept", Voice(np.zeros((4, 9), np.int32), "Another's words.", 22050, 256), clip=CLIP)
    write_audio(tmp_path / "kept.flac", *CLIP)
    fitter.fit(FOREIGN, clip=tmp_path / "kept.flac")
    assert model.asked == [(tmp_path / "kept.flac", "Its words.", "kept")]


def test_who_waits_for_another_gets_what_that_one_made_and_who_leaves_does_not_wait(fitter, model, library):
    library.add("kept", FOREIGN, clip=CLIP)
    voice, model.hold, gone, made = library.get("kept"), threading.Event(), threading.Event(), []
    threads = [threading.Thread(target=lambda: made.append(fitter.fit(voice))) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert model.begun.wait(10)
    gone.set()
    with pytest.raises(GenerationError, match="cancelled"):
        fitter.fit(voice, cancel=gone)
    model.hold.set()
    for thread in threads:
        thread.join(10)
    assert len(made) == 2 and made[0] == made[1] and len(model.asked) == 1


def test_what_was_cancelled_or_failed_is_tried_again(fitter, model, library):
    library.add("kept", FOREIGN, clip=CLIP)
    cancel = threading.Event()
    with pytest.raises(GenerationError):
        fitter.fit(library.get("kept"), cancel=cancel, on_making=cancel.set)
    assert fitter.fit(library.get("kept")).codes.shape == (10, 5) and len(model.asked) == 2
