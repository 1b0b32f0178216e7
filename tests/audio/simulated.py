"""Devices with a clock of their own: time passes when they say so, and no test sleeps.

`World` is one timeline: a device that waits for room lets time pass, and whatever is due by then (a chunk that
is ready, a key that is pressed) happens at its moment. Everything runs in the test's own thread.
"""

import heapq
import itertools
import threading

import numpy as np

from s2mlx.audio.hardware.backend import RateRefused
from s2mlx.audio.hardware.devices import Device
from s2mlx.audio.play.playback import Playback
from s2mlx.errors import DeviceError

SPEAKER = Device(0, "Simulated speaker", 0, 2, 48000.0, is_default_output=True)
MICROPHONE = Device(1, "Simulated microphone", 1, 0, 48000.0, is_default_input=True)


class World:
    """The clock and what will happen."""

    def __init__(self):
        self.now = 0.0
        self._events, self._order = [], itertools.count()

    def at(self, time, action):
        heapq.heappush(self._events, (time, next(self._order), action))

    def advance(self, until, unless=lambda: False):
        """Let time pass, with all that happens in it; `unless` can end it early."""
        while self._events and self._events[0][0] <= until:
            time, _, action = heapq.heappop(self._events)
            self.now = max(self.now, time)
            action()
            if unless():
                return
        self.now = max(self.now, until)

    @property
    def next_event(self):
        return self._events[0][0] if self._events else None


class Speaker:
    """A sound card: a buffer that empties one period (`block` frames) at a time, from the first write on.

    `out` is what came out of it, with the zeros it put where it had nothing. `fault(frames_out)` may raise.
    """

    def __init__(self, world, rate, block, buffer_seconds=0.08, lead_in=0.0, fault=lambda out: None):
        self.world, self.rate, self.block, self._fault = world, rate, block, fault
        self.capacity = max(2 * block, round(buffer_seconds * rate))
        self.latency = self.capacity / rate
        self.lead_in, self.underflows = lead_in, 0
        self._queue, self._queued = [], 0
        self._started = None  # when the running flow began, and how many periods have gone out since
        self._periods = 0
        self._interrupted = False
        self._frames_out = 0
        self.out, self.closed = [], False

    def write(self, block):
        done = 0
        while done < len(block) and not self._interrupted:
            self._catch_up()
            room = self.capacity - self._queued
            if room:
                piece = block[done : done + room]
                self._queue.append(piece)
                self._queued += len(piece)
                done += len(piece)
                if self._started is None:
                    self._started, self._periods = self.world.now, 0
            else:
                self.world.advance(
                    self._started + (self._periods + 1) * self.block / self.rate, unless=lambda: self._interrupted
                )
        return done

    def interrupt(self):
        self._interrupted = True

    def abort(self):
        self._catch_up()
        self._queue, self._queued, self._started, self._interrupted = [], 0, None, False

    def close(self):
        self.closed = True

    def _catch_up(self):
        """Everything that should have gone out by now does."""
        if self._started is None:
            return
        while self._started + (self._periods + 1) * self.block / self.rate <= self.world.now + 1e-9:
            self._periods += 1
            self._fault(self._frames_out)
            self._frames_out += self.block
            waiting = np.concatenate(self._queue) if self._queue else np.zeros(0, np.float32)
            period, rest = waiting[: self.block], waiting[self.block :]
            self._queue, self._queued = [rest] if len(rest) else [], len(rest)
            self.out.append(np.concatenate([period, np.zeros(self.block - len(period), np.float32)]))

    def heard(self):
        self._catch_up()
        return np.concatenate(self.out) if self.out else np.zeros(0, np.float32)


class System:
    """A backend with one simulated speaker."""

    def __init__(self, world=None, block=441, rates=None, **speaker):
        self.world = world or World()
        self._block, self._rates, self._options = block, rates, speaker
        self.speaker = None

    def clock(self):
        return self.world.now

    def find_output(self, query):
        return SPEAKER

    def open_output(self, device, rate):
        if self._rates and rate not in self._rates:
            raise RateRefused(f"no {rate} Hz")
        self.speaker = Speaker(self.world, rate, self._block, **self._options)
        return self.speaker


def run(playback, world, patience=600.0):
    """Drive the writer until all has been heard (or failed, or nothing can happen any more)."""
    while not playback.done and playback.error is None and world.now < patience:
        wait = playback.turn()
        if wait == 0:
            continue
        moments = [t for t in (world.next_event, None if wait is None else world.now + wait) if t is not None]
        if not moments:
            return
        world.advance(min(moments))


def produce(world, playback, samples, sizes, rtf, rate, start=0.0):
    """Chunks of these sizes, each ready when its generation at that real-time factor is over; then finish."""
    time, begin = start, 0
    for size in sizes:
        piece = samples[begin : begin + size]
        begin += size
        time += rtf * len(piece) / rate
        world.at(time, lambda piece=piece: playback.play(piece))
    assert begin >= len(samples)
    world.at(time, playback.finish)
    return time


class Stuck:
    """A speaker that accepts `writes` blocks and then never returns: a driver that hangs. Real threads, no clock."""

    latency, lead_in, underflows = 0.1, 0.0, 0

    def __init__(self, writes):
        self._left = writes
        self.entered, self.release = threading.Event(), threading.Event()

    def write(self, block):
        if self._left == 0:
            self.entered.set()
            self.release.wait(30)
            raise DeviceError("gone after all")
        self._left -= 1
        return len(block)

    def interrupt(self):
        pass

    def abort(self):
        pass

    def close(self):
        pass


class Fixed:
    """A backend around one ready-made stream; its clock is set by hand."""

    def __init__(self, stream):
        self.stream, self.now = stream, 0.0

    def clock(self):
        return self.now

    def find_output(self, query):
        return SPEAKER

    def open_output(self, device, rate):
        return self.stream


def playback(system, rate, **options):
    return Playback(rate, None, system, **options)


class Microphone:
    """Gives its samples block by block as fast as they are fetched, then waits for the interrupt or raises `fault`.

    `drained` is set once all of them have been fetched and put away.
    """

    def __init__(self, samples, block=480, fault=None):
        self._samples, self._block, self._fault = samples, block, fault
        self._next = 0
        self.overflows, self.closed = 0, threading.Event()
        self.drained, self._interrupted = threading.Event(), threading.Event()

    def read(self):
        block = self._samples[self._next : self._next + self._block]
        self._next += len(block)
        if len(block):
            return block
        self.drained.set()
        if self._fault:
            raise self._fault
        self._interrupted.wait(30)
        return block

    def interrupt(self):
        self._interrupted.set()

    def close(self):
        self.closed.set()


class Room:
    """A backend with one simulated microphone; the clock is set by hand."""

    def __init__(self, microphone):
        self.microphone, self.now, self.opened_at = microphone, 0.0, None

    def clock(self):
        return self.now

    def find_input(self, query):
        return MICROPHONE

    def open_input(self, device, rate):
        self.opened_at = rate
        if isinstance(self.microphone, Exception):
            raise self.microphone
        return self.microphone
