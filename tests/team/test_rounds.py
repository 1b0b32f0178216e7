"""Rounds: what one says all hear, in order; an end, a lost machine and one that does not answer are noticed."""

import threading

import numpy as np
import pytest

from s2mlx.team.rounds import Rounds, TeamLost, decoded, encoded

from .table import Table


def test_all_hear_what_each_says():
    team = Table(3).rounds(pause=0.001)
    for rank, one in enumerate(team):
        for number in range(5):
            one.say(kind="n", value=10 * rank + number)
    for one in team:
        heard = [one.hear(10) for _ in range(15)]
        for rank in range(3):
            assert [m["value"] for who, m in heard if who == rank] == [10 * rank + n for n in range(5)]
    team[0].leave()
    assert all(one.hear(10)[1]["kind"] == "leave" for one in team)
    assert not any(one.stuck for one in team)


def test_a_round_that_is_just_being_told_is_not_stuck():
    heard, done = threading.Event(), threading.Event()

    def swap(mine):
        yield mine
        if mine:
            heard.set()
            done.wait(30)

    rounds = Rounds(swap)
    rounds.say(kind="leave")
    assert rounds.hear(10) and heard.wait(10)
    threading.Timer(0.05, done.set).start()
    assert not rounds.stuck


def test_nothing_is_said():
    team = Table(2).rounds(pause=0.001)
    assert team[0].hear(0.05) is None
    team[1].leave()


def test_codes_come_as_they_were():
    codes = np.arange(24, dtype=np.int32).reshape(4, 6) * 1000 - 7
    (message,) = decoded(encoded([{"kind": "codes", "codes": codes, "voices": [{"codes": codes[:, :0]}]}]))
    np.testing.assert_array_equal(message["codes"], codes)
    assert message["codes"].dtype == np.int32 and message["voices"][0]["codes"].shape == (4, 0)
    assert encoded([]) == b"" and decoded(b"") == []


def test_a_lost_machine():
    table = Table(2)
    team = table.rounds(pause=0.001)
    table.break_up()
    for one in team:
        with pytest.raises(TeamLost, match="what was complete is kept"):
            one.hear()
        with pytest.raises(TeamLost):  # whoever asks again
            one.hear(1)
        assert not one.stuck


def test_a_machine_that_does_not_answer():
    stuck = threading.Event()
    rounds = Rounds(lambda data: [b""] if stuck.wait(30) else [], patience=0.1)
    with pytest.raises(TeamLost, match="does not answer"):
        rounds.hear()
    assert rounds.stuck
    stuck.set()
    rounds.leave(0.1)
