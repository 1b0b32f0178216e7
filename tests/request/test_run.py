"""A request on its way: stopped at every step, with a history that outgrows the context, and what it leaves behind."""

import dataclasses
import gc
import weakref

import mlx.core as mx
import numpy as np
import pytest

import s2mlx
from s2mlx.errors import GenerationError, ModelError, S2Error
from s2mlx.networks.generate import Frame, Generation, generate
from s2mlx.networks.load import limit_memory, load_model
from s2mlx.options import Options, Sampling
from s2mlx.request import conversation as conversations
from s2mlx.request import engine as engines
from s2mlx.request import run as runs
from s2mlx.request.conversation import Conversation
from s2mlx.request.engine import Engine, load_engine
from s2mlx.request.passes import plan_passes
from s2mlx.request.run import RequestRun
from s2mlx.text import estimate_seconds, most_frames
from s2mlx.voices import Voice
from s2mlx.weights.catalog import DEMO, find_model
from tests import goldens
from tests.synthetic import make_model

TEXT = "Good morning in the house?"
TOKENIZER = goldens.GOLDEN / "tokenizer.json"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Tiny, with a context of 512 positions."""
    return load_model(make_model(tmp_path_factory.mktemp("model") / "m.gguf", layers=1, fast_layers=1), TOKENIZER)


@pytest.fixture
def voice():
    return Voice(np.arange(120).reshape(10, 12) % 64, "Some words.", 44100, 256)


class Patience:
    """keep_going that says yes `times` times."""

    def __init__(self, times):
        self.left, self.asked_after = times, 0

    def __call__(self):
        self.left -= 1
        self.asked_after += self.left < -1
        return self.left >= 0


def say(engine, text, voices, options, keep_going=lambda: True):
    chunks = list(engine.speak(text, voices, options, 7, keep_going))
    for chunk in chunks:
        assert len(chunk.samples) >= chunk.frames * 2048
    return chunks, np.concatenate([c.codes for c in chunks], axis=1)


@pytest.mark.parametrize("text", [TEXT, "The same words come again and again here. " * 20], ids=["one pass", "a batch"])
def test_cancel_at_every_step(model, voice, text, monkeypatch):
    """In the reference's prefill, the text's, between frames: it ends there, and the next request is none the worse."""
    monkeypatch.setattr("s2mlx.networks.slow_ar.PREFILL_CHUNK", 16)
    options = Options(max_frames=40, min_frames=40)
    engine = Engine(model)
    want = say(Engine(model), text, [voice], options)[1]
    for times in range(0, 30, 3):
        patience = Patience(times)
        chunks, codes = say(engine, text, [voice], options, patience)
        assert chunks[-1].finish_reason == "cancelled" and patience.asked_after <= 1
        np.testing.assert_array_equal(codes, want[:, : codes.shape[1]])
        if times % 5 == 0:
            engine.prefixes.clear()
    np.testing.assert_array_equal(say(engine, text, [voice], options)[1], want)


def test_frames_that_are_no_sound_yet_are_dropped_by_a_cancel(model):
    """Decoding them would keep the caller waiting: on a CPU up to seconds."""
    prefill = 2
    chunks, codes = say(Engine(model), TEXT, [], Options(min_frames=300, max_frames=300), Patience(prefill + 20))
    assert codes.shape[1] == 1 + 2 + 4 + 8  # pieces of 1, 2, 4, 8, then some of 16
    assert chunks[-1].finish_reason == "cancelled" and len(chunks[-1].samples) == chunks[-1].frames == 0


def test_cancel_in_the_codec(model):
    wave = np.zeros(44100 * 5, np.float32)
    patience = Patience(2)
    assert model.codec.encode(wave, patience).shape[1] == 64 and patience.asked_after == 0
    patience = Patience(3)
    codes = np.zeros((10, 50), np.int32)
    assert len(model.codec.decode(codes, 5, patience)) == 15 * 2048 and patience.asked_after == 0


def after_turns(model, n, frames=20, **options):
    """A dialogue in which so many turns were said."""
    conversation = Conversation(model, [], Options(**options))
    for i in range(n):
        conversation.remember(f"Turn {i}.", np.zeros((10, frames), np.int32))
    return conversation


def test_history_takes_half_of_the_context_at_most(model):
    [planned] = plan_passes(TEXT)
    long = after_turns(model, 40)
    prompt, limit = long.prompt(planned)
    assert 180 < len(prompt) <= 256 and limit == most_frames(TEXT, 2048 / 44100) < 512 - len(prompt)
    assert 3 < len(long.history) < 40 and long.history[-1].text == "Turn 39."


def test_history_leaves_the_frames_that_were_asked_for(model):
    [planned] = plan_passes(TEXT)
    prompt, limit = after_turns(model, 5, max_frames=400).prompt(planned)
    assert len(prompt) <= 112 and limit == 400


def test_a_long_dialogue_is_not_tokenized_again_and_again(model, monkeypatch):
    built, build = [], conversations.build_prompt
    monkeypatch.setattr(conversations, "build_prompt", lambda *a: built.append(1) or build(*a))
    text = "".join(f"<|speaker:{i % 2}|>Turn {i}." for i in range(40))
    chunks, codes = say(Engine(model), text, [], Options(max_frames=10, min_frames=10))
    assert codes.shape[1] == 400 and len(built) <= 2 * 40


def test_a_long_text_with_a_nul_is_spoken(model):
    chunks, codes = say(Engine(model), "Hello wor\0ld there. " * 60, [], Options(max_frames=2, min_frames=2))
    assert chunks[-1].parts > 1 and codes.shape[1] == 2 * chunks[-1].parts


def test_a_turn_goes_on_where_the_last_one_ended(model, voice, monkeypatch):
    """What the cache has of a dialogue is not computed again; what is said is what a whole prompt leads to."""
    fed, prefill = [], type(model.dual_ar).prefill
    monkeypatch.setattr(
        type(model.dual_ar),
        "prefill",
        lambda self, matrix, *a: fed.append(matrix.shape[1]) or prefill(self, matrix, *a),
    )
    text = "".join(f"<|speaker:{i % 2}|>Turn {i}." for i in range(5))
    options = Options(max_frames=12, min_frames=5)
    chunks, codes = say(Engine(model), text, [voice], options)
    whole = chunks[-1].stats.prompt_tokens
    going_on, fed[:] = sum(fed), []
    monkeypatch.setattr(RequestRun, "seen", property(lambda self: None, lambda self, value: None), raising=False)
    assert np.array_equal(say(Engine(model), text, [voice], options)[1], codes)
    assert going_on < 0.4 * sum(fed) and whole > sum(fed)


@pytest.mark.parametrize("ahead", [False, True])
def test_a_cache_that_is_rewound_forgets(model, ahead):
    """Also the frame that was under way when the last one turned out to be the end."""
    first, second = (np.random.default_rng(i).integers(0, 64, (11, n)).astype(np.int32) for i, n in ((0, 20), (1, 9)))
    cache = model.dual_ar.new_cache()
    for _ in generate(model.dual_ar, Generation(first, 1, 10, 10), Sampling(), cache=cache, ahead=ahead):
        pass
    cache.rewind(12)
    got = model.dual_ar.prefill(second, cache)
    fresh = model.dual_ar.new_cache()
    model.dual_ar.prefill(first[:, :12], fresh)
    for a, b in zip(got, model.dual_ar.prefill(second, fresh)):
        assert np.abs(np.array(a) - np.array(b)).max() < 1e-5
    assert cache.offset == fresh.offset == 21


def test_warming_up_takes_every_way_once_and_changes_nothing(model, voice, monkeypatch):
    from s2mlx.codec.codec import CodecStream

    engine, options = Engine(model), Options(max_frames=8, min_frames=8)
    want = say(engine, TEXT, [voice], options)[1]
    sizes, decode = [], CodecStream.decode
    monkeypatch.setattr(CodecStream, "decode", lambda self, codes: sizes.append(codes.shape[1]) or decode(self, codes))
    engine.warm_up(lambda: True)
    assert {1, 2, 4, 8, 16} <= set(sizes)
    np.testing.assert_array_equal(say(engine, TEXT, [voice], options)[1], want)
    sizes.clear()
    engine.warm_up(Patience(1))  # somebody wants to speak, or to leave
    assert max(sizes, default=0) <= 1


LONG = "The same words come again and again here. " * 20


def test_later_passes_cut_a_limit_to_the_room_they_have(model):
    """Their text may be longer, or the first pass their reference: what was asked for fitted the first."""
    first, second, *_ = plan_passes(LONG)
    with pytest.raises(GenerationError, match="do not fit"):
        after_turns(model, 0, max_frames=400).prompt(first)
    prompt, limit = after_turns(model, 0, max_frames=400).prompt(second)
    assert limit == 512 - len(prompt)


@pytest.mark.parametrize("frames, borrowed", [(100, True), (900, False)])
def test_a_pass_that_fills_the_context_is_no_reference(tmp_path, monkeypatch, frames, borrowed):
    model = load_model(make_model(tmp_path / "m.gguf", layers=1, fast_layers=1, context=2048), TOKENIZER)
    voices = []
    build = conversations.build_prompt
    monkeypatch.setattr(
        conversations, "build_prompt", lambda t, c, text, v, *h: voices.append(len(v)) or build(t, c, text, v, *h)
    )
    say(Engine(model), LONG, [], Options(max_frames=frames, min_frames=frames))
    tried, *used = voices[1:]
    assert voices[0] == 0 and tried == 1 and set(used) == {int(borrowed)}


def test_a_kept_reference_changes_nothing(model, voice, monkeypatch):
    """It is read once; what is said is the same."""
    fed, prefill = [], type(model.dual_ar).prefill
    monkeypatch.setattr(
        type(model.dual_ar),
        "prefill",
        lambda self, matrix, *a: fed.append(matrix.shape[1]) or prefill(self, matrix, *a),
    )
    engine, options = Engine(model), Options(max_frames=20)
    (_, cold), cost = say(engine, TEXT, [voice], options), sum(fed)
    fed.clear()
    (_, warm) = say(engine, TEXT, [voice], options)
    np.testing.assert_array_equal(cold, warm)
    assert sum(fed) < cost - voice.frames


def test_prefixes_are_bounded(model, voice):
    engine, options = Engine(model), Options(max_frames=2)
    say(engine, TEXT, [voice], options)
    prefixes, one = engine.prefixes, engine.prefixes.nbytes
    prefixes.max_bytes = 2 * one
    for i in range(5):
        say(engine, TEXT, [dataclasses.replace(voice, transcript=f"{voice.transcript} {i}")], options)
        assert prefixes.nbytes <= 2 * one
    prefixes.max_bytes = one - 1
    say(engine, TEXT, [dataclasses.replace(voice, transcript="yet another one")], options)
    assert len(prefixes) == 0


def test_passes_that_are_over_leave_nothing_behind(model, voice):
    """Of a book of a thousand passes no stream, cache or lane stays once its pass is spoken."""
    alive = []
    options = Options(max_frames=20, min_frames=20, batch=2)
    for chunk in Engine(model).speak(LONG * 6, [voice], options, 7, lambda: True):
        if chunk.finish_reason:
            alive.append(_in_memory())
    assert len(alive) > 9 and max(alive[4:]) <= max(alive[:4])


def test_how_many_passes_run_at_once_is_the_machine_s_to_say(model, monkeypatch):
    """Weights that MLX does not count take memory all the same."""
    held, beside = mx.get_active_memory(), 1 << 30
    monkeypatch.setattr(model, "host_bytes", beside)
    assert Engine(model).memory >= beside
    for lanes, wanted in ((0.5, 1), (2.5, 2), (3.5, 3), (1000, 4)):
        memory = held + beside + int(2 * lanes * model.dual_ar.kv_bytes(engines.PASS_POSITIONS))
        monkeypatch.setattr(engines, "machine_memory", lambda: memory)
        monkeypatch.setattr(engines.mx, "get_active_memory", lambda: held)
        assert engines.default_batch(model) == wanted


def test_a_book_is_prepared_as_it_is_spoken(model, voice, monkeypatch):
    """Not all of it before the next frame: a listener would hear a hole, and a cancel would wait."""
    built, build = [], conversations.build_prompt
    monkeypatch.setattr(conversations, "build_prompt", lambda *a: built.append(1) or build(*a))
    stream = Engine(model).speak(LONG * 30, [voice], Options(max_frames=4, min_frames=4, batch=2), 7, lambda: True)
    first = next(stream)
    assert first.parts > 20 and len(built) <= 3
    ends = [next(c for c in stream if c.finish_reason) for _ in range(4)]
    assert [c.part for c in ends] == [0, 1, 2, 3] and len(built) <= 8


def _in_memory() -> int:
    """Streams that have decoded something, sequences and their pasts."""
    gc.collect()
    kinds = ("CodecStream", "KVCache", "_Lane")
    return sum(
        type(o).__name__ in kinds and (type(o).__name__ != "CodecStream" or bool(o._state.tails))
        for o in gc.get_objects()
    )


def test_the_model_waits_for_a_listener_who_is_far_behind(model, monkeypatch):
    monkeypatch.setattr(runs, "POLL", 0.001)
    ahead = iter([0.0] * 12 + [601.0] * 5 + [0.0] * 10**6)
    asked = []
    chunks = list(
        Engine(model).speak(
            TEXT,
            [],
            Options(max_frames=10, min_frames=10),
            7,
            lambda: True,
            lambda: asked.append(next(ahead)) or asked[-1],
        )
    )
    assert asked.count(601.0) == 5 and chunks[-1].finish_reason == "length"
    # and a cancel still ends it
    patience = Patience(50)
    chunks = list(Engine(model).speak(TEXT, [], Options(max_frames=10, min_frames=10), 7, patience, lambda: 601.0))
    assert chunks[-1].finish_reason == "cancelled" and patience.left < 0


def test_a_closed_synthesizer_frees_its_weights_and_keeps_its_facts():
    tts = s2mlx.load(goldens.path("tiny-q4_k_m.gguf"), tokenizer=TOKENIZER)
    parts = [weakref.ref(tts._engine.model.codec), weakref.ref(tts._engine.model.dual_ar)]
    tts.close()
    gc.collect()
    assert [part() for part in parts] == [None, None]
    assert (tts.sample_rate, tts.frame_samples, tts.num_codebooks) == (44100, 2048, 10) and tts.name
    for call in (
        lambda: tts.say(TEXT),
        lambda: tts.codec.encode(np.zeros(9000)),
        lambda: tts.codec.decode(np.zeros((10, 2), np.int32)),
    ):
        with pytest.raises(S2Error, match="closed"):
            call()


def test_loading_stops_when_nobody_waits_for_it(tmp_path):
    path = make_model(tmp_path / "m.gguf")
    asked = []
    with pytest.raises(S2Error, match="closed"):
        load_engine(path, TOKENIZER, None, None, None, lambda: bool(asked.append(1)))
    assert len(asked) == 1


def test_a_memory_limit_goes_with_its_model():
    before = mx.set_memory_limit(10**12)
    try:
        limit_memory(10**9)
        limit_memory(2 * 10**9)
        limit_memory(None)
        assert mx.set_memory_limit(10**12) == 10**12
    finally:
        mx.set_memory_limit(before)


@pytest.mark.parametrize("limit", [0, -5])
def test_memory_limits_that_make_no_sense(limit):
    with pytest.raises(s2mlx.UsageError):
        s2mlx.load(goldens.path("tiny-q4_k_m.gguf"), tokenizer=TOKENIZER, memory_limit=limit)


def test_names_that_mean_no_model(tmp_path, monkeypatch):
    import os

    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", "/dev/zero", "~nobody-of-this-name/m.gguf", "x" * 5000, "a\0b"):
        with pytest.raises(ModelError):
            find_model(name)
    (tmp_path / "s2mlx").mkdir()
    (tmp_path / "s2mlx" / "model").write_bytes(b"\xff\xfe")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(ModelError, match="UTF-8"):
        find_model()


def test_a_model_may_follow_the_beginning_of_a_reference_only(tmp_path, monkeypatch):
    path = make_model(tmp_path / "m.gguf", metadata={"s2mlx.speech.reference_seconds": 2.0})
    voices = []
    build = conversations.build_prompt
    monkeypatch.setattr(conversations, "build_prompt", lambda *a: voices.extend(a[3]) or build(*a))
    with s2mlx.load(path, tokenizer=goldens.GOLDEN / "tokenizer.json") as tts:
        frames = round(3 * tts.sample_rate / tts.frame_samples)
        codes = np.random.default_rng(0).integers(0, 256, (10, frames))
        long = s2mlx.Voice(codes, "One sentence is here. Another one is there. And a third.", tts.sample_rate, 256)
        tts.say("Hello.", voice=long, max_frames=2, min_frames=2)
    assert 0 < voices[0].frames < frames and long.transcript.startswith(voices[0].transcript)
    assert len(voices[0].transcript) < len(long.transcript)


def test_a_model_may_ask_for_short_passes_and_single_speakers(tmp_path, monkeypatch):
    """Keys of a small model: passes of 3 seconds; turns without tags and history, each in its speaker's voice."""
    path = make_model(tmp_path / "m.gguf", metadata={"s2mlx.speech.pass_seconds": 3.0, "s2mlx.speech.dialogue": False})
    prompts = []
    build = conversations.build_prompt
    monkeypatch.setattr(conversations, "build_prompt", lambda *a: prompts.append(a[2:]) or build(*a))
    with s2mlx.load(path, tokenizer=goldens.GOLDEN / "tokenizer.json") as tts:
        assert tts.config.pass_seconds == 3.0
        text = "One short sentence stands here. " * 4
        assert len(tts.say(text, max_frames=2, min_frames=2).passes) == 4
        prompts.clear()
        voices = [s2mlx.Voice(np.full((10, 3), i), f"voice {i}", 44100, 256) for i in (1, 2)]
        tts.say(
            "<|speaker:0|>Hello there.<|speaker:1|>Good morning.<|speaker:7|>Well.",
            voice=voices,
            max_frames=2,
            min_frames=2,
        )
        assert prompts == [("Hello there.", voices[:1], []), ("Good morning.", voices[1:], []), ("Well.", [], [])]
        prompts.clear()
        tts.say("Hello there.", voice=voices, max_frames=2, min_frames=2)
        assert prompts == [("Hello there.", voices[:1], [])]


