"""Recording from simulated microphones, the level meter, and what is said about a take."""

import numpy as np
import pytest

from s2mlx.audio.hardware.watchdog import CONFIRM, LIMIT
from s2mlx.audio.loudness import FLOOR_DB
from s2mlx.audio.meter import Meter
from s2mlx.audio.microphone import Recorder, Take, check, trim
from s2mlx.errors import DeviceError

from .simulated import MICROPHONE, Microphone, Room

RATE = 48000


def spoken(seconds=8.0, level=0.1, noise=0.0005, before=1.0, after=1.0, rate=RATE, seed=0):
    """Something like speech: syllables of 150 ms with pauses of 50 ms and, now and then, 400 ms; noise around."""
    rng = np.random.default_rng(seed)
    n = round((before + seconds + after) * rate)
    samples = noise * rng.standard_normal(n)
    t = before
    while t < before + seconds - 0.15:
        begin, size = round(t * rate), round(0.15 * rate)
        wave = np.sin(2 * np.pi * rng.uniform(110, 220) * np.arange(size) / rate)
        samples[begin : begin + size] += level * 1.4 * wave * np.hanning(size)
        t += 0.15 + (0.4 if rng.random() < 0.2 else 0.05)
    return samples.astype(np.float32)


def record(samples, rate=44100, **options):
    microphone = Microphone(samples, **options)
    recorder = Recorder(rate, backend=Room(microphone))
    recorder.start()
    assert microphone.drained.wait(20)
    return recorder, microphone


# --- recorder -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 100, 480, 5000])
def test_the_take_is_what_came_in(block):
    samples = spoken(1, before=0.1, after=0.1) if block > 1 else spoken(0.05, before=0, after=0)
    recorder, microphone = record(samples, rate=RATE, block=block)
    assert recorder.wait_ready() and recorder.recording and recorder.device_name == "Simulated microphone"
    assert recorder.seconds == pytest.approx(len(samples) / RATE)
    take = recorder.stop()
    assert np.array_equal(take.samples, samples) and take.rate == RATE and take.error is None
    assert microphone.closed.is_set() and not recorder.recording


def test_the_take_so_far_can_be_read_in_parts():
    samples = spoken(1)
    recorder, _ = record(samples, rate=RATE, block=480)
    for begin in (0, 1, 480, 50_001, len(samples)):
        part, rate = recorder.recorded(begin)
        assert np.array_equal(part, samples[begin:]) and rate == 48000
    assert np.array_equal(recorder.stop().samples, samples) and not len(recorder.recorded()[0])


def test_the_device_runs_at_its_own_rate():
    room = Room(Microphone(spoken(2)))
    recorder = Recorder(44100, backend=room)
    recorder.start()
    assert room.microphone.drained.wait(20)
    take = recorder.stop()
    assert room.opened_at == MICROPHONE.default_rate == 48000
    assert take.rate == 44100 and abs(take.seconds - 4.0) < 0.001


def test_a_forgotten_recorder_stops_by_itself():
    microphone = Microphone(spoken(5))
    recorder = Recorder(RATE, backend=Room(microphone), max_seconds=2)
    recorder.start()
    assert microphone.closed.wait(20)
    assert recorder.full and not recorder.recording and recorder.error is None
    assert recorder.stop().seconds == 2


def test_a_failing_microphone_keeps_the_part_it_gave():
    samples = spoken(3)
    recorder, microphone = record(samples, rate=RATE, fault=DeviceError("Simulated microphone was unplugged"))
    assert microphone.closed.wait(20)
    assert "unplugged" in str(recorder.error) and not recorder.recording
    take = recorder.stop()
    assert np.array_equal(take.samples, samples) and "unplugged" in take.error
    assert any("unplugged" in problem for problem in check(take).problems)


def test_a_microphone_that_cannot_be_opened():
    recorder = Recorder(RATE, backend=Room(DeviceError("cannot open it: busy")))
    recorder.start()
    assert not recorder.wait_ready()
    with pytest.raises(DeviceError, match="busy"):
        recorder.stop()


def test_a_microphone_that_falls_silent_for_good():
    recorder, microphone = record(spoken(1), rate=RATE)
    assert recorder.error is None
    recorder._backend.now += LIMIT + 1
    assert recorder.error is None
    recorder._backend.now += CONFIRM
    assert "does not answer" in str(recorder.error)
    assert recorder.stop().seconds == pytest.approx(3)


def test_stop_without_sound_and_without_start():
    recorder, _ = record(np.zeros(0, np.float32))
    take = recorder.stop()
    assert take.seconds == 0 and not check(take).usable
    with pytest.raises(DeviceError):
        recorder.stop()
    recorder.close()


