"""A check that ends badly, in the way that `S2MLX_TEST_ILLNESS` names: for test_examine.py."""

import os
import signal
import sys
import time

from s2mlx.doctor.finding import bad, good, note
from s2mlx.errors import S2Error


def run():
    way = os.environ["S2MLX_TEST_ILLNESS"]
    print("a library prints what is no finding")
    os.system("echo nor is this")
    yield good("the first thing works", gb=12.5)
    if way == "killed":
        os.kill(os.getpid(), signal.SIGABRT)
    if way == "hangs":
        time.sleep(600)
    if way == "raises":
        raise RuntimeError("the device is gone")
    if way == "expected":
        raise S2Error("/etc/nothing is not there; make it")
    if way == "exits":
        sys.exit(3)
    yield note("the second is so so", "never mind")
    yield bad("the third is not", "mend it")
