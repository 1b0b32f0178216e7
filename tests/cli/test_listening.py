"""Clips without words: heard, shown, confirmed or corrected; words that are given are checked."""

import numpy as np
import pytest
import soundfile

from ..fakes import FakeEar

WORDS = "The garden is quiet this morning, and the first roses are open."
ADD = ("voice", "add", "anna", "--clip", "clip.wav")
SAY = ("say", "Hi.", "--no-play", "--json", "--ref", "clip.wav")


@pytest.fixture(autouse=True)
def clip(tmp_path):
    soundfile.write(tmp_path / "clip.wav", np.sin(np.arange(5 * 22050) * 0.05).astype(np.float32) / 2, 22050)


@pytest.fixture
def ear(monkeypatch):
    return FakeEar.installed(monkeypatch, WORDS)


@pytest.mark.parametrize("command", [ADD, SAY], ids=["add", "say"])
def test_without_words_they_are_heard_and_shown(run, tts, ear, command):
    result = run(*command, stdin=b"")
    assert result.code == 0 and f'heard in clip.wav: "{WORDS}"' in result.err
    assert tts.cloned[0].words == WORDS and ear.closed
    assert ear.heard == [(5 * 22050, 22050, True)]


@pytest.mark.parametrize(
    "typed, words",
    [("\n", WORDS), ("y\n", WORDS), ("These are   the words.\n", "These are the words."), ("e\nEdited.\n", "Edited.")],
)
def test_on_a_terminal_they_are_confirmed_or_corrected(run, tts, ear, typed, words, monkeypatch):
    result = answered(run, monkeypatch, typed, *ADD)
    assert result.code == 0 and WORDS in result.err and "Are these all the words" in result.err
    assert tts.cloned[0].words == words


@pytest.mark.parametrize("typed", ["n\n", "", "e\n"])
def test_words_that_are_refused_make_no_voice(run, tts, ear, typed, monkeypatch):
    result = answered(run, monkeypatch, typed, *ADD)
    assert result.code == 2 and "give the words spoken in clip.wav with --text" in result.err and not tts.loaded


def test_yes_takes_them(run, tts, ear):
    result = run(*ADD, "--yes", tty=("stderr",))
    assert result.code == 0 and "Are these" not in result.err and tts.cloned[0].words == WORDS


def test_what_was_heard_badly_is_said(run, tts, monkeypatch):
    FakeEar.installed(monkeypatch, WORDS, confidence=0.4)
    assert "clip.wav: heard badly (sure of 40% of the words)" in run(*ADD, stdin=b"").err


def test_nothing_heard_is_an_error_before_the_model_loads(run, tts, monkeypatch):
    FakeEar.installed(monkeypatch, "")
    for command, option in [(ADD, "--text"), (SAY, "--ref-text")]:
        result = run(*command, stdin=b"")
        assert result.code == 2 and option in result.error and "no words were heard" in result.error
    assert not tts.loaded


def test_without_an_ear_one_line_says_both_ways(run, tts, monkeypatch):
    from s2mlx.listen import ears

    monkeypatch.delenv("S2MLX_EAR", raising=False)
    monkeypatch.setattr(ears, "find_spec", lambda name: None)
    for command, option in [(ADD, "--text"), (SAY, "--ref-text")]:
        result = run(*command, stdin=b"")
        assert result.code == 2 and option in result.error and 'pip install "s2mlx[ear]"' in result.error
    assert run(*ADD, "--text", WORDS, stdin=b"").code == 0


def test_some_clips_have_their_words_and_the_others_are_heard(run, tts, ear):
    result = run(*SAY, "--ref", "clip.wav", "--ref-text", "Its own words are these.", stdin=b"")
    assert result.code == 0, result.err
    assert [each.words for each in tts.cloned] == ["Its own words are these.", WORDS] and len(ear.heard) == 1


@pytest.mark.parametrize(
    "text, said",
    [
        (WORDS.replace("first roses", "roses"), '"first" was heard besides'),
        (WORDS + " Nobody said these words.", '"Nobody said these words" was not heard'),
        (WORDS.replace("quiet", "calm"), None),  # one word for another is mostly the ear's mistake
        ("the garden's quiet this morning and the 1st roses are open", None),
    ],
)
def test_words_that_are_given_are_checked(run, tts, ear, text, said):
    result = run(*ADD, "--text", text, stdin=b"")
    assert result.code == 0 and tts.cloned[0].words == text
    assert (f"clip.wav: {said}; a voice needs" in result.err) if said else "heard" not in result.err


def test_many_wrong_words_are_asked_about(run, tts, ear, monkeypatch):
    text = WORDS + " Nobody said these words."
    refused = answered(run, monkeypatch, "n\n", *ADD, "--text", text)
    assert refused.code == 2 and "Make the voice all the same?" in refused.err and not tts.loaded
    assert answered(run, monkeypatch, "y\n", *ADD, "--text", text).code == 0
    assert run(*ADD, "--text", text, "--yes", "--force", tty=("stderr",)).code == 0


def test_words_of_another_language_than_the_ear_knows_are_left_unchecked(run, tts, ear):
    assert run(*ADD, "--text", "Das ist ein Haus und es ist nicht gut, aber groß.", stdin=b"").code == 0
    assert not ear.heard


def test_options_of_listening_need_a_clip(run, tts, ear):
    result = run("say", "Hi.", "--no-play", "--json", "--yes")
    assert result.code == 2 and "--yes needs a clip whose words are heard" in result.error
    result = run(*ADD, "--ear", "bat", stdin=b"")
    assert result.code == 2 and "no recognizer is called bat" in result.error


def test_pick_takes_a_part_and_its_words(run, tts, ear, monkeypatch, tmp_path):
    from ..listen.test_picking import RATE, hum, noise, still

    long = np.concatenate([noise(30), still(1), hum(110, 12), still(1), noise(30)])
    soundfile.write(tmp_path / "long.wav", long, RATE)
    add = ("voice", "add", "anna", "--clip", "long.wav", "--force")
    assert "at most 60" in run(*add, stdin=b"").error
    assert "leave --text out" in run(*add, "--pick", "--text", "x", stdin=b"").error
    result = run(*add, "--pick", stdin=b"")
    assert result.code == 0 and "of long.wav, from 0:30." in result.err and WORDS in result.err
    [(samples, rate)] = [each.clip for each in tts.cloned]
    assert 11.5 < len(samples) / rate < 13 and tts.cloned[0].words == WORDS
    monkeypatch.setenv("S2MLX_EAR", "off")
    assert "--pick listens to the recording, and cannot" in run(*add, "--pick", stdin=b"").error
    soundfile.write(tmp_path / "noise.wav", noise(30), RATE)
    monkeypatch.delenv("S2MLX_EAR")
    failed = run("voice", "add", "anna", "--clip", "noise.wav", "--pick", "--force", stdin=b"")
    assert failed.code == 1 and "noise.wav: no part of it" in failed.error


def answered(run, monkeypatch, typed, *argv):
    """Both on a terminal; what is typed comes on stdin."""
    from s2mlx.cli.terminal import Console

    monkeypatch.setattr(Console, "interactive", True)
    return run(*argv, stdin=typed.encode(), tty=("stderr",))
