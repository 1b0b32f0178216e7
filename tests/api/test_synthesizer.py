"""The facade: the same speech whole and in pieces, from any thread, cancelled at any time."""

import itertools
import threading

import numpy as np
import pytest

import s2mlx
from s2mlx.request.schedule import MOST_FRAMES, PIECES, Schedule
from tests import goldens
from tests.synthetic import make_model

TEXT = "Good morning in the house?"


def joined(chunks):
    return np.concatenate([c.samples for c in chunks]), np.concatenate([c.codes for c in chunks], axis=1)


@pytest.mark.parametrize("lead", [None, lambda: 0.0, lambda: 0.4, lambda: 60.0])
def test_stream_is_say_in_pieces(tts, voice, lead):
    whole = tts.say(TEXT, voice=voice, seed=5, max_frames=40)
    chunks = list(tts.stream(TEXT, voice=voice, seed=5, max_frames=40, lead=lead))
    samples, codes = joined(chunks)
    np.testing.assert_array_equal(codes, whole.codes)
    assert np.abs(samples - whole.samples).max() < 1e-5
    assert chunks[0].frames == 1
    assert [c.finish_reason for c in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert whole.samples.shape == (codes.shape[1] * 2048,)


def test_long_text_without_a_voice_keeps_the_first_one(tts):
    text = "One sentence is here. " * 40
    audio = tts.say(text, seed=1, max_frames=6, pause_ms=100)
    assert len(audio.passes) > 1
    assert [p.index for p in audio.passes] == list(range(len(audio.passes)))
    assert "".join(text[b:e] for b, e in (p.span for p in audio.passes)) == text
    frames = sum(p.frames for p in audio.passes)
    pauses = len(audio.passes) - 1
    assert len(audio.samples) == frames * tts.frame_samples + pauses * tts.sample_rate // 10


def test_passes_have_seeds_of_their_own(tts, voice):
    twice = tts.say("The same words. " * 60, voice=voice, seed=4, max_frames=8, min_frames=8)
    assert len(twice.passes) > 1
    assert not np.array_equal(twice.codes[:, :8], twice.codes[:, 8:16])


@pytest.mark.parametrize("batch", [1, 3])
def test_a_long_text_is_the_same_in_a_batch_and_one_by_one(tts, voice, batch):
    text = "The same words come again and again here. " * 40
    audio = tts.say(text, voice=voice, seed=4, max_frames=8, batch=batch)
    assert len(audio.passes) > 2 and [p.index for p in audio.passes] == list(range(len(audio.passes)))
    alone = list(tts.stream(text, voice=voice, seed=4, max_frames=8, lead=lambda: 0.0))  # a listener: one at a time
    samples, codes = joined(alone)
    np.testing.assert_array_equal(codes, audio.codes)
    assert np.abs(samples - audio.samples).max() < 1e-5


def test_dialogue_turns_follow_each_other(tts, voice):
    audio = tts.say(
        "<|speaker:0|>Hello there.<|speaker:1|>And good morning.", voice=[voice, voice], seed=2, max_frames=5
    )
    assert len(audio.passes) == 2


def test_two_callers_at_once_get_their_own(tts, voice):
    want = {seed: tts.say(TEXT, seed=seed, max_frames=15).codes for seed in (1, 2)}
    got = {}

    def caller(seed):
        got[seed] = tts.say(TEXT, seed=seed, max_frames=15).codes

    threads = [threading.Thread(target=caller, args=(seed,)) for seed in want]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for seed in want:
        np.testing.assert_array_equal(got[seed], want[seed])


def test_cancel_before_the_first_frame(tts):
    cancel = threading.Event()
    cancel.set()
    audio = tts.say(TEXT, cancel=cancel)
    assert audio.finish_reason == "cancelled" and len(audio.samples) == 0


class Paused:
    """A `lead`, asked once a frame or more, with which the model speaks a little, and goes on when the event is set."""

    def __init__(self, until):
        self.looks, self._until = 0, until

    def __call__(self):
        self.looks += 1
        if self.looks > 20:
            self._until.wait(60)
        return 0.0


def test_cancel_while_frames_come(tts):
    cancel, chunks = threading.Event(), []
    for chunk in tts.stream(TEXT, max_frames=300, min_frames=300, cancel=cancel, lead=Paused(cancel)):
        chunks.append(chunk)
        if len(chunks) == 3:
            cancel.set()
    assert chunks[-1].finish_reason == "cancelled" and chunks[-1].stats.frames < 100


def test_cancel_while_encoding(tts):
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(s2mlx.S2Error, match="cancelled"):
        tts.codec.encode(np.zeros(44100, np.float32), cancel=cancel)


def test_closing_the_iterator_frees_the_model(tts):
    closed = threading.Event()
    lead = Paused(closed)
    stream = tts.stream(TEXT, max_frames=400, min_frames=400, lead=lead)
    next(stream)
    stream.close()
    closed.set()
    tts.say(TEXT, max_frames=1)
    assert lead.looks < 100  # not after 400 frames


def test_close_ends_a_running_request():
    others = set(threading.enumerate())
    tts = s2mlx.load(goldens.path("tiny-q4_k_m.gguf"), tokenizer=goldens.GOLDEN / "tokenizer.json")
    stream = tts.stream(TEXT, max_frames=400, min_frames=400)
    next(stream)
    waiting = tts.stream(TEXT)
    tts.close()
    assert set(threading.enumerate()) <= others
    with pytest.raises(s2mlx.S2Error, match="closed"):
        list(stream)
    with pytest.raises(s2mlx.S2Error, match="closed"):
        list(waiting)
    with pytest.raises(s2mlx.S2Error, match="closed"):
        tts.say(TEXT)


def test_errors_reach_the_caller_and_the_worker_lives_on(tts):
    for call in (
        lambda: tts.say("   "),
        lambda: tts.say(TEXT, max_frames=10**6),
        lambda: tts.say("word " * 600, max_frames=500),
    ):
        with pytest.raises(s2mlx.S2Error):
            call()
    assert tts.say(TEXT, max_frames=2).codes.shape[1] == 2


def test_bad_arguments(tts, voice):
    for options in (dict(temperature=-1), dict(top_p=0), dict(seed=-1), dict(max_frames=0), dict(bogus=1)):
        with pytest.raises(s2mlx.UsageError):
            tts.say(TEXT, **options)
    foreign = s2mlx.Voice(voice.codes[:3], "x", voice.sample_rate, voice.codebook_size)
    with pytest.raises(s2mlx.VoiceError):
        tts.say(TEXT, voice=foreign)
    with pytest.raises(s2mlx.VoiceError):
        tts.clone((np.zeros(44100, np.float32), 44100), "  ")
    for samples in (np.zeros(0), np.full(5000, np.nan), np.zeros((2, 2))):
        with pytest.raises(s2mlx.S2Error):
            tts.codec.encode(samples)
    for codes in (np.zeros((3, 4), int), np.zeros((10, 4)), np.zeros(10, int)):
        with pytest.raises(s2mlx.UsageError):
            tts.codec.decode(codes)


def test_codec_from_any_thread(tts):
    wave = goldens.inputs()["wave_2s"]
    codes = tts.codec.encode(wave)
    assert codes.shape == (10, 44)
    whole = tts.codec.decode(codes)
    assert np.abs(tts.codec.decode(codes, chunk=3) - whole).max() < 1e-5


def test_clone_mixes_channels_and_resamples(tts):
    wave = goldens.inputs()["wave_2s"]
    stereo = np.stack([wave, wave], axis=1)
    np.testing.assert_array_equal(tts.clone((stereo, 44100), "x y").codes, tts.clone((wave, 44100), "x y").codes)
    assert tts.clone((wave[::2].copy(), 22050), "x y").codes.shape == (10, 44)
    with pytest.raises(s2mlx.AudioError):
        tts.clone((np.tile(wave, 40), 44100), "x y")


def test_clone_hears_the_words_that_it_is_not_given(tts, monkeypatch):
    from ..fakes import FakeEar

    clip = (goldens.inputs()["wave_2s"], 44100)
    ear = FakeEar.installed(monkeypatch, "Heard words.")
    assert tts.clone(clip).transcript == "Heard words." and ear.closed
    FakeEar.installed(monkeypatch, "Heard words.", confidence=0.3)
    with pytest.warns(UserWarning, match="heard badly.*Heard words"):
        tts.clone(clip)
    monkeypatch.setenv("S2MLX_EAR", "off")
    with pytest.raises(s2mlx.S2Error, match="switched off"):
        tts.clone(clip)


def test_two_hundred_requests_hold_memory_flat(voice, tmp_path):
    import mlx.core as mx

    path = make_model(tmp_path / "m.gguf", layers=1, fast_layers=1)
    with s2mlx.load(path, tokenizer=goldens.GOLDEN / "tokenizer.json") as small:

        def used():
            return small._worker.call(lambda keep_going: (mx.clear_cache(), mx.get_active_memory())[1])

        for i in range(200):
            small.say(TEXT, voice=voice if i % 2 else None, seed=i, max_frames=2, min_frames=2)
            if i == 20:
                early = used()
        assert used() == early


def pieces(lead, frames=200):
    schedule, waiting, sizes = Schedule(2048 / 44100, lead), 0, []
    for _ in range(frames):
        waiting += 1
        while size := schedule.take(waiting):
            sizes.append(size)
            waiting -= size
    return sizes


def test_schedule():
    assert pieces(None)[:6] == [1, 2, 4, 8, 16, 16]
    assert set(pieces(lambda: 0.0)) == {1}
    assert max(pieces(lambda: 100.0)) == MOST_FRAMES
    assert max(pieces(lambda: float("inf"))) == MOST_FRAMES
    assert pieces(lambda: 0.4)[3:6] == [4, 4, 4]


def test_pieces_have_few_sizes_whatever_the_listener_does():
    """Every other size would have kernels compiled while the sound plays."""
    leads = itertools.cycle([100.0, 100.0, 0.1, 3.0, 0.7])
    sizes = pieces(lambda: next(leads))
    assert set(sizes) <= set(PIECES) and len(set(sizes)) > 2 and sum(sizes) > 180


def test_progress_of_loading(tmp_path):
    seen = []
    path = goldens.path("tiny-q4_k_m.gguf")
    with s2mlx.load(path, tokenizer=goldens.GOLDEN / "tokenizer.json", on_progress=lambda *p: seen.append(p)) as tts:
        loaded = len(seen)
        assert [p[0] for p in seen] == sorted(p[0] for p in seen) and {p[1] for p in seen} == {seen[-1][1]}
        tts.codec.encode(np.zeros(4096, np.float32))  # builds the encoding half, long after loading
        assert len(seen) == loaded


def test_loading_can_be_ended(tmp_path):
    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    before = threading.active_count()
    with pytest.raises(Enough):
        s2mlx.load(goldens.path("tiny-q4_k_m.gguf"), tokenizer=goldens.GOLDEN / "tokenizer.json", on_progress=stop)
    assert threading.active_count() == before


def test_the_model_is_not_called_from_its_own_thread(tts):
    """A callback on the model's thread that asks the model waits for itself."""
    with pytest.raises(s2mlx.UsageError, match="from its own thread"):
        list(tts.stream("Hello there.", seed=1, max_frames=9, lead=lambda: float(len(tts.say("No.").samples))))
