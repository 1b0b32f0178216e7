"""The findings as a file that can be attached to an issue: Markdown to read, JSON to compare. Nothing private is in it.

Private are folders and the user's name, this machine's name, and what a check says is (names of devices).
"""

from __future__ import annotations

import getpass
import json
import platform
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from .examine import Examined
from .finding import Finding
from .page import verdict

_PATH = re.compile(r"(?<![\w/~.>])/(?:[^\s/:;,'\"()]+/)+[^\s:;,'\"()]*")
_COMMON = {"root", "user", "localhost", "admin"}  # said of anybody


def as_json(examined: Sequence[Examined]) -> dict[str, Any]:
    """{version, system, checks: [{name, seconds, findings: [{state, text, todo, figures}]}]}, nothing private in it."""
    hide = Hide()
    return {
        "s2mlx": __version__,
        "system": f"{platform.system()} {platform.machine()}",
        "checks": [
            {
                "name": each.check.name,
                "seconds": round(each.seconds, 1),
                "findings": [_plain(finding, hide) for finding in each.findings],
            }
            for each in examined
        ],
    }


def as_markdown(examined: Sequence[Examined]) -> str:
    """The same as a table, with the JSON folded away below it."""
    data = as_json(examined)
    lines = [f"## s2mlx doctor, {data['s2mlx']} on {data['system']}: {verdict(examined)}", ""]
    for each, told in zip(examined, data["checks"]):
        lines += [f"### {each.check.title} ({told['seconds']} s)", "", "| | |", "|---|---|"]
        for finding in told["findings"]:
            todo = f" -> {finding['todo']}" if finding["todo"] else ""
            lines.append(f"| {finding['state']} | {_cell(finding['text'] + todo)} |")
        lines.append("")
    lines += ["<details><summary>figures</summary>", "", "```json", json.dumps(data, indent=1), "```", "", "</details>"]
    return "\n".join(lines) + "\n"


class Hide:
    """Takes out of a text what tells who and where somebody is."""

    def __init__(self) -> None:
        self._words = {word for word in (_user(), socket.gethostname().split(".")[0]) if len(word) > 2} - _COMMON
        self._home = str(Path.home()) if _has_home() else ""

    def __call__(self, text: str, private: Sequence[str] = ()) -> str:
        for word in sorted(private, key=len, reverse=True):
            text = text.replace(word, "(name)") if word else text
        if self._home and self._home != "/":
            text = re.sub(re.escape(self._home) + r"(?=/|\b)", "~", text)
        text = _PATH.sub("(path)", text)
        for word in self._words:
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "(name)", text, flags=re.I)
        return text


def _plain(finding: Finding, hide: Hide) -> dict[str, Any]:
    def inner(value: Any) -> Any:
        if isinstance(value, str):
            return hide(value, finding.private)
        if isinstance(value, dict):
            return {inner(key): inner(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [inner(each) for each in value]
        return float(f"{value:.4g}") if isinstance(value, float) else value

    told: dict[str, Any] = inner({name: getattr(finding, name) for name in ("state", "text", "todo", "figures")})
    return told


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user without an entry
        return ""


def _has_home() -> bool:
    try:
        Path.home()
    except RuntimeError:
        return False
    return True
