"""Two processes of `mlx.launch` on this machine: the file of one; one that is lost, and what was complete."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import soundfile

from s2mlx.files.folders import assets_dir

pytestmark = [pytest.mark.skipif(not assets_dir(), reason="no voice is bundled"), pytest.mark.xdist_group("team")]
MAIN = "from mlx._distributed_utils.launch import main; main()"
LAUNCH = [sys.executable, "-c", MAIN, "-n", "2", "--backend", "ring"]
SAY = [sys.executable, "-m", "s2mlx", "say", "-v", "clara", "--seed", "5", "--max-frames", "40"]
PARAGRAPH = "This is a paragraph of the book, with a sentence of some length. And here is another one behind it.\n\n"


def launched(folder, *words):
    command = folder / "speak.py"  # as the installed one is
    command.write_text("import sys\nfrom s2mlx.__main__ import main\nsys.exit(main())\n")
    return subprocess.Popen(
        [*LAUNCH, "--python", sys.executable, "--", str(command), *SAY[3:], *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def ended():
    """Whatever is left of the processes, at the end."""
    running = []
    yield running
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_the_file_is_that_of_one(tmp_path, ended):
    text = tmp_path / "book.txt"
    text.write_text(PARAGRAPH * 4)
    one, two = tmp_path / "one.wav", tmp_path / "two.wav"
    subprocess.run([*SAY, "-f", text, "-o", one, "--codes", tmp_path / "one.npy"], check=True, timeout=200)
    process = launched(tmp_path, "-f", text, "-o", two, "--codes", tmp_path / "two.npy")
    ended.append(process)
    told = process.communicate(timeout=250)[0]
    assert process.returncode == 0, told
    assert "passes of 2 machines" in told
    np.testing.assert_array_equal(np.load(tmp_path / "one.npy"), np.load(tmp_path / "two.npy"))
    assert one.read_bytes() == two.read_bytes()


def test_a_lost_machine_and_resume(tmp_path, ended):
    text, out = tmp_path / "book.txt", tmp_path / "book.wav"
    text.write_text(PARAGRAPH * 40)
    process = launched(tmp_path, "-f", text, "-o", out, "--batch", "1")
    ended.append(process)
    deadline = time.monotonic() + 250
    while not (parts := list(tmp_path.glob(".*book*"))) or parts[0].stat().st_size < 200_000:
        assert process.poll() is None and time.monotonic() < deadline, process.stdout.read()
        time.sleep(0.2)
    _kill_follower(process.pid)
    told = process.communicate(timeout=200)[0]
    assert "Traceback" not in told and "holds" in told, told
    seconds = soundfile.info(out).duration
    assert seconds > 1 and "--resume goes on" in told
    again = subprocess.Popen([*SAY, "-f", text, "-o", out, "--batch", "1", "--resume"], stderr=subprocess.PIPE)
    ended.append(again)
    for _ in range(2500):
        if soundfile.info(out).duration != seconds or again.poll() is not None:
            break
        time.sleep(0.1)
        if any(part.stat().st_size > seconds * 2 * 22050 for part in tmp_path.glob(".*book*")):
            break  # it begins with what there was, and goes on
    else:
        pytest.fail("it did not go on")
    again.kill()


def _kill_follower(launcher):
    """The process of rank 1, found by its environment."""
    found = subprocess.run(["pgrep", "-g", str(launcher)], capture_output=True, text=True).stdout.split()
    for pid in found:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            if b"MLX_RANK=1" in environ.read().split(b"\0"):
                os.kill(int(pid), signal.SIGKILL)
                return
    pytest.fail(f"no rank 1 among {found}")
