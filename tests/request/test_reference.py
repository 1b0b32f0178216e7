"""A reference longer than the model takes: cut in a pause at a sentence end, and its words with it."""

import numpy as np
import pytest

import s2mlx
from s2mlx.config import CodecConfig, ModelConfig
from s2mlx.request.reference import References, shorten

FRAME = 0.05  # seconds
SENTENCES = ["The first one is short.", "Then a longer sentence follows it here.", "A third one ends it all."]
TEXT = " ".join(SENTENCES)


def clip(lengths, gap=6, lead=4):
    """Codes whose only book is 1 where a sentence is spoken, and the frame at which each sentence ends."""
    parts, ends = [np.zeros(lead, int)], []
    for n in lengths:
        parts += [np.ones(n, int), np.zeros(gap, int)]
        ends.append(sum(map(len, parts)) - gap)
    return np.concatenate(parts)[None], ends


def level(codes):
    return codes[0] * 0.3 + 0.001


@pytest.mark.parametrize("tempo", [0.7, 1.0, 1.6])
@pytest.mark.parametrize("limit", [0.45, 0.8])
def test_it_ends_in_the_pause_behind_its_last_word(tempo, limit):
    codes, ends = clip([round(tempo * n) for n in (34, 56, 38)])
    voice = s2mlx.Voice(codes, TEXT, 22050, 1024, "me")
    cut = shorten(voice, limit * voice.frames * FRAME, FRAME, level)
    sentences = {0.45: 1, 0.8: 2}[limit]
    assert cut.transcript == " ".join(SENTENCES[:sentences]) and cut.name == "me"
    assert ends[sentences - 1] < cut.frames <= ends[sentences - 1] + 6
    np.testing.assert_array_equal(cut.codes, codes[:, : cut.frames])


def test_what_is_short_enough_stays_as_it_is():
    codes, _ = clip([30, 50, 34])
    voice = s2mlx.Voice(codes, TEXT, 22050, 1024)
    assert shorten(voice, voice.frames * FRAME, FRAME, None) is voice


def test_only_silence_is_too_long():
    codes = np.concatenate([clip([60])[0], np.zeros((1, 200), int)], axis=1)
    cut = shorten(s2mlx.Voice(codes, SENTENCES[0], 22050, 1024), 5.0, FRAME, level)
    assert cut.transcript == SENTENCES[0] and 64 <= cut.frames <= 100


def test_one_long_sentence_ends_at_a_clause_or_a_word():
    codes, _ = clip([200])
    text = "Whenever the weather is pleasant, he leaves the door wide open so that everybody hears his cheerful radio"
    cut = shorten(s2mlx.Voice(codes, text, 22050, 1024), 5.0, FRAME, level)
    assert text.startswith(cut.transcript) and 0 < len(cut.transcript) < len(text)
    assert cut.transcript.split() == text.split()[: len(cut.transcript.split())]
    assert 0.25 < cut.frames / 200 < 0.75


@pytest.mark.parametrize("words", ["", "[laugh]", "..."])
def test_nothing_to_cut_by(words):
    """No words, or no sound: the request says what is wrong with it, if anything."""
    silent = s2mlx.Voice(np.zeros((1, 400), int), TEXT, 22050, 1024)
    assert shorten(silent, 5.0, FRAME, lambda codes: np.zeros(400)).frames == 400
    shorten(s2mlx.Voice(clip([300])[0], words, 22050, 1024), 5.0, FRAME, level)


def test_each_voice_is_cut_once_and_a_stranger_refused():
    decoded = []

    def decode(codes):
        decoded.append(codes.shape)
        return np.repeat(level(codes), codec.frame_samples)

    codec = CodecConfig(sample_rate=22050)
    config = ModelConfig(codec=codec, num_codebooks=1, codebook_size=1024, reference_seconds=5.0)
    references = References(config, decode)
    voice = s2mlx.Voice(clip([34, 56, 38])[0], TEXT, 22050, 1024)
    cut = references.fit(voice)
    assert cut.frames < voice.frames and references.fit(voice) is cut and len(decoded) == 1
    with pytest.raises(s2mlx.VoiceError, match="another model"):
        references.fit(s2mlx.Voice(voice.codes, TEXT, 44100, 1024))
