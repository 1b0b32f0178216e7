"""What `pip install .` takes along: every package and the files it reads. Knows only pyproject.toml and the folders."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_package_is_installed():
    """A folder that is not named there is missing from an ordinary install, and no other test would notice."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    roots = {folder: package for package, folder in tool["package-dir"].items() if package != "s2mlx.assets"}
    there = {".".join([package, *path.parent.relative_to(ROOT / folder).parts])
             for folder, package in roots.items() for path in (ROOT / folder).rglob("__init__.py")}
    assert there and there == set(tool["packages"]) - {"s2mlx.assets"}


def test_every_file_that_is_read_is_installed():
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    where = tool["package-dir"]
    data = {path for package, patterns in tool["package-data"].items() for pattern in patterns
            for path in (ROOT / where.get(package, package.replace(".", "/"))).glob(pattern)}
    needed = {path for folder, endings in (("s2mlx", {".metal"}), ("app", {".tcss"}),
                                           ("assets/nano", {".gguf", ".json", ".s2voice", ".flac"}))
              for path in (ROOT / folder).iterdir() if path.suffix in endings}
    needed |= set((ROOT / "s2mlx").rglob("*.metal"))
    assert needed and needed <= data
