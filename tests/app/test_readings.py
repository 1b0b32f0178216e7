"""Long texts on the disk: no take is lost, whoever writes; what follows keeps the voice of what there is."""

import threading
from pathlib import Path

import numpy as np
import pytest
from s2mlx_app.state.reading import Reading
from s2mlx_app.state.readings import Readings

from s2mlx.errors import S2Error
from s2mlx.text import Span

TEXT = "One. Two. Three."
HUM = np.ones(100, np.float32)


@pytest.fixture
def readings(tmp_path):
    return opened(tmp_path)


def opened(tmp_path):
    return Readings(tmp_path / "readings", lambda path, samples, rate, private: path.write_bytes(b"x"), lambda *_: HUM)


def a_reading(**knobs):
    return Reading(TEXT, (Span(0, 4, False, None), Span(5, 9, False, None), Span(10, 16, False, None)), 7, **knobs)


def keep(readings, reading, number=0, seed=1):
    return readings.keep(reading, number, HUM, seed, 4, "stop")


def test_a_damaged_table_costs_no_sound(readings):
    reading = readings.add(a_reading())
    keep(readings, reading)
    keep(readings, reading)
    folder = readings.of(reading)
    (folder / "0-1.flac").write_bytes(b"the first")
    (folder / "0.json").write_text("{")
    assert keep(readings, reading).take.sound not in ("0-1.flac", "0-2.flac")
    assert (folder / "0-1.flac").read_bytes() == b"the first" and (folder / "0-2.flac").exists()
    assert len(readings.complaints) == 1 and "0.json" in readings.complaints[0]


def test_two_apps_lose_no_take(tmp_path):
    one = opened(tmp_path)
    reading = one.add(a_reading())
    apps = [opened(tmp_path) for _ in range(4)]
    threads = [threading.Thread(target=lambda app=app: [keep(app, reading, seed=n) for n in range(5)]) for app in apps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    takes = one.sounds(reading)[0].takes
    assert len(takes) == len({take.sound for take in takes}) == 20


def test_a_choice_forgets_no_take_of_another_app(tmp_path):
    one, other = opened(tmp_path), opened(tmp_path)
    reading = one.add(a_reading())
    keep(one, reading)
    mine = keep(one, reading)
    keep(other, reading)
    one.choose(reading, 0, mine)
    assert len(one.sounds(reading)[0].takes) == 3 and one.sounds(reading)[0].at == 1


def test_nothing_is_put_where_a_text_was_removed(readings):
    reading = readings.add(a_reading())
    sound = keep(readings, reading)
    readings.remove(reading)
    with pytest.raises(S2Error, match="removed"):
        keep(readings, reading)
    with pytest.raises(S2Error, match="removed"):
        readings.choose(reading, 0, sound)
    assert not readings.of(reading).exists()


def test_a_damaged_voice_is_told(readings):
    reading = readings.add(a_reading())
    Path(readings.of(reading) / "voice-0.s2voice").write_bytes(b"no voice")
    assert readings.voice(reading) is None and "voice-0.s2voice" in readings.complaints[0]
    assert readings.voice(reading) is None and len(readings.complaints) == 1
