"""Passes that are heard before they go out: which take is kept, in which order, and what a listener gets."""

import dataclasses
import itertools
import time

import numpy as np
import pytest

from s2mlx.errors import EarError
from s2mlx.networks.load import load_model
from s2mlx.options import Options
from s2mlx.request import checked
from s2mlx.request.engine import Engine
from s2mlx.request.passes import plan_passes
from s2mlx.results import Tally
from s2mlx.voices import Voice
from tests import goldens
from tests.fakes.ear import ScriptedEar
from tests.synthetic import make_model

ONE = "Good morning in the house?"
LONG = " ".join(f"This is number {n} of the sentences." for n in range(6))  # a pass each
DIALOGUE = "".join(f"<|speaker:{i % 2}|>Turn {i}." for i in range(4))
OPTIONS = Options(max_frames=12, min_frames=4)
SEED = 7


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = make_model(tmp_path_factory.mktemp("model") / "m.gguf", layers=1, fast_layers=1)
    model = load_model(path, goldens.GOLDEN / "tokenizer.json")
    model.config = dataclasses.replace(model.config, pass_seconds=3.0)
    return model


@pytest.fixture
def voices():
    return [Voice(np.arange(120).reshape(10, 12) % 64, "Some words.", 44100, 256)]


def say(model, text, voices, ear=None, options=OPTIONS, seed=SEED, keep_going=lambda: True, lead=None):
    engine = Engine(model)
    chunks = list(engine.speak(text, voices, options, seed, keep_going, lead, ear and ear.open))
    tally = Tally()
    for chunk in chunks:
        tally.add(chunk)
    return chunks, tally.passes


def let_go(ear):
    """Whether the ear was closed, soon."""
    end = time.monotonic() + 60
    while not ear.closed and time.monotonic() < end:
        time.sleep(0.001)
    return ear.closed == ear.opened == 1


def codes_of(chunks, part=None):
    return np.concatenate([c.codes for c in chunks if part in (None, c.part)], axis=1)


def take_seed(take, index=0):
    """A request's seed that gives this take's as its first."""
    [planned] = plan_passes(ONE)
    return type(planned)(index, "", (0, 0), False, None, take).seed(SEED)


WITH = pytest.mark.parametrize(
    "text, voiced",
    [(ONE, False), (ONE, True), (LONG, True), (LONG, False), (DIALOGUE, True)],
    ids=["one", "one voiced", "long voiced", "long", "dialogue"],
)


@WITH
@pytest.mark.parametrize("batch", [1, 3])
def test_what_is_right_is_the_same_with_and_without_a_check(model, voices, text, voiced, batch):
    ear, options = ScriptedEar(), OPTIONS.replace(batch=batch)
    voices = voices if voiced else []
    plain, _ = say(model, text, voices, options=options)
    chunks, passes = say(model, text, voices, ear, options)
    np.testing.assert_array_equal(codes_of(chunks), codes_of(plain))
    np.testing.assert_array_equal(*(np.concatenate([c.samples for c in found]) for found in (chunks, plain)))
    assert all(one.heard.right and one.heard.takes == 1 for one in passes)
    assert [one.index for one in passes] == list(range(chunks[0].parts)) and let_go(ear)


@WITH
def test_a_wrong_take_is_spoken_again_with_another_seed_and_nothing_of_it_goes_out(model, voices, text, voiced):
    voices = voices if voiced else []
    second = list(plan_passes(text, model.config.pass_seconds))[-1].text
    ear = ScriptedEar(lambda words, take: 5 if words == second and take == 0 else 0)
    plain, _ = say(model, text, voices)
    chunks, passes = say(model, text, voices, ear)
    last = len(passes) - 1
    assert [one.heard.takes for one in passes] == [1] * last + [2] and all(one.heard.right for one in passes)
    for part in range(last):
        np.testing.assert_array_equal(codes_of(chunks, part), codes_of(plain, part))
    assert not np.array_equal(codes_of(chunks, last), codes_of(plain, last))
    assert passes[-1].heard.text == "take 1" and passes[-1].frames == codes_of(chunks, last).shape[1]


def test_a_second_take_is_what_its_seed_says(model, voices):
    chunks, _ = say(model, ONE, voices, ScriptedEar(lambda words, take: 5 * (take == 0)))
    again, _ = say(model, ONE, voices, seed=take_seed(1))
    np.testing.assert_array_equal(codes_of(chunks), codes_of(again))


