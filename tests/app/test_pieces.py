"""The parts that know no screen: tags, following, envelopes, settings, the session, the loudspeaker."""

import json

import numpy as np
import pytest
from s2mlx_app import figures, tags
from s2mlx_app.engine.loudspeaker import Loudspeaker
from s2mlx_app.recording import sentences_aloud
from s2mlx_app.speaking.envelope import Envelope, blocks, braille
from s2mlx_app.speaking.moved_text import MovedText
from s2mlx_app.speaking.sentence_follower import SentenceFollower
from s2mlx_app.state import settings
from s2mlx_app.widgets.waveform import Waveform, _step

from s2mlx.errors import UsageError


@pytest.mark.parametrize(
    "before, start",
    [
        ("say [whi", "[whi"),
        ("[", "["),
        ("done [sad] x", None),
        ("<|spea", "<|spea"),
        ("<", "<"),
        ("a < b", None),
        ("<|speaker:1", "<|speaker:1"),
        ("2[", "["),
        ("", None),
    ],
)
def test_an_unfinished_tag_is_recognised(before, start):
    assert tags.begun(before) == start


def test_completions_begin_with_what_was_typed_then_contain_it():
    found = [tag for tag, _ in tags.completions("[pause")]
    assert found == ["[pause]", "[long pause]", "[short pause]"]
    assert tags.completions("<|", ["anna", "ben"]) == [("<|speaker:0|>", "anna"), ("<|speaker:1|>", "ben")]
    assert tags.completions("[zzz") == []


def test_tags_and_speakers_of_a_text():
    line = "<|speaker:2|>a [sad] b [c"
    assert [line[b:e] for b, e in tags.spans(line)] == ["<|speaker:2|>", "[sad]"]
    assert tags.speakers("<|speaker:2|> <|speaker:0|> <|speaker:2|>") == [0, 2]


def test_the_follower_walks_through_the_sentences():
    text = "One two. Three four. Five six."
    sentences = [(0, 9), (9, 21), (21, 30)]
    follower = SentenceFollower(text, sentences, len)
    assert follower.at(0.0) is None
    follower.heard(0, (0, 21), 2.0, True)
    follower.heard(1, (21, 30), 1.0, True)
    assert [follower.at(t) for t in (0.1, 1.9, 2.5, 99.0)] == [(0, 9), (9, 21), (21, 30), (21, 30)]


def test_an_unfinished_pass_is_not_stretched_over_what_exists():
    follower = SentenceFollower("Short. And a long second sentence here.", [(0, 7), (7, 39)], lambda s: len(s) / 10)
    follower.heard(0, (0, 39), 0.5, False)
    assert follower.at(0.45) == (0, 7)


def test_an_envelope_grown_in_pieces_equals_the_whole():
    sound = np.random.default_rng(0).uniform(-1, 1, 50_000).astype(np.float32)
    whole, pieces = Envelope(44100), Envelope(44100)
    whole.extend(sound)
    begin = 0
    for size in (1, 440, 441, 442, 7, 20_000, 0, 29_000, 9_000):
        pieces.extend(sound[begin : begin + size])
        begin += size
    assert pieces.samples == whole.samples == 50_000
    assert np.array_equal(pieces.columns(80, 2.0), whole.columns(80, 2.0), equal_nan=True)
    columns = whole.columns(80, 2.0)
    assert np.isnan(columns[46:]).all() and not np.isnan(columns[:45]).any()


def test_an_envelope_survives_what_is_no_sound():
    envelope = Envelope(44100)
    assert np.isnan(envelope.columns(10, 1.0)).all()
    envelope.extend(np.full(1000, np.nan, np.float32))
    assert not np.isnan(envelope.columns(2, 0.02)).any()


def test_drawings_have_the_size_asked_for():
    lines = braille(np.array([0, 1, 0.5, np.nan], np.float32), 3)
    assert [len(line) for line in lines] == [2, 2, 2] and lines[0][0] == chr(0x2800 | 0xB8)
    assert blocks(np.array([0.0, 0.5, 1.0]), 3) == "▁▅█" and blocks(np.zeros(0), 4) == "    "


def test_figures_have_units():
    assert [figures.seconds(v) for v in (0.4217, 12.34, 75)] == ["0.42 s", "12.3 s", "1:15"]
    assert [figures.size(v) for v in (0, 850e6, 4.63e9, 12)] == ["0 B", "850 MB", "4.63 GB", "12 B"]
    assert figures.fine_clock(61.27) == "1:01.2"


