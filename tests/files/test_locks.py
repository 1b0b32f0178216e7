"""Locks between processes and threads."""

import errno
import subprocess
import sys
import threading

import pytest

from s2mlx.files import locked


def test_another_thread_waits(tmp_path):
    inside, entered = [], threading.Event()

    def other():
        entered.set()
        with locked(tmp_path / "lock"):
            inside.append("other")

    thread = threading.Thread(target=other)
    with locked(tmp_path / "lock"):
        thread.start()
        assert entered.wait(10)
        thread.join(0.2)
        inside.append("first")
    thread.join(10)
    assert inside == ["first", "other"]


def test_another_process_is_kept_out_until_this_one_lets_go(tmp_path):
    code = f"from s2mlx.files import locked\nwith locked({str(tmp_path / 'lock')!r}, wait=0): print('in')"
    with locked(tmp_path / "lock"):
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert ended.returncode and "TimeoutError" in ended.stderr and "another program" in ended.stderr
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "in\n"


def test_faults_within_pass_and_free_it(tmp_path):
    with pytest.raises(OSError, match="of the work"), locked(tmp_path / "lock"):
        raise OSError(errno.ENOLCK, "of the work")
    with locked(tmp_path / "lock", wait=0):
        pass


def test_a_place_that_cannot_be_is_an_error_and_no_locks_are_none(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(OSError), locked(tmp_path / "file" / "lock"):
        pass
    import fcntl

    def none(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", none)
    with locked(tmp_path / "lock"):
        worked = True
    assert worked
