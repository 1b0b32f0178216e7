"""What all tests need of their process, and the tokenizers that several rooms use."""

import gc
import os
import signal
import tempfile
from pathlib import Path

import pytest

from s2mlx.config import ModelConfig
from s2mlx.text.tokenizer import load_tokenizer

from .goldens import GOLDEN, SHARED, TINY


def pytest_configure(config):
    """A shell that runs the tests in the background has them ignore Ctrl-C, and so would every process they start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    choose_device(os.environ.get("S2MLX_TEST_DEVICE", "cpu"))
    config.own_cache = tempfile.TemporaryDirectory(prefix="s2mlx-tests-")  # nothing is kept in the developer's
    os.environ["XDG_CACHE_HOME"] = config.own_cache.name


def pytest_collection_finish(session):
    """What is there by now stays: looking through it for garbage, again and again, took the app's tests an eighth of
    their time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_unconfigure(config):
    config.own_cache.cleanup()


def choose_device(name):
    """Numbers are compared on the CPU, the same everywhere; S2MLX_TEST_DEVICE=gpu takes a Mac's GPU and our kernels."""
    import mlx.core as mx

    mx.set_default_device(mx.Device({"cpu": mx.cpu, "gpu": mx.gpu}[name]))


# Modules that listen to real sound as it plays: one after the other, or they would be late for each other's.
LISTENING = {"tests/audio/test_loop.py", "tests/cli/test_loop.py", "tests/app/test_terminal.py"}

# Modules of a minute and more go first: the last one would keep a single core busy while the others have nothing to do.
SLOW = LISTENING | {
    "tests/api/test_bundled.py",
    "tests/app/test_snapshots.py",
    "tests/app/test_studio_snapshots.py",
    "tests/docs/test_commands.py",
    "tests/metal/test_mutants.py",
    "tests/metal/test_qmv.py",
    "tests/networks/test_goldens.py",
    "tests/team/test_launched.py",
    "tests/team/test_team.py",
}


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.nodeid.split("::")[0] not in SLOW)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One process a core, four at most, since each has its models and compilers. None for a few tests: they would wait
    longer for the processes than for each other."""
    whole = all(Path(place).is_dir() for place in config.args) and not config.option.keyword
    return min(os.cpu_count() or 1, 4) if whole else 0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A module stays in one process, with the models that its tests share."""
    from xdist.scheduler import LoadScopeScheduling

    class ByModule(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            module = nodeid.split("::")[0]
            return "listening" if module in LISTENING else module

    return ByModule(config, log)


@pytest.fixture(scope="session")
def tokenizer():
    """The tiny model's."""
    return load_tokenizer(GOLDEN / "tokenizer.json", TINY)


@pytest.fixture(scope="session")
def real_tokenizer():
    """S2's own."""
    path = SHARED / "data" / "s2_tokenizer" / "tokenizer.json"
    if not path.is_file():
        pytest.skip("S2's own tokenizer is not in this checkout")
    return load_tokenizer(path, ModelConfig())
