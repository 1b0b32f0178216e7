"""Ctrl-C, SIGTERM and SIGHUP all become `KeyboardInterrupt` in the main thread; a second one ends the process at once.

The command's own `finally` blocks then stop the sound and finish the file. Knows nothing of either.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager

INTERRUPTED = 130
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def as_keyboard_interrupt():
    """Within, the signals raise KeyboardInterrupt. Elsewhere than in the main thread this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = []

    def handle(number, frame):
        if seen:
            os._exit(INTERRUPTED)  # clean-up hangs, and the user has had enough
        seen.append(number)
        raise KeyboardInterrupt

    before = {}
    for name in _SIGNALS:
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup and `&` in a script ignore some on purpose
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