def test_settings_take_what_is_good_and_name_what_is_not(tmp_path):
    path = tmp_path / "app.json"
    path.write_text(
        json.dumps(
            {
                "temperature": 1,
                "top_k": "many",
                "theme": "pink",
                "cast": ["a", None, "b"],
                "unknown": 1,
                "trim": 1,
                "languages": {"a": "de"},
                "model": 3,
            }
        )
    )
    loaded, complaints = settings.load(path)
    assert (loaded.temperature, loaded.top_k, loaded.theme, loaded.cast) == (1.0, None, "s2-dark", ("a", None, "b"))
    assert loaded.languages == {"a": "de"} and len(complaints) == 5
    settings.update(path, loaded, loaded.replace(theme="s2-light"))
    written = json.loads(path.read_text())
    assert (written["theme"], written["unknown"]) == ("s2-light", 1) and "top_k" not in written
    assert json.loads(path.with_name("app.json.broken").read_text())["top_k"] == "many"
    assert settings.load(path)[1] == []


@pytest.mark.parametrize("name, text", [("temperature", "warm"), ("top_k", "1.5"), ("seed", "x")])
def test_typed_settings_are_refused_in_words(name, text):
    with pytest.raises(UsageError):
        settings.parse(name, text)
    assert settings.parse(name, " ") is None


def test_every_language_has_a_sentence():
    for name, code in sentences_aloud.languages():
        assert name and sentences_aloud.sentence(code)
    assert sentences_aloud.sentence("xx") == sentences_aloud.sentence("en") != sentences_aloud.sentence(
        "en", 1
    ) and sentences_aloud.sentence("de", 7)


class _Player:
    """Counts what it is asked."""

    def __init__(self):
        self.calls, self.position, self.lead, self.underruns, self.prebuffer, self.error = [], 0.0, 0.0, 2, 0.1, None
        self.device_name = "x"

    def __getattr__(self, name):
        return lambda *args: self.calls.append((name, *args))


def test_a_late_stop_does_not_silence_the_next_utterance():
    opened = []
    loudspeaker = Loudspeaker(lambda rate, device: opened.append(_Player()) or opened[-1])
    first = loudspeaker.lend(44100, None, 0.0)
    second = loudspeaker.lend(44100, None, 0.0)
    first.stop()
    first.play(np.zeros(3, np.float32))
    assert [call[0] for call in opened[0].calls] == ["begin", "begin"] and first.wait(0)
    second.stop()
    assert opened[0].calls[-1] == ("stop",) and second.underruns == 0 and len(opened) == 1


def test_another_device_or_a_failure_opens_a_new_player():
    opened = []
    loudspeaker = Loudspeaker(lambda rate, device: opened.append(_Player()) or opened[-1])
    loudspeaker.lend(44100, None, 0.0)
    loudspeaker.lend(44100, "usb", 0.0)
    opened[1].error = OSError()
    loudspeaker.lend(44100, "usb", 0.0)
    assert len(opened) == 3


def test_a_holdback_gathers_before_the_player_hears_of_it():
    opened = []
    lent = Loudspeaker(lambda rate, device: opened.append(_Player()) or opened[-1]).lend(100, None, 1.0)
    lent.play(np.zeros(60, np.float32))
    assert len(opened[0].calls) == 1 and lent.lead == 0.6 and lent.prebuffer == 1.0
    lent.play(np.zeros(60, np.float32))
    lent.play(np.zeros(1, np.float32))
    assert [len(call[1]) for call in opened[0].calls if call[0] == "play"] == [60, 60, 1]
    again = _Player()
    short = Loudspeaker(lambda rate, device: again).lend(100, None, 9.0)
    short.play(np.zeros(5, np.float32))
    short.finish()
    assert again.calls[-1] == ("finish",) and len(again.calls) == 3


@pytest.mark.parametrize(
    "after, found",
    [
        ("One. Two. Three.", (5, 9)),
        ("More. One. Two. Three.", (11, 15)),  # typed before it
        ("One. Two. Three. Four.", (5, 9)),  # behind it
        ("One. Too. Three.", None),  # in it
        ("", None),
    ],
)
def test_a_sentence_is_found_where_it_stands_after_an_edit(after, found):
    before = "One. Two. Three."
    moved = MovedText(before, after)
    assert moved.find((5, 9)) == found and (found is None or after[slice(*found)] == "Two.")
    assert MovedText(before * 9999, "x" + before * 9999).find((5, 9)) == (6, 10)


def test_the_ruler_has_round_seconds_that_do_not_touch():
    for span, width in ((0.8, 40), (5.4, 118), (29.0, 76), (1800.0, 38)):
        step = _step(span, width // Waveform.APART)
        assert step * width / span >= Waveform.APART or span / step < 2
