"""Fixtures: kernels on the CPU. Everything is skipped where no C++ compiler with sanitizers is found."""

import pytest

from . import harness, msl


@pytest.fixture(scope="module")
def compiled(request):
    """The programs of a module's CASES, compiled together; the recorded Metal text."""
    if msl.compiler() is None:
        pytest.skip("no C++ compiler with address and undefined-behaviour sanitizers")
    return harness.precompile(request.module.CASES)
