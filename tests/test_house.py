"""The rooms and their arrows: the contracts in pyproject.toml hold. Files are small, and a class's name is its own."""

import ast
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = [path for folder in ("s2mlx", "app") for path in sorted((ROOT / folder).rglob("*.py"))]
MOST_LINES = 350


def test_arrows_point_downward_and_rooms_are_used_by_their_doors():
    command = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", command, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert f"Contracts: {len(contracts)} kept, 0 broken." in done.stdout


def test_the_top_is_small():
    assert len(list((ROOT / "s2mlx").glob("*.py"))) <= 10
    assert len(list((ROOT / "app").glob("*.py"))) <= 10


def test_files_are_small():
    lines = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in SOURCES}
    assert len(lines) > 200 and {path: n for path, n in lines.items() if n > MOST_LINES} == {}


def test_a_name_is_one_class_s():
    """Those of one file, `_Private`, may be anybody's."""
    places = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert len(places) > 200 and {name: where for name, where in places.items() if len(where) > 1} == {}