@pytest.mark.parametrize("errors, kept", [((5, 4, 8), 1), ((4, 4, 4), 0), ((9, 8, 7), 2)])
def test_the_best_is_kept_if_none_is_right(model, voices, errors, kept):
    chunks, [one] = say(model, ONE, voices, ScriptedEar(lambda words, take: errors[take]))
    again, _ = say(model, ONE, voices, seed=take_seed(kept))
    np.testing.assert_array_equal(codes_of(chunks), codes_of(again))
    assert one.heard.takes == 3 and not one.heard.right and one.heard.text == f"take {kept}"


def test_so_many_takes_and_no_more(model, voices):
    for options, takes in (
        (OPTIONS.replace(takes=1), 1),
        (OPTIONS.replace(takes=5), 5),
        (OPTIONS.replace(temperature=0.0), 1),  # another would be the same
        (OPTIONS.replace(top_k=1), 1),
    ):
        ear = ScriptedEar(lambda words, take: 9)
        _, [one] = say(model, ONE, voices, ear, options)
        assert one.heard.takes == takes == ear.takes[ONE] + 1


def test_a_language_the_ear_does_not_know_goes_out_unheard(model, voices):
    chunks, passes = say(model, LONG, voices, ScriptedEar(lambda words, take: None))
    assert passes and all(one.heard is None for one in passes)
    np.testing.assert_array_equal(codes_of(chunks), codes_of(say(model, LONG, voices)[0]))


def test_who_runs_away_from_the_words_is_spoken_again(model, voices):
    """The limit that follows from the words ended it, though each of them was heard."""
    _, [one] = say(model, "Go.", voices, ScriptedEar(), Options(min_frames=60))
    assert one.finish_reason == "length" and one.heard.takes == 3
    _, [one] = say(model, ONE, voices, ScriptedEar(), Options(min_frames=20, max_frames=20))
    assert one.finish_reason == "length" and one.heard.takes == 1  # it was asked for


def test_the_ear_hears_the_speech_at_its_own_speed_without_pauses(model, voices):
    ear = ScriptedEar()
    chunks, passes = say(model, LONG, voices, ear, OPTIONS.replace(rate=2.0, pause_ms=900))
    heard = {text: samples for text, _, samples in ear.sounds}
    for one, planned in zip(passes, plan_passes(LONG, model.config.pass_seconds)):
        assert len(heard[planned.text]) == one.frames * 2048


def test_the_first_pass_lends_its_voice_only_when_it_is_right(model):
    """Without a voice the others follow the take that was kept."""
    first = plan_passes(LONG, model.config.pass_seconds)[0].text
    chunks, passes = say(model, LONG, [], ScriptedEar(lambda words, take: 5 if words == first and take == 0 else 0))
    assert [one.heard.takes for one in passes] == [2] + [1] * (len(passes) - 1)
    borrowed = [Voice(codes_of(chunks, 0), first, 44100, 256)]
    planned = plan_passes(LONG, model.config.pass_seconds)[1]
    alone, _ = say(model, planned.text, borrowed, seed=planned.seed(SEED))
    np.testing.assert_array_equal(codes_of(chunks, 1), codes_of(alone, 0))


def test_a_turn_follows_the_take_of_the_last_one_that_was_kept(model, voices, monkeypatch):
    """Also where it was not the newest: what the cache has of the dialogue is then another one."""
    script = lambda words, take: (5, 4, 6)[take] if "Turn 1" in words else 0
    chunks, passes = say(model, DIALOGUE, voices, ScriptedEar(script))
    assert [one.heard.takes for one in passes] == [1, 3, 1, 1] and passes[1].heard.text == "take 1"
    from s2mlx.request.run import RequestRun

    monkeypatch.setattr(RequestRun, "seen", property(lambda self: None, lambda self, value: None), raising=False)
    cold, _ = say(model, DIALOGUE, voices, ScriptedEar(script))
    np.testing.assert_array_equal(codes_of(chunks), codes_of(cold))


@WITH
def test_what_the_ear_fails_with_is_raised(model, voices, text, voiced):
    def broken(words, take):
        raise EarError("it is deaf")

    with pytest.raises(EarError, match="it is deaf"):
        say(model, text, voices if voiced else [], ear := ScriptedEar(broken))
    assert let_go(ear)


