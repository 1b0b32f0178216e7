"""The picture goes to the terminal and what C libraries say does not, wherever descriptor 2 leads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import os, sys
from pathlib import Path
from s2mlx_app.terminal import own_terminal
with own_terminal(Path(sys.argv[1])):
    os.write(2, b"noise")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # as PortAudio's binding does while it starts
    sys.__stderr__.write("picture")
os.write(2, b"after")
"""


@pytest.mark.parametrize("redirected", [False, True])
def test_picture_and_noise_take_separate_ways(tmp_path, redirected):
    screen, terminal = os.openpty()
    with open(tmp_path / "err", "wb") as errors:
        subprocess.run(
            [sys.executable, "-c", CODE, str(tmp_path / "log")],
            stdin=terminal,
            stdout=terminal,
            stderr=errors if redirected else terminal,
            check=True,
            cwd=Path(__file__).parents[2],
        )
    shown = os.read(screen, 1000)
    os.close(screen)
    os.close(terminal)
    noise = tmp_path / ("err" if redirected else "log")
    assert shown == (b"picture" if redirected else b"pictureafter")
    assert noise.read_bytes() == (b"noiseafter" if redirected else b"noise")
