"""Passes of a text that is being written: those of the whole where it comes at once, and what a writer's pauses do."""

from __future__ import annotations

import random

import pytest

from s2mlx import SpeechInput
from s2mlx.errors import UsageError
from s2mlx.request import pass_source
from s2mlx.request.pass_source import ArrivingPasses
from s2mlx.request.passes import plan_passes
from tests.text.test_arriving import cut, made_up


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("s2mlx.speech_input.time", clock)
    monkeypatch.setattr(pass_source, "time", clock)
    return clock


def drained(source):
    """Each pass as a request takes them: the next is known at the latest when one has ended."""
    found = []
    while source.hurry() is None and source.known:
        planned = source.known.popleft()
        found.append((planned.index, planned.text, planned.span, source.pause_after(planned), planned.speaker))
    return found


def planned(text, limit):
    return [(p.index, p.text, p.span, p.pause_after, p.speaker) for p in plan_passes(text, limit)]


@pytest.mark.parametrize("at_once", [True, False], ids=["before it begins", "while it looks"])
def test_random_cuts_give_the_passes_of_the_whole(at_once, clock):
    for seed in range(60):
        draw = random.Random(seed)
        text, limit = "Words. " + made_up(seed), draw.choice([0.5, 5.0, 30.0])
        writer = SpeechInput()
        source = ArrivingPasses(writer, limit)
        for piece in cut(text, draw):
            writer.write(piece)
            if not at_once:
                source.look()
        writer.close()
        assert drained(source) == planned(text, limit), (seed, text)


def said(source):
    assert source.hurry() is None
    return source.known.popleft().text


def waits(source):
    """Nothing can be spoken yet; after how long to look again, if nothing comes."""
    wait = source.hurry()
    assert wait is not None and not source.known
    return wait.seconds


def test_a_sentence_waits_a_moment_for_a_writer_that_writes_on(clock):
    writer = SpeechInput()
    source = ArrivingPasses(writer, 30.0)
    assert waits(source) is None
    writer.write("First sentence. The second one")
    assert waits(source) == pytest.approx(pass_source.SETTLED)
    clock.now += pass_source.SETTLED + 0.001
    assert said(source) == "First sentence."
    writer.write(" is here. And a th")
    for _ in range(12):  # it never rests
        writer.write("ird ")
        clock.now += 0.01
        if (wait := source.hurry()) is None:
            break
        assert wait.seconds <= pass_source.LONGEST_SETTLING
    assert source.known.popleft().text.startswith("The second one is here.")


def test_a_line_a_clause_and_what_is_neither(clock):
    writer = SpeechInput(patience=2.0)
    source = ArrivingPasses(writer, 30.0)
    writer.write("A whole line.\n")
    assert waits(source) <= pass_source.SETTLED
    clock.now += pass_source.LINE_PAUSE + 0.001
    assert said(source) == "A whole line."
    writer.write("Well, this is ")
    clock.now += 1.9
    assert waits(source) == pytest.approx(0.1)
    clock.now += 0.2
    assert said(source) == "Well,"
    assert waits(source) is None
    clock.now += 1000
    assert waits(source) is None  # amid a clause there is nothing to hurry for
    writer.write("it. ")
    writer.close()
    assert said(source) == "this is it."
    assert source.hurry() is None and not source.known


def test_a_pause_follows_unless_it_was_the_last(clock):
    writer = SpeechInput()
    source = ArrivingPasses(writer, 30.0)
    writer.write("One.\n")
    source.hurry()
    clock.now += 1
    source.hurry()
    first = source.known.popleft()
    assert source.pause_after(first)  # something may follow
    writer.write("...\n")
    writer.close()
    assert not source.pause_after(first) and source.hurry() is None and not source.known


def test_the_writers_error_comes_after_what_was_complete():
    writer = SpeechInput()
    source = ArrivingPasses(writer, 30.0)
    with pytest.raises(OSError), writer:
        writer.write("This is complete. This is no")
        raise OSError("the disk is gone")
    assert said(source) == "This is complete."
    with pytest.raises(OSError, match="the disk is gone"):
        source.hurry()


@pytest.mark.parametrize("text", ["", " \n", "... 🙂"])
def test_nothing_to_say(text):
    writer = SpeechInput()
    writer.write(text)
    writer.close()
    with pytest.raises(UsageError, match="nothing to say"):
        ArrivingPasses(writer, 30.0).hurry()


def test_speakers_are_noticed_when_they_come():
    writer = SpeechInput()
    source = ArrivingPasses(writer, 30.0)
    writer.write("Nobody. ")
    writer.flush()
    source.hurry()
    assert not source.dialogue
    writer.write("<|speaker:1|>Somebody.")
    writer.flush()
    source.look()
    assert source.dialogue and [one.speaker for one in source.known] == [None, 1]


def test_a_day_of_text_does_not_fill_the_memory(clock):
    writer = SpeechInput()
    source = ArrivingPasses(writer, 10.0)
    passes = 0
    for _ in range(400):
        writer.write("The day is long and its sentences are many. " * 15)
        clock.now += 1
        while source.hurry() is None:
            source.known.popleft()
            passes += 1
    assert passes > 1000 and len(source._text) < 1000 and not source._after_silence
