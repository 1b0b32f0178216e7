"""The worker's thread: what it does not hold, what ends it, and how it fails."""

import gc
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

from s2mlx.errors import S2Error, UsageError
from s2mlx.worker import Aside, Bell, Worker
from tests import goldens


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.close()


def counting(done, entered=None):
    """Work that ends when it is no longer wanted; `done` then tells how many items it made."""

    def work(keep_going):
        for i in range(10**9):
            if not keep_going():
                done.append(i)
                return
            yield i
            if entered:
                entered.set()

    return work


def test_items_in_order_then_the_end(worker):
    stream = worker.stream(lambda keep_going: iter("abc"))
    assert list(stream) == ["a", "b", "c"] and list(stream) == []


def reading(stream, count):
    """What `count` threads that read `stream` got and how it ended for each; they must all end."""
    got, ends = [], []

    def read():
        try:
            for item in stream:
                got.append(item)
            ends.append(None)
        except S2Error as fault:
            ends.append(str(fault))

    threads = [threading.Thread(target=read, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads, got, ends


def joined(threads):
    for thread in threads:
        thread.join(20)
    return not any(thread.is_alive() for thread in threads)


def test_threads_that_read_one_stream_share_its_items_and_all_see_its_end(worker):
    threads, got, ends = reading(worker.stream(lambda keep_going: iter(range(1000))), 4)
    assert joined(threads)
    assert sorted(got) == list(range(1000)) and ends == [None] * 4


def test_an_error_reaches_every_thread_that_reads(worker):
    def work(keep_going):
        yield 1
        raise S2Error("no more")

    threads, got, ends = reading(worker.stream(work), 3)
    assert joined(threads)
    assert got == [1] and ends == ["no more"] * 3


def test_who_waits_for_a_stream_that_another_thread_closes_waits_no_longer(worker):
    go_on = threading.Event()
    busy = worker.stream(lambda keep_going: iter([go_on.wait(30)]))
    stream = worker.stream(lambda keep_going: iter("abc"))  # its turn has not come
    threads, got, ends = reading(stream, 2)
    stream.close()
    assert joined(threads) and not got and ends == [None] * 2
    go_on.set()
    assert list(busy) == [True]


class Door:
    """What work waits at until another thread opens it."""

    def __init__(self):
        self.opened, self.wake = False, None

    def subscribe(self, wake):
        self.wake = wake
        if self.opened:
            wake()

    def open(self):
        self.opened = True
        if self.wake:
            self.wake()


def waiting(door, seconds=None, asked=None):
    """Work that gives 1, steps aside until the door is open, and gives 2."""

    def work(keep_going):
        yield 1
        while keep_going() and not door.opened:
            if asked is not None:
                asked.append(1)
            yield Aside(door.subscribe, seconds)
        yield 2 if keep_going() else "stopped"

    return work


def test_a_bell_is_heard_once_and_also_by_who_asks_too_late():
    bell, woken = Bell(), []
    bell.hush()
    bell.call_when_rung(lambda: woken.append("rung"))
    assert not woken
    bell.ring()
    bell.ring()
    assert woken == ["rung"]
    bell.hush()
    bell.ring()  # between the look and the call
    bell.call_when_rung(lambda: woken.append("late"))
    assert woken == ["rung", "late"]
    bell.ring()
    bell.hush()  # what was told before the look is seen by it
    bell.call_when_rung(lambda: woken.append("too much"))
    assert woken == ["rung", "late"]


def test_nothing_that_many_hand_over_is_slept_over(worker):
    """Without a bell that is hushed before the look some of it would lie for ever."""
    given, bell, writers, each = queue.SimpleQueue(), Bell(), 4, 500

    def work(keep_going):
        seen = 0
        while seen < writers * each:
            bell.hush()
            while not given.empty():
                given.get()
                seen += 1
                yield seen
            if seen < writers * each:
                yield Aside(bell.call_when_rung)

    def write():
        for number in range(each):
            given.put(number)
            bell.ring()

    stream = worker.stream(work)
    for _ in range(writers):
        threading.Thread(target=write).start()
    assert list(stream) == list(range(1, writers * each + 1))


def test_work_that_waits_steps_aside_for_others(worker):
    door = Door()
    stream = worker.stream(waiting(door))
    assert next(stream) == 1
    assert [worker.call(lambda keep_going, n=n: n) for n in range(3)] == [0, 1, 2]
    door.open()
    assert list(stream) == [2]


def test_it_is_asked_again_in_time_and_not_more_often(worker):
    door, asked = Door(), []
    stream = worker.stream(waiting(door, 0.02, asked))
    assert next(stream) == 1
    while len(asked) < 3:
        time.sleep(0.005)
    door.open()
    assert list(stream) == [2]
    door, asked = Door(), []
    stream = worker.stream(waiting(door, None, asked))
    assert next(stream) == 1 and worker.call(lambda keep_going: 5) == 5 and len(asked) == 1
    stream.close()


def test_who_is_aside_is_ended_by_an_event_a_close_and_the_end(worker):
    ended = []
    cancel = threading.Event()
    stream = worker.stream(waiting(Door()), cancel, lambda: ended.append("event"))
    assert next(stream) == 1
    cancel.set()
    assert list(stream) == ["stopped"]
    stream = worker.stream(waiting(Door()), ended=lambda: ended.append("close"))
    assert next(stream) == 1
    stream.close()
    worker.call(lambda keep_going: None)
    stream = worker.stream(waiting(Door()), ended=lambda: ended.append("end"))
    queued = worker.stream(waiting(Door()), ended=lambda: ended.append("queued"))
    assert next(stream) == 1 and next(queued) == 1
    worker.close()
    for one in (stream, queued):
        with pytest.raises(S2Error, match="closed"):
            list(one)
    assert ended[:2] == ["event", "close"] and sorted(ended[2:]) == ["end", "queued"]


def test_however_long_it_may_wait_others_are_served(worker):
    worker.stream(lambda keep_going: iter([Aside(lambda wake: None, seconds=1e12)]))
    assert worker.call(lambda keep_going: 1) == 1 and worker._thread.is_alive()


def test_a_close_ends_all_that_is_aside_though_one_is_let_in_meanwhile(worker):
    first = worker.stream(lambda keep_going: iter([Aside(lambda wake: None, between=lambda: True), 1]))
    second = worker.stream(lambda keep_going: iter([Aside(lambda wake: None)]))
    worker.call(lambda keep_going: None)
    worker.close()
    for stream, items in ((first, [1]), (second, [])):
        threads, got, ends = reading(stream, 1)
        assert joined(threads) and got == items and len(ends) == 1


def test_what_stepped_aside_and_ended_is_not_held(worker):
    door, held = Door(), Held()
    gone = weakref.ref(held)

    def work(keep_going, held=held):
        yield from waiting(door)(keep_going)

    stream = worker.stream(work)
    next(stream)
    door.open()
    assert list(stream) == [2]
    del work, held
    worker.call(lambda keep_going: None)
    gc.collect()
    assert gone() is None


class Held:
    """Something that is not to be held."""


@pytest.mark.parametrize("ask", ["call", "stream", "read"])
def test_the_workers_own_thread_is_refused(worker, ask):
    """It would wait for itself."""
    other = worker.stream(lambda keep_going: iter("abc"))
    asked = {
        "call": lambda: worker.call(lambda keep_going: 1),
        "stream": lambda: worker.stream(lambda keep_going: iter("a")),
        "read": lambda: next(other),
    }[ask]
    with pytest.raises(UsageError, match="from its own thread"):
        worker.call(lambda keep_going: asked())
    assert worker.call(lambda keep_going: "free") == "free" and next(other) == "a"


@pytest.mark.parametrize("leave", [lambda stream: stream.close(), lambda stream: None])
@pytest.mark.parametrize("begun", [False, True])
def test_a_stream_that_nobody_wants_ends(worker, begun, leave):
    done = []
    stream = worker.stream(counting(done))
    if begun:
        next(stream)
    leave(stream)
    del stream
    assert worker.call(lambda keep_going: "free") == "free" and done


def test_the_last_act_comes_however_late():
    """Weights are freed also when the work could not be stopped in time."""
    worker, begun, go_on, done = Worker(), threading.Event(), threading.Event(), threading.Event()
    stream = worker.stream(lambda keep_going: iter([begun.set(), go_on.wait(10)]))
    assert begun.wait(10)
    assert worker.close(timeout=0.01, last=done.set) is False and not done.is_set()
    go_on.set()
    assert done.wait(10) and worker.close()
    stream.close()


def test_requests_of_many_threads_are_served_in_turn(worker):
    active, most, got = [], [], []

    def work(keep_going):
        active.append(1)
        most.append(len(active))
        yield from range(5)
        active.pop()

    threads = [threading.Thread(target=lambda: got.append(list(worker.stream(work)))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [[0, 1, 2, 3, 4]] * 8 and set(most) == {1}


def test_what_was_served_is_not_held(worker):
    class Model:
        pass

    model = Model()
    gone = weakref.ref(model)
    assert worker.call(lambda keep_going, model=model: type(model)) is Model
    worker.call(lambda keep_going: None)  # the one before is past
    del model
    gc.collect()
    assert gone() is None


def test_the_last_request_is_not_held_either(worker):
    class Model:
        pass

    model = Model()
    gone = weakref.ref(model)
    threading.Thread(target=worker.call, args=(lambda keep_going, model=model: None,)).start()
    del model
    for _ in range(200):
        gc.collect()
        if gone() is None:
            return
        threading.Event().wait(0.02)
    pytest.fail("the waiting thread still holds the last request")


def test_work_that_waits_for_a_moment_is_let_in_between_the_items_of_other_work(worker):
    order, ready = [], threading.Event()

    def patient(keep_going):
        for i in range(3):
            order.append(f"patient {i}")
            yield Aside(lambda wake: None, 0.0 if i == 2 else None, lambda: order[-1] in ("item 1", "item 3"))

    def long(keep_going):
        ready.wait(10)
        for i in range(5):
            order.append(f"item {i}")
            yield i

    aside, items = worker.stream(patient), worker.stream(long)
    ready.set()
    assert list(items) == [0, 1, 2, 3, 4] and list(aside) == []
    assert order == ["patient 0", *"item 0,item 1,patient 1,item 2,item 3,patient 2,item 4".split(",")]


def test_work_without_haste_gives_way_and_goes_on_when_nothing_else_is_to_be_done(worker):
    order, both = [], threading.Event()

    def humble(keep_going):
        both.wait(10)
        for i in range(3):
            order.append(i)
            yield Aside(lambda wake: None, 0.0)

    slow = worker.stream(humble)
    other = worker.stream(lambda keep_going: (order.append(letter) for letter in "ab"))
    both.set()
    assert list(other) == [None, None] and list(slow) == [] and order == [0, "a", "b", 1, 2]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the system does not list its threads")
def test_closed_its_thread_has_left_the_system_too():
    """What MLX keeps for a thread ends with it and needs the interpreter, which may be about to end."""
    for _ in range(100):
        worker = Worker()
        worker.call(lambda keep_going: None)
        worker.close()
        assert not os.path.exists(f"/proc/self/task/{worker._thread.native_id}")


def test_close_ends_what_runs(worker):
    done, entered = [], threading.Event()
    stream = worker.stream(counting(done, entered))
    waiting = worker.stream(lambda keep_going: iter("x"))
    assert entered.wait(10)
    assert worker.close() and done
    for one in (stream, waiting):
        with pytest.raises(S2Error, match="closed"):
            list(one)
    with pytest.raises(S2Error, match="closed"):
        worker.stream(counting([]))


@pytest.mark.parametrize(
    "fault",
    [
        MemoryError(),
        RuntimeError("[malloc] Unable to allocate 123456789 bytes."),
        RuntimeError(
            "[metal::malloc] Attempting to allocate 20000000000 bytes which is greater than the maximum allowed"
        ),
        RuntimeError(
            "[METAL] Command buffer execution failed: Insufficient Memory "
            "(00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"
        ),
    ],
)
def test_running_out_of_memory_is_a_clear_error(worker, fault):
    def work(keep_going):
        raise fault

    with pytest.raises(S2Error, match="out of memory"):
        worker.call(work)
    assert worker.call(lambda keep_going: 1) == 1


def test_other_faults_are_passed_on_as_they_are(worker):
    with pytest.raises(ZeroDivisionError):
        worker.call(lambda keep_going: 1 / 0)
    with pytest.raises(RuntimeError, match="of its own"):
        worker.call(lambda keep_going: (_ for _ in ()).throw(RuntimeError("of its own")))


def in_child(function):
    """Run `function` in a forked child; True if it did not raise. A child that hangs is ended and False."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            function()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def test_a_forked_child_is_refused_and_does_not_hang(worker):
    begun = worker.stream(lambda keep_going: iter("ab"))
    next(begun)

    def use():
        for attempt in (lambda: worker.call(lambda keep_going: 1), lambda: next(begun)):
            with pytest.raises(S2Error, match="forked"):
                attempt()
        assert worker.close()

    assert in_child(use)
    assert list(begun) == ["b"] and worker.call(lambda keep_going: 1) == 1


LOAD = f"""
import gc, sys, weakref, s2mlx
def load():
    model, tokenizer = {str(goldens.GOLDEN / "tiny-q4_k_m.gguf")!r}, {str(goldens.GOLDEN / "tokenizer.json")!r}
    return s2mlx.load(model, tokenizer=tokenizer)
tts = load()
"""


def script(rest):
    done = subprocess.run([sys.executable, "-c", LOAD + rest], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_a_program_may_end_in_the_middle_of_a_speech():
    assert script("stream = tts.stream('Hello there.', min_frames=400, max_frames=400); next(stream); sys.exit(3)") == (
        3,
        "",
        "",
    )


def test_a_forgotten_synthesizer_goes_with_its_thread_and_weights():
    code, out, err = script("""
tts.say("Hi.", max_frames=1)
thread, model = tts._worker._thread, weakref.ref(tts._engine.model)
del tts
gc.collect()
thread.join(10)
print(thread.is_alive(), model() is None)
""")
    assert (code, out, err) == (0, "False True\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="Metal does not survive a fork")
def test_a_forked_child_loads_a_model_of_its_own():
    code, out, err = script("""
import os, signal
before = tts.say("Hi.", max_frames=2, min_frames=2, seed=1).codes.tolist()
child = os.fork()
if child == 0:
    signal.alarm(60)
    same = load().say("Hi.", max_frames=2, min_frames=2, seed=1).codes.tolist() == before
    os._exit(0 if same else 1)
print(os.waitpid(child, 0)[1], tts.say("Hi.", max_frames=2, min_frames=2, seed=1).codes.tolist() == before)
""")
    assert (code, out) == (0, "0 True\n"), err


def test_an_interrupt_cancels_and_leaves_what_was_finished(monkeypatch):
    """With an event to cancel by, Ctrl-C in the reader is no end of reading."""
    cancel, worker = threading.Event(), Worker()

    def work(keep_going):
        yield 1
        while keep_going():
            time.sleep(0.001)
        yield 2

    results = worker.stream(work, cancel)
    assert next(results) == 1
    monkeypatch.setattr(results._request, "results", Interrupted(results._request.results))
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert cancel.is_set() and list(results) == [2]
    worker.close()


class Interrupted:
    """A queue whose first `get` is interrupted."""

    def __init__(self, queue):
        self.queue, self.put, self.done = queue, queue.put, False

    def get(self):
        if not self.done:
            self.done = True
            raise KeyboardInterrupt
        return self.queue.get()
