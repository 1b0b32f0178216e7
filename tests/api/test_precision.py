"""What MLX is told before it starts, unless the user says otherwise: products in full float32, and on macOS few command
buffers."""

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


@pytest.mark.parametrize(
    "system, given, wanted",
    [
        ("darwin", {}, ["1000", "400"]),
        ("darwin", {"MLX_MAX_OPS_PER_BUFFER": "7"}, ["7", "400"]),
        ("linux", {}, ["None"] * 2),
    ],
)
def test_few_command_buffers_on_macos(system, given, wanted):
    names = "MLX_MAX_OPS_PER_BUFFER", "MLX_MAX_MB_PER_BUFFER"
    environment = {k: v for k, v in os.environ.items() if k not in names} | given
    told = f"print(*map(os.environ.get, {names}), 'mlx' in sys.modules)"
    code = f"import os, sys; sys.platform = {system!r}; import s2mlx; {told}"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*wanted, "False"]
