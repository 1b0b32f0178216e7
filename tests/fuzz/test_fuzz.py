"""A short run of each reader: its seeds as they are, then the same few changes of them every time."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from .targets import SEEDS, TARGETS

EXAMPLES = 60
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_seeds(target, tmp_path):
    """Good files, and those that broke something once."""
    for number, data in enumerate(target.all_seeds()):
        folder = tmp_path / str(number)
        folder.mkdir()
        target.try_on(data, folder)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_changed_files(target, tmp_path):
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=target.strategy())
    def run(data):
        folder = tmp_path / "folder"
        folder.mkdir()
        try:
            target.try_on(data, folder)
        finally:
            shutil.rmtree(folder)

    run()


def test_every_file_among_the_seeds_is_some_targets():
    names = [path.name for path in SEEDS.iterdir()]
    assert names and all(name.split("-")[0] in TARGETS for name in names)


def test_what_ends_the_process_or_takes_too_long_is_kept(tmp_path):
    """The long run, of a target that does each of what a reader must not do."""
    code = """
import os, sys, time
from tests.fuzz import __main__ as fuzz
from tests.fuzz.targets import TARGETS, Target
def read(data, folder):
    {"raise": lambda: 1 / 0, "die": lambda: os.kill(os.getpid(), 11), "hang": lambda: time.sleep(60)}[sys.argv[1]]()
TARGETS["bad"] = Target("bad", lambda: [b"seed"], read)
fuzz.PATIENCE = 1
fuzz.fuzz("bad", 5.0, __import__("pathlib").Path(sys.argv[2]))
"""
    for how in ("raise", "die", "hang"):
        kept = tmp_path / how
        done = subprocess.run([sys.executable, "-c", code, how, kept], cwd=ROOT, capture_output=True, timeout=120)
        assert done.returncode != 0 and (kept / "bad").exists(), (how, done.stderr[-2000:])
    done = subprocess.run([sys.executable, "-m", "tests.fuzz", "--list"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == list(TARGETS)


def test_the_long_run(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--minutes", "0.02", "--keep", str(tmp_path / "kept"), "text"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and [line.split()[0] for line in lines] == ["text"], done.stderr
    assert int(lines[0].split()[1]) > 0 and not (tmp_path / "kept").exists()
