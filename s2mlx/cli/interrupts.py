"""Ctrl-C, SIGTERM and SIGHUP all become `KeyboardInterrupt` in the main thread; a second one, later, ends the process.

The command's own `finally` blocks then stop the sound and finish the file.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
# s; one wish to stop often comes as several signals: `timeout` sends one to the child and one to its group, a closing
# terminal a SIGHUP and more.
ONE_WISH = 1.0
# As long as that a program may repeat its SIGTERM until this one has ended, as `mlx.launch` does every second; one that
# will not wait sends SIGKILL.
ONE_WISH_OF_A_PROGRAM = 20.0
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class _State:
    """Signals belong to the process, and so does this."""

    first: float | None = None  # time of the first signal
    number: int | None = None  # which it was
    held = 0  # blocks that may not be interrupted, one inside the other
    waiting: float | None = None  # signals came meanwhile: the wish of the one that waits least


@contextmanager
def as_keyboard_interrupt() -> Iterator[None]:
    """Within, the signals raise KeyboardInterrupt. Elsewhere than in the main thread this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _State.first, _State.number, _State.held, _State.waiting = None, None, 0, None
    before = {}
    for name in _SIGNALS:
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup and `&` in a script ignore some on purpose
            before[number] = signal.signal(number, _handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def interrupted() -> bool:
    """Has a signal come since `as_keyboard_interrupt` was entered last?"""
    return _State.first is not None


def terminated() -> bool:
    """Was that signal SIGTERM, by which one program ends another?"""
    return _State.number == signal.SIGTERM


def stopped_a_part() -> bool:
    """After a Ctrl-C that shall end a part of the command only: the next signal is a first one again. False for other
    signals, which end all of it."""
    if _State.number != signal.SIGINT:
        return False
    _State.first, _State.number = None, None
    return True


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within, signals wait: for putting a finished file in place, which is short and must not be done by half."""
    _State.held += 1
    try:
        yield
    finally:
        _State.held -= 1
    if _State.waiting is not None and not _State.held:
        wish, _State.waiting = _State.waiting, None
        _interrupt(wish)


def _handle(number: int, frame: FrameType | None) -> None:
    if _State.number is None:
        _State.number = number
    wish = ONE_WISH_OF_A_PROGRAM if number == signal.SIGTERM else ONE_WISH
    if _State.held:
        _State.waiting = wish if _State.waiting is None else min(wish, _State.waiting)
    else:
        _interrupt(wish)


def _interrupt(wish: float) -> None:
    now = time.monotonic()
    if _State.first is None:
        _State.first = now
        raise KeyboardInterrupt
    if now - _State.first >= wish:
        os._exit(INTERRUPTED)  # clean-up hangs, and the user has had enough
