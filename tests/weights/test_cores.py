"""How many threads share the work, and that all of it is done."""

import os
import threading

import pytest

from s2mlx.errors import UsageError
from s2mlx.weights import cores


@pytest.fixture(autouse=True)
def no_setting(monkeypatch):
    monkeypatch.delenv("S2MLX_HOST_BLAS", raising=False)


def topology(folder, siblings):
    for number, said in enumerate(siblings):
        (folder / f"cpu{number}/topology").mkdir(parents=True)
        (folder / f"cpu{number}/topology/thread_siblings_list").write_text(said)
    return folder


@pytest.mark.parametrize("siblings, count", [(["0,2", "1,3", "0,2", "1,3"], 2), (["0", "1", "2", "3"], 4), ([], 4)])
def test_two_threads_of_a_core_count_once(tmp_path, monkeypatch, siblings, count):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    assert cores.physical_cores(topology(tmp_path, siblings)) == count


def test_threads_are_the_cores_up_to_a_bound_or_what_is_set(monkeypatch):
    for found, used in ((1, 1), (6, 6), (96, cores.MOST)):
        monkeypatch.setattr(cores, "physical_cores", lambda found=found: found)
        assert cores.threads() == used
    monkeypatch.setenv("S2MLX_HOST_BLAS", "12")
    assert cores.threads() == 12
    monkeypatch.setenv("S2MLX_HOST_BLAS", "off")
    assert cores.threads() == cores.MOST


@pytest.mark.parametrize("word", ["0", "-1", "many", "1.5"])
def test_another_word_is_an_error(monkeypatch, word):
    monkeypatch.setenv("S2MLX_HOST_BLAS", word)
    with pytest.raises(UsageError, match="S2MLX_HOST_BLAS must be `off` or a number of threads"):
        cores.threads()


@pytest.mark.parametrize("count", ["1", "3"])
def test_every_part_is_done_once_and_an_error_comes_out(monkeypatch, count):
    monkeypatch.setenv("S2MLX_HOST_BLAS", count)
    done = []
    cores.share(done.append, range(500))
    assert sorted(done) == list(range(500))
    with pytest.raises(ZeroDivisionError):
        cores.share(lambda n: 1 // n, range(-3, 9))


def test_several_threads_take_part(monkeypatch):
    monkeypatch.setenv("S2MLX_HOST_BLAS", "2")
    both = threading.Barrier(2, timeout=20)
    cores.share(lambda _: both.wait(), range(2))  # one thread alone would wait for ever
