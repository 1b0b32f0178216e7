"""What all tests need of their process, and the tokenizers that several rooms use."""

import signal

import pytest

from s2mlx.config import ModelConfig
from s2mlx.text.tokenizer import load_tokenizer

from .goldens import GOLDEN, SHARED, TINY


def pytest_configure(config):
    """A shell that runs the tests in the background has them ignore Ctrl-C, and so would every process they start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
