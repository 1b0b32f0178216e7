"""The rooms and their arrows: the contracts in pyproject.toml hold."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_arrows_point_downward_and_rooms_are_used_by_their_doors():
    command = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", command, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert f"Contracts: {len(contracts)} kept, 0 broken." in done.stdout


def test_the_top_is_small():
    assert len(list((ROOT / "s2mlx").glob("*.py"))) <= 10
    assert len(list((ROOT / "app").glob("*.py"))) <= 10
