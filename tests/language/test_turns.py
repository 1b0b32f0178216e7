"""The writer and the voice take turns on one thread: in a simulated time, at measured speeds, the sound never stops."""

import random
import threading

import pytest

from s2mlx.language.turns import Turns
from s2mlx.request import pass_source
from s2mlx.request.pass_source import ArrivingPasses
from s2mlx.speech_input import SpeechInput
from s2mlx.text import estimate_seconds
from s2mlx.worker import Aside, Worker

TOKEN = 1 / 40  # seconds that a small model takes for one on a Mac
FRAME = 2048 / 44100
PREFILL = 0.12  # of a pass
PIECES = (1, 2, 4, 8, 16)


class Time:
    """Passes when somebody works, and for nobody else."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Listener:
    """Hears what was made from the first piece on; `gaps`: how long it waited, each time."""

    def __init__(self, time):
        self._time, self._end, self.first, self.gaps = time, None, None, []

    def hear(self, seconds):
        if self._end is None:
            self.first = self._end = self._time.now
        if self._time.now > self._end:
            self.gaps.append(self._time.now - self._end)
            self._end = self._time.now
        self._end += seconds

    def lead(self):
        return 0.0 if self._end is None else self._end - self._time.now


def converse(tokens, monkeypatch, rtf=0.5, turns=Turns):
    """A real worker, a real text that arrives, a writer and a voice that only let time pass; what was heard."""
    time = Time()
    monkeypatch.setattr(pass_source, "time", time)
    monkeypatch.setattr("s2mlx.speech_input.time", time)
    listener, text, log = Listener(time), SpeechInput(), []
    whose = turns(listener.lead)

    def write(keep_going):
        for token in tokens:
            time.now += TOKEN
            whose.wrote(token)
            text.write(token)
            log.append("w")
            yield token
            if not whose.goes_on():
                yield Aside(lambda wake: None, 0.0, whose.gets_a_turn)
        text.close()

    def speak(keep_going):
        source = ArrivingPasses(text, 30.0)
        while True:
            while (wait := source.hurry()) is not None:
                yield wait
            if not source.known:
                return
            planned = source.known.popleft()
            whose.spoke(planned.span[1])
            time.now += PREFILL
            left, size = max(1, round(estimate_seconds(planned.text) / FRAME)), 1
            while left:
                size = min(left, size)
                time.now += size * FRAME * rtf
                listener.hear(size * FRAME)
                log.append("s")
                yield planned.span
                left -= size
                size = max(n for n in PIECES if n <= max(1, min(2 * size, listener.lead() / 2 / FRAME)))

    worker = Worker()
    try:
        text.begin()
        heard = worker.stream(speak)
        written = worker.stream(write)
        done = threading.Thread(target=lambda: list(written))
        done.start()
        spans = list(heard)
        done.join(20)
    finally:
        worker.close()
    assert spans[-1][1] == len("".join(tokens))
    return listener, "".join(log)


def told(draw, lengths):
    """Tokens of sentences of so many words each."""
    for count in lengths:
        words = [draw.choice(["sea", "lamp", "keeper", "was", "the", "lonely", "of", "harbour"]) for _ in range(count)]
        yield from (f"{' ' * (i > 0)}{word}" for i, word in enumerate(["The", *words[1:]]))
        yield ". "


STORIES = {
    "even": [[14] * 12],
    "a short beginning": [[1, 45, 20, 20], [2, 45, 3, 45]],
    "one long sentence": [[60], [50, 1]],
    "short ones": [[2] * 40, [1, 1, 1, 1, 40, 1, 40]],
    "of any length": [[random.Random(seed).randint(1, 40) for _ in range(15)] for seed in range(20)],
}


@pytest.mark.parametrize("kind", STORIES)
def test_at_half_of_real_time_and_forty_tokens_a_second_no_gap_occurs(kind, monkeypatch):
    for number, lengths in enumerate(STORIES[kind]):
        tokens = list(told(random.Random(number), lengths))
        listener, log = converse(tokens, monkeypatch)
        assert listener.gaps == [], (kind, lengths, listener.gaps)
        assert listener.first - 100 < 2.0, (kind, lengths)  # the longest of these first sentences is written by then
        assert log.count("w") == len(tokens)


def test_they_take_turns(monkeypatch):
    _, log = converse(list(told(random.Random(1), [14] * 12)), monkeypatch)
    assert log.startswith("w" * 15) and "sw" in log[: len(log) // 2]  # it writes on while the first sentence is spoken


def test_without_turns_one_waits_for_the_first_sound_or_in_the_middle(monkeypatch):

    class WriterFirst(Turns):
        def goes_on(self):
            return True

    listener, _ = converse(list(told(random.Random(1), [14] * 12)), monkeypatch, turns=WriterFirst)
    assert listener.first - 100 > 4.0

    class SpeechFirst(Turns):
        def goes_on(self):
            return False

        def gets_a_turn(self):
            return False

    listener, _ = converse(list(told(random.Random(2), [2, 45, 3, 45])), monkeypatch, turns=SpeechFirst)
    assert listener.gaps


def test_slower_than_real_time_all_is_said(monkeypatch):
    listener, _ = converse(list(told(random.Random(1), [14] * 4)), monkeypatch, rtf=1.5)
    assert listener.gaps  # which the player's buffer turns into a later beginning


def test_nobody_listens():
    turns = Turns(None)
    for token in told(random.Random(1), [14] * 10):
        turns.wrote(token)
        assert turns.goes_on() and turns.gets_a_turn()
    turns.wrote("A sentence of some length, said many times. " * 100)
    assert not turns.goes_on() and not turns.gets_a_turn()
    turns.spoke(10**6)
    assert turns.goes_on()
