"""Playback on a simulated device: no gap, no loss, no waiting, whatever the device and the producer do."""

import numpy as np
import pytest

from s2mlx.audio.play.pacing import seconds_needed
from s2mlx.errors import AudioError, DeviceError

from .simulated import System, World, playback, produce, run

RATE = 44100
BLOCKS = [64, 100, 128, 256, 441, 512, 1000, 1024, 2048, 3001, 4096, 8192]


def speech(seconds, rate=RATE, seed=0):
    """Noise without a single zero, so that any zero that is heard was not in it."""
    samples = np.random.default_rng(seed).uniform(0.1, 0.9, round(seconds * rate)).astype(np.float32)
    return samples * np.where(np.arange(len(samples)) % 2, 1, -1).astype(np.float32)


def gaps_and_loss(heard, samples):
    """(zeros inside the speech, whether the speech came out exactly)."""
    loud = np.flatnonzero(heard)
    inside = heard[loud[0] : loud[-1] + 1]
    zeros = int(np.sum(inside == 0))
    spoken = inside[inside != 0]
    return zeros, len(spoken) == len(samples) and np.array_equal(spoken, samples)


def even(total, size):
    return [size] * -(-total // size)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("rtf", [0.5, 0.9, 1.5])
def test_no_gap(rtf, block):
    world, samples = World(), speech(4)
    system = System(world, block)
    player = playback(system, RATE)
    player.begin(rtf, expected_seconds=4)
    produce(world, player, samples, even(len(samples), 8192), rtf, RATE)
    run(player, world)
    assert player.done and player.error is None and player.underruns == 0
    assert gaps_and_loss(system.speaker.heard(), samples) == (0, True)
    assert player.position == pytest.approx(4)


@pytest.mark.parametrize("rtf", [0.3, 0.8, 1.2, 2.5])
@pytest.mark.parametrize("seed", range(6))
def test_no_gap_with_chunks_of_any_length(rtf, seed):
    rng = np.random.default_rng(seed)
    samples = speech(4, seed=seed)
    sizes = [20480]  # the largest first: what has not been seen cannot be provided for
    while sum(sizes) < len(samples):
        sizes.append(int(rng.choice([0, 1, 3, 100, 2048, 4096, 20480])))
    world = World()
    system = System(world, int(rng.choice(BLOCKS)))
    player = playback(system, RATE)
    player.begin(rtf, expected_seconds=4)
    produce(world, player, samples, sizes, rtf, RATE)
    run(player, world)
    assert gaps_and_loss(system.speaker.heard(), samples) == (0, True) and player.underruns == 0


def test_one_huge_chunk_and_chunks_of_one_sample():
    for samples, size in ((speech(30), 30 * RATE), (speech(0.05), 1)):
        world = World()
        system = System(world, 1024)
        player = playback(system, RATE)
        produce(world, player, samples, even(len(samples), size), 0.5, RATE)
        run(player, world, patience=900)
        assert gaps_and_loss(system.speaker.heard(), samples) == (0, True)


@pytest.mark.parametrize("rtf", [0.5, 0.9, 1.5])
def test_growing_chunks_that_follow_the_lead(rtf):
    """As the synthesizer does it: one frame first, then as much as the lead allows, at most 16 frames."""
    frame, samples, world = 2048, speech(10), World()
    system = System(world, 512)
    player = playback(system, RATE)
    player.begin(rtf, expected_seconds=10)
    sent = [0]

    def make():
        begin = sent[0]
        if begin >= len(samples):
            player.finish()
            return
        frames = int(np.clip(0.5 * player.lead * RATE / (rtf * frame), 1, 16))
        sent[0] = begin + frames * frame
        piece = samples[begin : sent[0]]

        def ready():
            player.play(piece)
            make()

        world.at(world.now + rtf * len(piece) / RATE, ready)

    make()
    run(player, world)
    assert gaps_and_loss(system.speaker.heard(), samples) == (0, True) and player.underruns == 0


def test_prebuffer_is_not_longer_than_it_must_be():
    """At 1.5 with 8 s to come, a third has to be there first; far less would stutter, far more would be dull."""
    world, samples = World(), speech(8)
    started = []
    system = System(world, 512)
    player = playback(system, RATE, on_event=lambda name: name == "started" and started.append(world.now))
    player.begin(1.5, expected_seconds=8)
    produce(world, player, samples, even(len(samples), 2048), 1.5, RATE)
    run(player, world)
    assert 4.0 < started[0] < 5.2  # generation ends at 12 s, playback takes 8 s
    assert seconds_needed(0.5, 8, 0.2, 0.05) < 0.15


def test_a_pessimistic_factor_does_not_delay_the_start():
    """A request's factor counts its prefill: 5 at the first frame, when the frames themselves come at 0.5."""
    world, samples = World(), speech(6)
    started = []
    system = System(world, 512)
    player = playback(system, RATE, on_event=lambda name: name == "started" and started.append(world.now))
    player.begin(5.0, expected_seconds=6)
    produce(world, player, samples, even(len(samples), 2048), 0.5, RATE, start=1.0)
    run(player, world)
    assert started[0] < 1.2 and player.underruns == 0
    assert gaps_and_loss(system.speaker.heard(), samples) == (0, True)


def test_short_text_starts_at_its_end():
    world, samples = World(), speech(0.4)
    started = []
    system = System(world, 256)
    player = playback(system, RATE, on_event=lambda name: name == "started" and started.append(world.now))
    player.begin(3.0, expected_seconds=30)
    end = produce(world, player, samples, even(len(samples), 2048), 3.0, RATE)
    run(player, world)
    assert started == [end] and gaps_and_loss(system.speaker.heard(), samples) == (0, True)


def test_running_dry_is_counted_and_nothing_is_lost():
    """A producer that stalls for two seconds: one underrun, one gap, every sample still comes."""
    world, samples = World(), speech(4)
    names = []
    system = System(world, 512)
    player = playback(system, RATE, on_event=names.append)
    player.begin(0.5, expected_seconds=4)
    world.at(0.1, lambda: player.play(samples[:RATE]))
    world.at(3.0, lambda: player.play(samples[RATE:]))
    world.at(3.0, player.finish)
    run(player, world)
    zeros, whole = gaps_and_loss(system.speaker.heard(), samples)
    assert whole and 1.8 * RATE < zeros < 2.1 * RATE
    assert player.underruns == 1 and names == ["started", "underrun", "finished"]


def test_a_late_finish_is_no_underrun():
    """The model takes a moment more to say that it has ended; nobody hears that."""
    world, samples = World(), speech(1)
    system = System(world, 512)
    player = playback(system, RATE)
    player.begin(0.5, expected_seconds=2)
    world.at(0.1, lambda: player.play(samples))
    world.at(3.0, player.finish)
    run(player, world)
    assert player.done and player.underruns == 0
    assert gaps_and_loss(system.speaker.heard(), samples) == (0, True)


def test_a_late_chunk_that_the_device_bridges_is_no_underrun():
    world, samples = World(), speech(2)
    system = System(world, 64)
    player = playback(system, RATE)
    player.begin(0.5, expected_seconds=2)
    world.at(0.0, lambda: player.play(samples[:RATE]))
    world.at(0.96, lambda: player.play(samples[RATE:]))  # all of the first second is written by now
    world.at(0.96, player.finish)
    run(player, world)
    assert gaps_and_loss(system.speaker.heard(), samples) == (0, True) and player.underruns == 0


def test_set_rtf_while_streaming():
    """The first guess is rosy, the truth comes before the start."""
    world, samples = World(), speech(8)
    system = System(world, 512)
    player = playback(system, RATE)
    player.set_rtf(0.5, 8)
    world.at(0.1, lambda: player.set_rtf(1.5))
    produce(world, player, samples, even(len(samples), 4096), 1.5, RATE)
    run(player, world)
    assert gaps_and_loss(system.speaker.heard(), samples) == (0, True) and player.underruns == 0


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("moment", [0.5, 1.0003, 2.5])
def test_stop_is_silent_within_100_ms(block, moment):
    world, samples = World(), speech(5)
    system = System(world, block)
    player = playback(system, RATE)
    at_stop = []

    def press():
        at_stop.append(len(system.speaker.heard()))
        player.stop()
        player.play(samples)  # a producer that has not noticed yet

    produce(world, player, samples, even(len(samples), 4096), 0.2, RATE)
    world.at(moment, press)
    run(player, world)
    player.turn()  # carries out the abort
    world.advance(10)
    while player.turn() == 0:
        pass
    heard = system.speaker.heard()
    later = heard[at_stop[0] :]
    assert at_stop[0] > 0 and np.count_nonzero(later) <= 0.1 * RATE
    assert player.done and len(samples) / RATE > player.position == pytest.approx(at_stop[0] / RATE, abs=0.25)
    player.begin()
    world.at(11, lambda: player.play(samples[:4096]))
    world.at(11, player.finish)
    run(player, world)
    assert gaps_and_loss(system.speaker.heard()[len(heard) :], samples[:4096]) == (0, True)


@pytest.mark.parametrize("block", [64, 441, 4096])
def test_pause_and_resume_lose_nothing(block):
    world, samples = World(), speech(3)
    names = []
    system = System(world, block)
    player = playback(system, RATE, on_event=names.append)
    produce(world, player, samples, even(len(samples), 2048), 0.2, RATE)
    world.at(1.0, player.pause)
    world.at(6.0, player.resume)
    run(player, world)
    heard = system.speaker.heard()
    heard = heard[heard != 0]
    # At the seam up to one period may sound twice or be skipped: what a device dropped is known that well.
    assert abs(len(heard) - len(samples)) <= 2 * max(block, 882)
    assert np.array_equal(heard[: RATE // 2], samples[: RATE // 2])
    assert np.array_equal(heard[-RATE:], samples[-RATE:])
    assert names == ["started", "paused", "finished"] and player.underruns == 0
    assert world.now > 7.9


def test_position_and_lead_follow_the_ear():
    world, samples = World(), speech(4)
    system = System(world, 441)
    player = playback(system, RATE)
    readings = []
    produce(world, player, samples, even(len(samples), 2048), 0.1, RATE)
    for moment in np.arange(0.05, 4.5, 0.1):
        world.at(
            moment,
            lambda: readings.append((world.now, len(system.speaker.heard()) / RATE, player.position, player.lead)),
        )
    run(player, world)
    positions = [position for _, _, position, _ in readings]
    assert positions == sorted(positions)
    for now, heard, position, lead in readings:
        assert abs(position - min(heard, 4)) < 0.04, (now, heard, position)
        assert lead <= 4 and (now < 0.45 or abs(lead + position - 4) < 1e-6)


@pytest.mark.parametrize("rtf", [0.5, 1.5])
def test_device_of_another_rate(rtf):
    rate = 44100
    t = np.arange(4 * rate) / rate
    samples = (0.5 * np.sin(2 * np.pi * 300 * t)).astype(np.float32)
    world = World()
    system = System(world, 512, rates=[48000])
    player = playback(system, rate)
    player.begin(rtf, 4)
    produce(world, player, samples, even(len(samples), 2048), rtf, rate)
    run(player, world)
    heard = np.trim_zeros(system.speaker.heard())
    assert system.speaker.rate == 48000 and abs(len(heard) - 4 * 48000) < 20
    want = 0.5 * np.sin(2 * np.pi * 300 * np.arange(4 * 48000) / 48000)
    lag = int(np.argmax(np.correlate(heard[20000:22000], want[20000:21800], "valid")))
    assert np.abs(heard[20000 + lag : 21000 + lag] - want[20000:21000]).max() < 0.02
    assert player.underruns == 0 and player.position == pytest.approx(4, abs=0.01)


def test_a_device_that_fails_keeps_the_audio():
    world, samples = World(), speech(4)

    def fault(frames_out):
        if frames_out > 1.5 * RATE:
            raise DeviceError("Simulated speaker was unplugged")

    names = []
    system = System(world, 512, fault=fault)
    player = playback(system, RATE, on_event=names.append)
    produce(world, player, samples, even(len(samples), 2048), 0.5, RATE)
    run(player, world)
    world.advance(10)  # the producer goes on to its end
    assert "unplugged" in str(player.error) and "1.5 s" in str(player.error) and names[-1] == "failed"
    rest = player.unheard()
    assert np.array_equal(rest, samples[len(samples) - len(rest) :]) and len(rest) / RATE == pytest.approx(2.5, abs=0.1)


def test_a_device_that_cannot_be_opened():
    class Refusing(System):
        def open_output(self, device, rate):
            raise DeviceError("cannot open Simulated speaker: busy")

    world = World()
    player = playback(Refusing(world), RATE)
    produce(world, player, speech(1), [RATE], 0.5, RATE)
    run(player, world)
    world.advance(10)
    assert "busy" in str(player.error) and len(player.unheard()) == RATE


@pytest.mark.parametrize("crystal", [0.97, 1.03])
def test_a_device_with_a_clock_of_its_own_loses_nothing(crystal):
    """A card whose crystal runs three percent slow or fast: the sound stays whole, and position stays with the ear."""
    world, samples = World(), speech(15)
    system = System(world, 441)
    player = playback(system, RATE)
    player._open = lambda opened=player._open: (opened(), setattr(system.speaker, "rate", RATE * crystal))
    produce(world, player, samples, even(len(samples), 8192), 0.5, RATE)
    apart = []
    world.at(14, lambda: apart.append(player.position - len(system.speaker.heard()) / RATE))
    run(player, world)
    assert gaps_and_loss(system.speaker.heard(), samples) == (0, True) and player.underruns == 0
    assert abs(apart[0]) < 0.04


def test_a_new_utterance_cuts_the_old_one_off():
    world, first, second = World(), speech(3, seed=1), speech(1, seed=2)
    system = System(world, 512)
    player = playback(system, RATE)
    produce(world, player, first, [len(first)], 0.1, RATE)
    heard_before = []

    def again():
        heard_before.append(len(system.speaker.heard()))
        player.begin(0.5, 1)
        player.play(second)
        player.finish()

    world.at(1.0, again)
    run(player, world)
    heard = system.speaker.heard()
    assert np.array_equal(np.trim_zeros(heard[-len(second) - 8192 :])[-len(second) :], second)
    assert np.count_nonzero(heard) - len(second) - heard_before[0] < 0.03 * RATE
    assert player.position == pytest.approx(1) and player.underruns == 0


def test_a_speech_longer_than_expected_keeps_some_reserve():
    assert seconds_needed(1.5, 10, 10, 0.05) > seconds_needed(1.5, 10, 9.9, 0.05) > 0.5
    assert seconds_needed(None, None, 0, 0) > 0.1


def test_two_utterances_on_one_stream():
    world, first, second = World(), speech(1, seed=1), speech(1, seed=2)
    names = []
    system = System(world, 512)
    player = playback(system, RATE, on_event=names.append)
    produce(world, player, first, [RATE], 0.5, RATE)
    run(player, world)
    stream, spoken = system.speaker, len(system.speaker.heard())
    produce(world, player, second, [RATE], 0.5, RATE, start=world.now + 5)
    world.advance(world.now + 5.6)
    run(player, world)
    assert system.speaker is stream and names == ["started", "finished"] * 2 and player.underruns == 0
    assert gaps_and_loss(stream.heard()[spoken:], second) == (0, True)


def test_a_device_that_swallows_the_first_moments():
    """Silence goes ahead of the speech, at the start and after a pause, and position does not count it."""
    world, samples = World(), speech(2)
    system = System(world, 64, lead_in=0.05)
    player = playback(system, RATE)
    produce(world, player, samples, even(len(samples), 4096), 0.2, RATE)
    world.at(1.2, player.pause)
    world.at(3.0, player.resume)
    run(player, world)
    heard = system.speaker.heard()
    first = np.flatnonzero(heard)[0]
    zeros, _ = gaps_and_loss(heard, samples)
    assert abs(first - 0.05 * RATE) <= 128 and abs(zeros - 0.05 * RATE) <= 256
    assert player.position == pytest.approx(2) and player.underruns == 0


def test_finish_without_sound_is_done():
    world = World()
    player = playback(System(world), RATE)
    player.finish()
    run(player, world)
    assert player.done and player.position == 0 and player.lead == 0


def test_memory_of_what_was_heard_is_freed():
    world = World()
    system = System(world, 512)
    player = playback(system, RATE)
    samples = speech(20)
    produce(world, player, samples, even(len(samples), 2048), 0.9, RATE)
    world.at(18, lambda: kept.append(sum(map(len, player._source._pieces)) / RATE))
    kept = []
    run(player, world)
    assert kept[0] < 6 and player.underruns == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_not_played(value):
    """A device may turn it into any noise. What came before is heard to its end."""
    world, samples = World(), speech(1)
    system = System(world, 512)
    player = playback(system, RATE)
    player.play(samples)
    with pytest.raises(AudioError, match="no numbers"):
        player.play(np.array([0.1, value], np.float32))
    player.finish()
    run(player, world)
    assert player.done and gaps_and_loss(system.speaker.heard(), samples) == (0, True)


@pytest.mark.parametrize("block", [100, 1024, 4096])
@pytest.mark.parametrize("rest", [0.2, 5.0], ids=["goes on in time", "goes on after its end"])
def test_speech_whose_text_is_still_written_rests_without_a_gap(rest, block):
    """`finish` behind each pass: what comes later goes on with it or begins anew, and nothing is counted as a gap."""
    world, samples = World(), speech(4)
    system = System(world, block)
    player = playback(system, RATE)
    player.begin(0.5, expected_seconds=2)
    half = len(samples) // 2
    end = produce(world, player, samples[:half], even(half, 8192), 0.5, RATE)
    produce(world, player, samples[half:], even(half, 8192), 0.5, RATE, start=end + rest)
    run(player, world)
    world.advance(max(world.now, end + rest + 0.01))
    run(player, world)
    assert player.done and player.underruns == 0
    heard = system.speaker.heard()
    assert np.array_equal(heard[heard != 0], samples)