@pytest.mark.parametrize("lead", [None, lambda: 0.0])
def test_the_rate_changes_the_sound_and_not_the_codes(model, voice, lead):
    """Twice as fast is half as long in every pass, the pauses stay, the figures follow."""
    plain = Options(max_frames=9, min_frames=9, pause_ms=100)
    usual, fast = (
        list(Engine(model).speak(LONG, [voice], options, 7, lambda: True, lead))
        for options in (plain, plain.replace(rate=2.0))
    )
    codes = [np.concatenate([chunk.codes for chunk in chunks], axis=1) for chunks in (usual, fast)]
    np.testing.assert_array_equal(*codes)
    passes, rate = usual[0].parts, model.codec_config.sample_rate
    pause = rate // 10
    assert sum(len(chunk.samples) for chunk in fast) == passes * 9 * 2048 // 2 + (passes - 1) * pause
    assert fast[-1].stats.audio_seconds == pytest.approx(sum(len(chunk.samples) for chunk in fast) / rate)
    assert passes > 1


@pytest.mark.parametrize("lead, kept", [(None, [0, 2]), (lambda: 100.0, [0])])
def test_what_had_ended_behind_a_cancelled_pass_is_kept(model, voice, monkeypatch, lead, kept):
    """Passes generated together end in any order. A listener has stopped; a file keeps what is whole."""

    def scripted(dual_ar, requests, *_, **__):
        for _, request in zip(range(3), requests, strict=False):
            assert request
        frame = Frame(np.zeros(10, np.int32))
        for number in (0, 1, 2, 1, 2):
            yield number, frame
        yield 2, Frame(None, "stop")
        yield 0, Frame(None, "stop")
        yield 1, Frame(None, "cancelled")

    monkeypatch.setattr(runs, "generate_batch", scripted)
    monkeypatch.setattr(RequestRun, "width", lambda self: 3)
    chunks = list(Engine(model).speak(3 * LONG, [voice], Options(), 7, lambda: True, lead))
    whole = [chunk.part for chunk in chunks if chunk.finish_reason == "stop"]
    assert whole == kept and [c.part for c in chunks if c.finish_reason == "cancelled"] == [1]
    assert sum(chunk.frames for chunk in chunks if chunk.part == 2) == (2 if 2 in kept else 0)


