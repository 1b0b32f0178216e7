"""The ear of a request: opened once, also when that fails; who waits for it is woken; let go of at the end."""

import threading

import numpy as np
import pytest

from s2mlx.errors import EarError
from s2mlx.request.listener import Listener

from ..fakes.ear import ScriptedEar

SOUND = np.zeros(10, np.float32)


def test_a_recognizer_that_cannot_be_opened_is_not_opened_again():
    opened = []

    def fail():
        opened.append(1)
        raise EarError("it is broken")

    listener = Listener(fail)
    for future in [listener.hear("Words.", SOUND, 16000) for _ in range(3)]:
        with pytest.raises(EarError, match="it is broken"):
            future.result(60)
    listener.close()
    assert len(opened) == 1


def test_who_waits_is_woken_by_what_was_heard_and_by_a_failure():
    ear = ScriptedEar(lambda text, take: 1 // (text != "Fail."))
    listener = Listener(ear.open)
    for text in ("Words.", "Fail."):
        ear.gate.clear()
        future = listener.hear(text, SOUND, 16000)
        threading.Timer(0.01, ear.gate.set).start()
        while not future.done():
            listener.wait(3600)
    assert isinstance(future.exception(), ZeroDivisionError)
    listener.close()
    listener._thread.shutdown(wait=True)
    assert ear.opened == ear.closed == 1