def test_missing_permission_is_seen_while_recording():
    with record(np.zeros(RATE, np.float32))[0] as recorder:
        assert recorder.silent and recorder.level.peak == FLOOR_DB
        verdict = check(recorder.stop(), platform="darwin")
    assert not verdict.usable and "System Settings > Privacy & Security > Microphone" in verdict.problems[0]
    almost = np.zeros(RATE, np.float32)
    almost[RATE // 2] = 1 / 32768
    with record(almost)[0] as recorder:
        assert not recorder.silent


def test_live_figures():
    loud = np.concatenate([0.001 * np.random.default_rng(0).standard_normal(RATE), 1.2 * np.sin(np.arange(RATE) / 20)])
    with record(np.clip(loud, -1, 1).astype(np.float32))[0] as recorder:
        assert recorder.clipped > 1000
        assert recorder.level.peak == pytest.approx(0, abs=0.01) and -3 < recorder.level.rms < 0
        assert recorder.noise_floor == pytest.approx(-60, abs=1)


# --- meter ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 37, 480, 100_000])
def test_meter_does_not_depend_on_the_blocks(block):
    samples = (0.1 * np.sin(np.arange(6000) / 7)).astype(np.float32)
    meter = Meter(8000)
    for begin in range(0, len(samples), block):
        meter.add(samples[begin : begin + block])
    assert meter.frames == 6000 and not meter.zeros_only and meter.clipped == 0
    assert meter.level.rms == pytest.approx(-23.01, abs=0.1) and meter.level.peak == pytest.approx(-20, abs=0.1)


def test_meter_forgets_and_holds():
    meter = Meter(8000)
    meter.add(np.full(80, 0.5, np.float32))
    for _ in range(50):
        meter.add(np.zeros(80, np.float32))
    assert meter.level.rms == FLOOR_DB and meter.level.hold == pytest.approx(-6, abs=0.1)
    for _ in range(100):
        meter.add(np.zeros(80, np.float32))
    assert meter.level.hold == FLOOR_DB
    assert sum(map(len, meter._recent)) <= 8000 * 0.1 + 80


# --- verdict --------------------------------------------------------------------------------------------------------


def problems(samples, **fields):
    take = Take.of(samples, RATE)
    return check(Take(**{**vars(take), **fields}))


def test_a_good_take_has_no_problem():
    for seconds in (6, 12, 28):
        assert check(Take.of(spoken(seconds), RATE)).ok, check(Take.of(spoken(seconds), RATE)).problems


@pytest.mark.parametrize(
    "samples,word,usable",
    [
        (spoken(1.5), "too short", False),
        (spoken(4.0), "a little short", True),
        (spoken(40.0), "longer than needed", True),
        (spoken(8, level=0.008, noise=0.00005), "too quiet", True),
        (spoken(8, level=0.0008, noise=0.00002), "hardly anything", False),
        (np.clip(spoken(8, level=1.0), -1, 1), "clipped", True),
        (spoken(8, noise=0.03), "noisy", True),
        (np.zeros(RATE * 5, np.float32), "only zeros", False),
        (np.zeros(0, np.float32), "nothing was recorded", False),
    ],
)
def test_problems_are_named(samples, word, usable):
    verdict = check(Take.of(samples, RATE))
    assert any(word in line for line in verdict.problems), verdict.problems
    assert verdict.usable == usable and not verdict.ok
    assert all("\n" not in line and len(line) < 160 for line in verdict.problems)


def test_noise_alone_is_no_speech():
    noise = (0.05 * np.random.default_rng(0).standard_normal(RATE * 8)).astype(np.float32)
    assert any("noisy" in line for line in check(Take.of(noise, RATE)).problems)


def test_gaps_are_named():
    assert "gaps" in problems(spoken(8), overflows=3).problems[0]


# --- trim -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.0002, 0.002])
def test_trim_keeps_the_speech_and_a_little_more(noise):
    take = trim(Take.of(spoken(8, before=2, after=3, noise=noise), RATE))
    assert 8.2 < take.seconds < 8.6
    assert take.rate == RATE


def test_trim_fills_up_a_tight_cut():
    samples = spoken(8, before=0, after=0, noise=0.0)
    samples = samples[: np.flatnonzero(np.abs(samples) > 0.01)[-1]]
    take = trim(Take.of(samples, RATE))
    assert not take.samples[-round(0.25 * RATE) :].any() and take.seconds >= len(samples) / RATE + 0.28


def test_trim_ignores_the_click_of_a_key():
    samples = spoken(8, before=2, after=3)
    for second in (0.5, 12.5):
        samples[round(second * RATE) : round(second * RATE) + 200] += 0.5
    assert trim(Take.of(samples, RATE)).seconds < 8.7


def test_trim_leaves_silence_alone():
    for samples in (np.zeros(RATE, np.float32), np.zeros(0, np.float32)):
        assert len(trim(Take.of(samples, RATE)).samples) == len(samples)
