"""What all tests need of their process."""

import signal


def pytest_configure(config):
    """A shell that runs the tests in the background has them ignore Ctrl-C, and so would every process they start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