@pytest.mark.parametrize("text", ["🙂", "***", "[laugh]", "<|speaker:0|>[laugh]", "天亮", "\x1b[1m\x1b[0m"])
def test_what_the_bundled_model_has_no_words_for_is_nothing_to_say(bundled, text):
    """With nothing before it, it spoke the words of its voice's clip."""
    with pytest.raises(S2Error, match="nothing to say"):
        list(bundled.stream(text, seed=1))


@pytest.fixture(scope="module")
def bundled():
    with s2mlx.load(DEMO) as tts:
        yield tts


def test_a_lone_tag_is_meant_for_a_model_with_tags(model):
    chunks, codes = say(Engine(model), "[laugh]", [], Options(min_frames=2, max_frames=2))
    assert codes.shape[1] == 2


def test_what_a_model_has_no_words_for_is_a_pause_in_a_longer_text(bundled):
    text = "<|speaker:0|>Yes.<|speaker:0|>天亮之前<|speaker:0|>No."
    chunks = list(bundled.stream(text, seed=1, voice=["nora"], max_frames=30, pause_ms=100))
    ends = [c for c in chunks if c.finish_reason]
    assert [text[slice(*c.span)] for c in ends] == ["<|speaker:0|>Yes.", "<|speaker:0|>No."]
    assert not ends[0].samples[-2205:].any() and ends[1].parts == 2


def test_a_model_that_never_ends_is_stopped_by_the_length_of_its_words(model, voice):
    """It made 47 seconds of the word No."""
    frame = 2048 / 44100
    for text in ("No.", "No. [long pause] Yes.", "word " * 11 + "word"):
        [planned] = plan_passes(text)
        _, limit = after_turns(model, 0).prompt(planned)
        assert 3 * estimate_seconds(text) + 2 <= limit * frame < 3 * estimate_seconds(text) + 14
        _, asked = after_turns(model, 0, max_frames=333).prompt(planned)
        _, least = after_turns(model, 0, min_frames=300).prompt(planned)
        assert asked == 333 and least == max(limit, 300)
    [long] = plan_passes("one more word " * 20)
    prompt, limit = after_turns(model, 0).prompt(long)
    assert limit == 512 - len(prompt)  # the context holds no more
    never = Options(temperature=0.0, seed=3)
    chunks, codes = say(Engine(model), "No.", [voice], never)
    assert chunks[-1].finish_reason == "length" and codes.shape[1] == most_frames("No.", frame) < 100
