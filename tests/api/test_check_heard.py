"""Speech that a recognizer hears before it is handed over: what is broken on purpose is caught and spoken again, what
is right is not. Skips without moonshine-voice (PyPI, its model inside the wheel)."""

from dataclasses import replace

import numpy as np
import pytest

import s2mlx
from s2mlx.errors import ModelError
from s2mlx.request.conversation import Conversation
from s2mlx.request.pass_sound import PassSound
from s2mlx.weights.catalog import DEMO, find_model

pytest.importorskip("moonshine_voice", reason="the recognizer moonshine-voice is not installed")
pytest.importorskip("whisper_normalizer", reason='comparing words needs the extra: pip install "s2mlx[ear]"')

TEXT = "The train leaves at seven, and we will be home before it rains."


@pytest.fixture(scope="module")
def tts():
    try:
        find_model(DEMO)
    except ModelError as fault:
        pytest.skip(str(fault))
    with s2mlx.load(DEMO) as tts:
        yield tts


class Silence:
    """A codec's stream of which nothing is heard."""

    def decode(self, codes):
        return np.zeros(codes.shape[1] * 1024, np.float32)


def speaks(monkeypatch, words):
    """The first take of each pass says `words`, or nothing."""
    prompt, begin = Conversation.prompt, PassSound.__init__

    def another(self, planned):
        return prompt(self, planned if planned.take or not words else replace(planned, text=words))

    def silent(self, planned, *args, **more):
        begin(self, planned, *args, **more)
        if not planned.take and not words:
            self._stream = Silence()

    monkeypatch.setattr(Conversation, "prompt", another)
    monkeypatch.setattr(PassSound, "__init__", silent)


@pytest.mark.parametrize(
    "words",
    [
        "The train leaves at seven, and we will rains.",
        "The train leaves at seven, the train leaves at seven, and we will be home before it rains.",
        "Some garden pencils never tasted purple under a ladder, as many windows agree.",
        "",
    ],
    ids=["skips", "doubles", "babbles", "silent"],
)
def test_a_broken_pass_is_caught_and_replaced(tts, monkeypatch, words):
    want = tts.say(TEXT, voice="clara", seed=3)
    speaks(monkeypatch, words)
    broken = tts.say(TEXT, voice="clara", seed=3, check=True, takes=1)
    assert not broken.passes[0].heard.right and broken.passes[0].heard.word_error_rate > 0.2
    mended = tts.say(TEXT, voice="clara", seed=3, check=True)
    [one] = mended.passes
    assert one.heard.right and one.heard.takes == 2 and one.heard.word_error_rate < 0.2
    assert 0.7 < mended.seconds / want.seconds < 1.4


def test_what_is_right_stays_as_it_was(tts):
    for seed, text in enumerate([TEXT, "Hello, this is my first sentence.", "Where did you put my blue coat?"]):
        plain, checked = (tts.say(text, seed=seed, check=check) for check in (False, True))
        [one] = checked.passes
        assert one.heard.takes == 1 and one.heard.right, one.heard
        np.testing.assert_array_equal(plain.codes, checked.codes)
        np.testing.assert_array_equal(plain.samples, checked.samples)
