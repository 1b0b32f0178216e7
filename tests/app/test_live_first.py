"""What somebody waits for goes first, also in the moments in which the making of long texts is about to go on."""

import threading
import time

import pytest
from s2mlx_app.engine import live_first
from s2mlx_app.engine.live_first import LiveFirst

from s2mlx.options import Options


class Held:
    """An engine that speaks when it is let, and tells what began."""

    def __init__(self):
        self.began, self.go = [], threading.Event()

    def stream(self, text, **how):
        self.began.append(text)
        self.go.wait(10)
        yield text

    def stream_each(self, texts, *, cancel, **how):
        self.began.append("behind")
        for number, (text, _) in enumerate(texts):
            if cancel.is_set():
                return
            yield number, text


def run(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def behind(engine, cancel=None, waits=lambda: None):
    return engine.behind(
        [("a", 1), ("b", 2), ("c", 3)], voice=None, options=Options(), cancel=cancel or threading.Event(), waits=waits
    )


def test_it_steps_aside_at_once():
    held = Held()
    held.go.set()
    engine = LiveFirst(held)
    chunks = behind(engine)
    next(chunks)
    assert list(engine.stream("live")) == ["live"]
    assert list(chunks) == [] and engine.stepped_aside


def test_what_comes_in_the_rest_before_it_goes_on_is_served_first(monkeypatch):
    monkeypatch.setattr(live_first, "REST", 0.2)
    held = Held()
    engine, waiting = LiveFirst(held), threading.Event()
    first = run(lambda: list(engine.stream("first")))
    while "first" not in held.began:
        time.sleep(0.001)
    making = run(lambda: list(behind(engine, waits=waiting.set)))
    assert waiting.wait(10)
    held.go.set()
    first.join(10)
    held.go.clear()  # in the rest the next one comes
    second = run(lambda: list(engine.stream("second")))
    making.join(0.6)
    assert making.is_alive() and held.began == ["first", "second"]
    held.go.set()
    second.join(10)
    making.join(10)
    assert held.began == ["first", "second", "behind"]


def test_a_text_that_is_being_written_goes_first_only_while_sound_is_owed(monkeypatch):
    monkeypatch.setattr(live_first, "REST", 0.01)
    held, owed = Held(), [False]
    engine = LiveFirst(held)
    held.go.set()
    writing = engine.stream_growing("written", lambda: owed[0])
    next(writing)
    chunks = behind(engine)
    next(chunks)  # nobody waits
    engine.look()
    next(chunks)
    owed[0] = True
    engine.look()
    assert list(chunks) == [] and engine.stepped_aside
    cancel, waiting = threading.Event(), threading.Event()
    making = run(lambda: list(behind(engine, cancel, waiting.set)))
    assert waiting.wait(10) and held.began == ["written", "behind"]
    owed[0] = False  # it was spoken
    making.join(10)
    assert held.began == ["written", "behind", "behind"]
    writing.close()


def test_what_was_written_before_its_stream_began_goes_first_too():
    held = Held()
    held.go.set()
    engine = LiveFirst(held)
    chunks = behind(engine)
    next(chunks)
    writing = engine.stream_growing("written", lambda: True)
    next(writing)
    assert list(chunks) == [] and engine.stepped_aside
    writing.close()


def test_nothing_comes_between_the_look_and_the_beginning():
    """What begins right after it was seen that nobody waits still has it step aside."""
    held = Held()
    held.go.set()
    engine = LiveFirst(held)
    begin = held.stream_each

    def late(texts, **how):
        assert list(engine.stream("live")) == ["live"]
        return begin(texts, **how)

    held.stream_each = late
    assert list(behind(engine)) == [] and engine.stepped_aside


@pytest.mark.parametrize("live", [False, True])
def test_it_can_be_cancelled(live):
    held, cancel = Held(), threading.Event()
    engine = LiveFirst(held)
    held.go.set()
    cancel.set()
    speech = engine.stream("live")
    if live:
        next(speech)
    assert list(behind(engine, cancel)) == [] and "behind" not in held.began
    speech.close()
