"""The papers and the files they speak of: each is named where a reader looks for it, and what is named is there."""

import re

import pytest

from s2mlx.cli.main import COMMANDS

from .markdown import ROOT, papers

# The app's and those of s2mlx; their inner folders are told of in their room's paper.
ROOMS = [ROOT / "app", ROOT / "s2mlx", *sorted(path.parent for path in (ROOT / "s2mlx").glob("*/__init__.py"))]
_NAMED = re.compile(r"`([\w/.*-]+\.(?:py|metal|pyi|md))`")
_SPOKEN_OF = re.compile(r"(?<![\w/.*-])([\w/.*-]+\.(?:py|metal|pyi))\b(?!\.\w)")  # also without backticks
_LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)\)")


def named(paper) -> set[str]:
    """The files that stand in a paper between backticks."""
    return set(_NAMED.findall(paper.read_text(encoding="utf-8")))


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ROOT)))
def test_every_file_has_its_line_in_the_paper_of_its_room(room):
    inner = "*" if room == ROOT / "s2mlx" else "**/*"
    files = {str(path.relative_to(room)) for path in room.glob(f"{inner}.py") if path.name != "__init__.py"}
    missing = sorted(files - named(room / "README.md"))
    assert not missing, f"no line in {room / 'README.md'}: {missing}"


@pytest.mark.parametrize("paper", papers(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_paper_names_is_there(paper):
    for name in named(paper) | set(_SPOKEN_OF.findall(paper.read_text(encoding="utf-8"))):
        found = [*ROOT.glob(name), *(ROOT / "s2mlx").glob(name)] if paper.parent == ROOT else paper.parent.rglob(name)
        assert list(found) or (ROOT / name).exists() or (ROOT / "s2mlx" / name).exists(), f"{paper}: {name}"
    for link in _LINK.findall(paper.read_text(encoding="utf-8")):
        assert (paper.parent / link).exists(), f"{paper}: {link}"


def test_the_readme_is_short_and_shows_the_app():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert "assets/screenshots/main.svg" in text


def test_the_table_of_commands():
    text = (ROOT / "s2mlx" / "cli" / "README.md").read_text(encoding="utf-8")
    rows = "\n".join(f"| `{name}` | {what} |" for name, what in COMMANDS.items())
    assert f"| command | does |\n|---|---|\n{rows}\n\n" in text
