"""The README's pictures: `python -m tests.app.screenshots [folder]` writes main.svg, record.svg and history.svg.

The app runs on the fake studio of the tests, so the pictures are the same every time; the engine in them is called a
stand-in, because its figures are.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path
from unittest import mock

from . import scenes

SIZE = (100, 30)
PICTURES = {"main": "s2-dark", "record": "s2-dark", "history": "s2-light"}


async def picture(scene: str, theme: str) -> str:
    """The scene as SVG, without the web fonts that Textual's export asks for."""
    with tempfile.TemporaryDirectory() as folder:
        app = scenes.make_app(Path(folder), theme)
        app.studio.engine.name = "stand-in engine"
        async with app.run_test(size=SIZE) as pilot:
            await scenes.SCENES[scene](pilot)
            svg = app.export_screenshot(title="s2mlx tui", simplify=True)
        app.leave()
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+-", "t-", svg)
    svg = svg.replace("Fira Code", "Menlo, DejaVu Sans Mono, Consolas")
    return re.sub(r"\n\s+", "\n", svg).strip() + "\n"


def main(folder: Path) -> None:
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    folder.mkdir(parents=True, exist_ok=True)
    with mock.patch("s2mlx.files.folders.assets_dir", lambda: None):  # the scenes bring their own voices
        for scene, theme in PICTURES.items():
            (folder / f"{scene}.svg").write_text(asyncio.run(picture(scene, theme)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "assets" / "screenshots")
