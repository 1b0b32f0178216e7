"""The player's thread: nothing a device does holds up the one who plays, waits or closes."""

import threading

import numpy as np
import pytest

from s2mlx.audio.hardware.watchdog import CONFIRM, LIMIT
from s2mlx.audio.play.player import Player
from s2mlx.errors import DeviceError

from .simulated import Fixed, Stuck

RATE = 44100


class Counting(Stuck):
    """Takes everything at once."""

    def __init__(self):
        super().__init__(writes=-1)
        self.blocks, self.closed = [], threading.Event()

    def write(self, block):
        self.blocks.append(block)
        return len(block)

    def close(self):
        self.closed.set()


class Ticking(Fixed):
    """A hundredth of a second passes with every look at the clock."""

    def clock(self):
        self.now += 0.01
        return self.now


def test_plays_in_order_and_ends():
    stream, names = Counting(), []
    samples = np.linspace(0.1, 0.9, RATE, dtype=np.float32)
    with Player(RATE, backend=Ticking(stream), on_event=names.append) as player:
        for piece in np.split(samples, 10):
            player.play(piece)
        player.finish()
        assert player.wait() and player.error is None and player.position == pytest.approx(1.0)
    written = np.concatenate(stream.blocks)  # with silence where this clock outran the producer
    assert np.array_equal(written[written != 0], samples)
    assert (names[0], names[-1]) == ("started", "finished") and stream.closed.wait(10)


def test_a_device_that_hangs_blocks_nobody():
    stream = Stuck(writes=3)
    backend = Fixed(stream)
    player = Player(RATE, backend=backend)
    samples = np.ones(RATE, np.float32)
    player.play(samples)
    player.finish()
    assert stream.entered.wait(10)
    for _ in range(1000):
        player.play(samples[:2048])  # would take for ever if it waited
    assert player.error is None and not player.wait(0)
    backend.now += LIMIT + 1
    assert player.error is None  # so far it may be this process that slept
    backend.now += CONFIRM / 2
    assert player.error is None
    backend.now += CONFIRM
    assert "does not answer" in str(player.error) and "Simulated speaker" in str(player.error)
    assert player.wait(10) is False
    assert len(player.unheard()) >= RATE + 1000 * 2048 - 4 * 882
    player.stop()
    player.close()
    stream.release.set()


def test_a_hanging_open_is_noticed_too():
    opening, release = threading.Event(), threading.Event()

    class Hanging(Fixed):
        def open_output(self, device, rate):
            opening.set()
            release.wait(30)
            raise DeviceError("late")

    backend = Hanging(None)
    player = Player(RATE, backend=backend)
    assert opening.wait(10)
    player.play(np.ones(10, np.float32))
    backend.now += LIMIT + 1
    assert player.error is None
    backend.now += CONFIRM
    assert player.error is not None and len(player.unheard()) == 10
    release.set()
    player.close()


def test_close_gives_the_device_back():
    stream = Counting()
    player = Player(RATE, backend=Fixed(stream))
    player.play(np.ones(100, np.float32))
    player.close()
    assert stream.closed.wait(10)
    player.close()


def test_a_fault_in_the_callback_does_not_leave_wait_hanging(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda args: None)

    def broken(name):
        raise ZeroDivisionError

    player = Player(RATE, backend=Fixed(Counting()), on_event=broken)
    player.play(np.ones(10, np.float32))
    player.finish()
    assert player.wait(30) is False and "ZeroDivisionError" in str(player.error)


def test_stop_from_another_thread_while_playing():
    stream = Counting()
    names = []
    player = Player(RATE, backend=Fixed(stream), on_event=names.append)
    player.play(np.ones(RATE, np.float32))
    threading.Thread(target=player.stop).start()
    assert player.wait(10)
    written = len(stream.blocks)
    player.play(np.ones(RATE, np.float32))
    player.finish()
    assert player.lead == 0 and len(stream.blocks) <= written + 1
    player.close()


def test_the_callers_buffer_may_be_reused():
    stream = Counting()
    with Player(RATE, backend=Fixed(stream)) as player:
        buffer = np.ones(64, np.float32)
        player.play(buffer)
        buffer[:] = 0.5
        player.finish()
        while not stream.blocks:
            threading.Event().wait(0.001)
    assert np.array_equal(stream.blocks[0], np.ones(64))
