"""Several texts in one request: each as if it were alone, with its own seed; the parts of one text; cancelled."""

import threading

import numpy as np
import pytest

import s2mlx
from s2mlx.errors import UsageError

TEXT = "Good morning in the house?"


def codes_of(chunks):
    """codes int32 [num_codebooks, frames] of each text, by its number."""
    found = {}
    for number, chunk in chunks:
        found.setdefault(number, []).append(chunk.codes)
    return {number: np.concatenate(codes, axis=1) for number, codes in found.items()}


@pytest.mark.parametrize("has_voice", [True, False])
def test_versions_are_those_of_requests_with_their_seeds(tts, voice, has_voice):
    options = s2mlx.Options(max_frames=12, batch=3)
    own = voice if has_voice else None
    chunks = list(tts.stream_each([(TEXT, 5), (TEXT, 6), (TEXT, 7)], voice=own, options=options))
    numbers = [number for number, _ in chunks]
    assert numbers == sorted(numbers) and set(numbers) == {0, 1, 2}
    assert [chunk.seed for _, chunk in chunks if chunk.finish_reason] == [5, 6, 7]
    assert {chunk.text for _, chunk in chunks} == {TEXT}
    for number, codes in codes_of(chunks).items():
        alone = tts.say(TEXT, voice=own, options=options, seed=5 + number)
        np.testing.assert_array_equal(codes, alone.codes)


def test_they_share_the_reads_of_the_weights(tts, voice, monkeypatch):
    from s2mlx.request.run import RequestRun

    together = []
    real = RequestRun._together
    monkeypatch.setattr(RequestRun, "_together", lambda self: together.append(len(self.source.known)) or real(self))
    options = s2mlx.Options(max_frames=3, batch=4)
    list(tts.stream_each([(TEXT, seed) for seed in range(4)], voice=voice, options=options))
    assert together == [4]


def test_a_pass_alone_with_its_seed_is_the_same(tts, voice):
    text, options = "The same words are here. " * 60, s2mlx.Options(max_frames=6, seed=4)
    whole = [chunk for chunk in tts.stream(text, voice=voice, options=options) if chunk.finish_reason]
    assert len(whole) > 1 and whole[0].seed == 4 and len({chunk.seed for chunk in whole}) == len(whole)
    again = tts.say(whole[1].text, voice=voice, options=options.replace(seed=whole[1].seed))
    passes = tts.say(text, voice=voice, options=options)
    begin, frames = passes.passes[0].frames, passes.passes[1].frames
    np.testing.assert_array_equal(again.codes, passes.codes[:, begin : begin + frames])


def test_the_plan_is_what_is_spoken(tts, voice):
    text = "One sentence is here. " * 40
    plan = tts.plan(text)
    spoken = [c for c in tts.stream(text, voice=voice, max_frames=2, seed=1) if c.finish_reason]
    assert [(one.begin, one.end) for one in plan] == [chunk.span for chunk in spoken]
    assert [one.words(text) for one in plan] == [chunk.text for chunk in spoken]
    assert all(one.pause_after for one in plan[:-1]) and not plan[-1].pause_after
    with pytest.raises(UsageError, match="nothing to say"):
        tts.plan(" ... ")


def test_parts_follow_each_other_in_one_voice(tts):
    parts = [("One sentence is here.", 1), ("And another.", 2), ("The last one.", 3)]
    options = s2mlx.Options(max_frames=5, min_frames=5)
    follow = codes_of(tts.stream_each(parts, options=options, follow=True))
    apart = codes_of(tts.stream_each(parts, options=options))
    np.testing.assert_array_equal(follow[0], apart[0])
    assert not np.array_equal(follow[1], apart[1])  # it has the first one's voice


def test_cancelled_between_chunks(tts, voice):
    cancel = threading.Event()
    seen = []
    for number, chunk in tts.stream_each([(TEXT, 1), (TEXT, 2)], options=s2mlx.Options(max_frames=30), cancel=cancel):
        seen.append((number, chunk.finish_reason))
        cancel.set()
    assert seen[-1] == (0, "cancelled") and {number for number, _ in seen} == {0}


def test_no_texts_are_refused(tts):
    with pytest.raises(UsageError, match="no texts"):
        tts.stream_each([])
