"""What `pip install .` takes along, under which version, and what a Python that is too old is told."""

import subprocess
import sys
from pathlib import Path

import pytest

import s2mlx

ROOT = Path(__file__).parents[1]
READ = {".py", ".pyi", ".metal", ".tcss", ".html", ".typed"}


def test_everything_is_installed(tmp_path):
    """A folder that nothing names is missing from an ordinary install, and no other test would notice."""
    subprocess.run([sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path], cwd=ROOT, check=True)
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    needed = {
        Path(package, path.relative_to(ROOT / folder))
        for folder, package in (("s2mlx", "s2mlx"), ("app", "s2mlx_app"))
        for path in (ROOT / folder).rglob("*")
        if path.suffix in READ
    }
    voice = {Path("s2mlx/assets/nano", path.name) for path in (ROOT / "assets" / "nano").iterdir() if path.is_file()}
    assert made == needed | voice


def test_the_version_is_told_once():
    done = subprocess.run(
        [sys.executable, "setup.py", "--version"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.split()[-1] == s2mlx.__version__ == "0.2.0"
    assert f"## {s2mlx.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "module, words",
    [
        ("runpy.run_path('setup.py', run_name='__main__')", []),
        ("runpy.run_path('setup.py', run_name='__main__')", ["egg_info"]),  # what pip runs
        ("runpy.run_module('s2mlx', run_name='__main__')", ["say", "Hi."]),
    ],
)
def test_a_python_that_is_too_old_is_told_so_in_one_line(module, words):
    code = f"import runpy, sys; sys.version_info = (3, 9, 6); sys.version = '3.9.6 (old)'; {module}"
    if "s2mlx" in module:
        code = code.replace("import runpy, sys;", "import runpy, sys; sys.argv[0] = '-m';")  # as under python3 -m s2mlx
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and not done.stdout
    assert "s2mlx needs Python 3.11 or newer, and this is 3.9.6" in done.stderr


def test_a_python_that_is_new_enough_is_told_nothing():
    done = subprocess.run([sys.executable, "setup.py"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
