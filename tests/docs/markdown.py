"""The papers of the repository: which there are, and the blocks of code in them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
_INNER = re.compile(r"\$\((.*)\)")
_OPERATORS = {"&&", "||", "|", ";", "&"}
_REDIRECTIONS = {">", ">>", "<"}


def papers() -> list[Path]:
    """Every Markdown file that comes with the sources, those of the bundled voice's recipe aside."""
    found = [*ROOT.glob("*.md"), *(p for room in ("s2mlx", "app", "tests") for p in (ROOT / room).rglob("*.md"))]
    return sorted(found)


def blocks(paper: Path, language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return [body for name, body in _FENCE.findall(paper.read_text(encoding="utf-8")) if name == language]


def lines(block: str) -> list[str]:
    """The command lines of a block of shell; one that goes on after a backslash is one."""
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


def commands(line: str) -> list[list[str]]:
    """The simple commands of a command line, each as its words; comments and redirections are left away."""
    found: list[list[str]] = [[]]
    skip = False
    for word in _words(line):
        if skip:
            skip = False
        elif word in _OPERATORS:
            found.append([])
        elif word in _REDIRECTIONS:
            skip = True
        else:
            found[-1].append(word)
            if inner := _INNER.fullmatch(word):
                found = [*commands(inner[1]), *found]
    return [words for words in found if words]


def piped(line: str) -> bool:
    """Whether one command of the line reads what another writes."""
    return "|" in _words(line)


def _words(line: str) -> list[str]:
    """Words and operators. What was quoted is told from an operator by a mark that no line holds."""
    lexer = shlex.shlex(line, posix=False, punctuation_chars=True)
    lexer.wordchars += "~-./*?=:,@%+[]{}!$\\"
    return [word if word in _OPERATORS | _REDIRECTIONS else "".join(shlex.split(word)) for word in lexer]
