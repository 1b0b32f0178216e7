"""What `pip install .` takes along: every package and every file that the program reads."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
READ = {".py", ".pyi", ".metal", ".tcss", ".typed"}


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