@WITH
@pytest.mark.parametrize("asks", [0, 1, 5, 9, 30])
def test_cancel_at_any_time(model, voices, text, voiced, asks):
    """No pass is kept that was not heard, and the last that is told is the cancel of the one whose turn it was."""
    left = itertools.count()
    voices = voices if voiced else []
    wrong = lambda words, take: 5 if take == 0 else 0
    want, _ = say(model, text, voices, ScriptedEar(wrong))
    chunks, passes = say(model, text, voices, ScriptedEar(wrong), keep_going=lambda: next(left) < asks)
    assert [one.finish_reason for one in passes].count("cancelled") <= 1
    for one in passes:
        if one.finish_reason == "cancelled":
            assert one.frames == 0
        else:
            assert one.heard.right
            np.testing.assert_array_equal(codes_of(chunks, one.index), codes_of(want, one.index))


def test_a_cancel_does_not_wait_for_the_ear(model, voices):
    ear = ScriptedEar()
    ear.gate.clear()
    asked = itertools.count()
    try:
        chunks, [one] = say(model, ONE, voices, ear, keep_going=lambda: next(asked) < 40)
    finally:
        ear.gate.set()
    assert one.finish_reason == "cancelled" and one.heard is None and let_go(ear)


class Behind:
    """A listener who has so many seconds left, whenever asked."""

    def __init__(self, *seconds):
        self.seconds = list(seconds)

    def __call__(self):
        return self.seconds[0] if len(self.seconds) == 1 else self.seconds.pop(0)


def test_a_listener_far_behind_hears_nothing_wrong(model, voices, monkeypatch):
    monkeypatch.setattr(checked, "PATIENCE", 1e9)
    wrong = lambda words, take: 5 if take == 0 else 0
    chunks, passes = say(model, LONG, voices, ScriptedEar(wrong), lead=Behind(50.0))
    assert all(one.heard.takes == 2 and one.heard.right for one in passes)


@WITH
def test_a_listener_who_is_near_gets_what_there_is(model, voices, text, voiced, monkeypatch):
    """The first takes go out while they are spoken, and what was heard of them is told though it is too late."""
    monkeypatch.setattr(checked, "PATIENCE", 0.0)
    monkeypatch.setattr(checked, "RESERVE", 1e9)
    voices = voices if voiced else []
    ear = ScriptedEar(lambda words, take: 5)
    chunks, passes = say(model, text, voices, ear, lead=Behind(0.0))
    np.testing.assert_array_equal(codes_of(chunks), codes_of(say(model, text, voices)[0]))
    assert all(one.heard.takes == 1 and not one.heard.right for one in passes)
    told = [c for c in chunks if c.heard]
    assert [c.part for c in told] == list(range(len(passes)))
    assert sum(1 for c in chunks if len(c.samples)) > 2 * len(passes)  # in pieces


def test_a_listener_does_not_wait_for_the_ear_nor_for_a_better_take(model, voices, monkeypatch):
    monkeypatch.setattr(checked, "PATIENCE", 0.0)
    monkeypatch.setattr(checked, "RESERVE", 1e9)
    ear = ScriptedEar(lambda words, take: 5)
    ear.gate.clear()
    out, engine = [], Engine(model)
    for chunk in engine.speak(LONG, voices, OPTIONS, SEED, lambda: True, Behind(0.0), ear.open):
        out.append(chunk)
        if chunk.finish_reason and chunk.part + 1 == chunk.parts:
            ear.gate.set()  # all of it is out, and nothing was heard
    assert [c.part for c in out if c.heard] == list(range(out[0].parts))


def test_patience_for_the_first_sound_ends(model, voices, monkeypatch):
    """A take that is known to be wrong gets its chance; the listener gets the best there is when the next takes too
    long."""
    monkeypatch.setattr(checked, "PATIENCE", 0.2)
    ear = ScriptedEar(lambda words, take: 5)
    ear.gate.clear()
    chunks = []
    for chunk in Engine(model).speak(ONE, voices, OPTIONS, SEED, lambda: True, Behind(0.0), ear.open):
        chunks.append(chunk)
        if chunk.finish_reason:
            ear.gate.set()
    np.testing.assert_array_equal(codes_of(chunks), codes_of(say(model, ONE, voices)[0]))
    assert chunks[-1].heard.takes == 1 and not chunks[-1].heard.right


def test_an_ear_slower_than_the_model_is_waited_for(model, voices, monkeypatch):
    monkeypatch.setattr(checked, "MOST_BEGUN", 2)
    chunks, passes = say(model, LONG, voices, ScriptedEar(lambda words, take: 5 if take == 0 else 0))
    assert len(passes) > 4 and all(one.heard.takes == 2 for one in passes)
