"""Passes are shared so that all are busy to the end: a book spoken by two to eight machines, in a simulation."""

import heapq
import random

import pytest

from s2mlx.team.shares import WINDOW, Shares
from s2mlx.text import estimate_seconds
from s2mlx.text.splitting import split_passes

WORDS = "the river light morning house through water nobody evening children window between answer village".split()


def book(seed, paragraphs=300):
    """-> estimated seconds of each pass of a text like a book's"""
    rng = random.Random(seed)
    sentence = lambda: " ".join(rng.choices(WORDS, k=rng.randint(2, 30))).capitalize() + rng.choice("..?!")
    text = "\n\n".join(" ".join(sentence() for _ in range(rng.randint(1, 9))) for _ in range(paragraphs))
    return [estimate_seconds(span.words(text)) for span in split_passes(text, 30.0)]


def speak(seconds, speeds, depth=5, off=0.0, seed=0):
    """Times go by in order: -> when all is done, what each has spoken, the most that waits for its turn.

    speeds: seconds of speech a second. off: how far the true length of a pass is off the estimate.
    """
    rng = random.Random(seed)
    shares, free = Shares(seconds, len(speeds), depth), [0.0] * len(speeds)
    done, events, most = 0.0, [], 0
    waiting = [[] for _ in speeds]
    ended = set()
    first = 0

    def begin(member, now):
        if waiting[member] and free[member] <= now:
            place = waiting[member].pop(0)
            free[member] = now + seconds[place] * rng.uniform(1 - off, 1 + off) / speeds[member]
            heapq.heappush(events, (free[member], member, place))

    def hand_out(now):
        for member, places in enumerate(shares.hand_out()):
            waiting[member] += places
            begin(member, now)

    hand_out(0.0)
    while events:
        done, member, place = heapq.heappop(events)
        shares.done(member, place)
        ended.add(place)
        while first in ended:
            first += 1
        most = max(most, len(ended) - first)
        hand_out(done)
        begin(member, done)
    assert shares.finished and len(ended) == len(seconds)
    return done, shares, most


@pytest.mark.parametrize("machines", range(2, 9))
def test_a_book_is_shared_evenly(machines):
    seconds = book(machines)
    assert len(seconds) > 250
    whole, shares, waiting = speak(seconds, [1.0] * machines, off=0.3)
    assert whole < 1.1 * sum(seconds) / machines
    even = sum(seconds) / machines
    assert all(abs(spoken / even - 1) < 0.1 for spoken in shares.spoken)
    assert waiting <= WINDOW


def test_a_fast_machine_gets_more():
    seconds = book(1)
    whole, shares, _ = speak(seconds, [3.0, 1.0], off=0.2)
    assert whole < 1.1 * sum(seconds) / 4
    assert shares.spoken[0] / shares.spoken[1] == pytest.approx(3, rel=0.1)


def test_nobody_runs_far_ahead_of_one_that_stands():
    shares = Shares([1.0] * 1000, 2, depth=2)
    given = shares.hand_out()
    while True:  # member 1 never ends its first pass
        for place in given[0]:
            shares.done(0, place)
        given = shares.hand_out()
        if not given[0]:
            break
    assert sum(shares.counts) < WINDOW and not shares.finished


def test_fewer_passes_than_machines():
    shares = Shares([1.0, 2.0], 4)
    assert shares.hand_out() == [[0], [1], [], []]
    for member, place in ((1, 1), (0, 0)):
        assert not shares.finished
        shares.done(member, place)
    assert shares.finished and shares.hand_out() == [[], [], [], []]
