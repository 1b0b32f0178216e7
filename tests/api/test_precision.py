"""Products in full float32 on every chip, unless the user says otherwise."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("given, wanted", [(None, "0"), ("1", "1")])
def test_short_floats_only_when_asked_for(given, wanted):
    environment = {k: v for k, v in os.environ.items() if k != "MLX_ENABLE_TF32"}
    if given:
        environment["MLX_ENABLE_TF32"] = given
    code = "import s2mlx, os, sys; print(os.environ['MLX_ENABLE_TF32'], 'mlx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [wanted, "False"]  # said before MLX is there to read it
