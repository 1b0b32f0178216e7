"""The README's pictures: `python -m tests.app.screenshots [folder]` writes NAME.svg of each screen, and tour.svg, which
moves: a text is typed and spoken.

The app runs on the fake studio of the tests, so the pictures are the same every time; the engine in them is called a
stand-in, because its figures are.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest import mock

from s2mlx_app.app import S2App

from . import scenes

SIZE = (100, 30)
PICTURES = {
    "main": ("main", "s2-dark", SIZE),
    "wide": ("main", "s2-dark", (180, 44)),
    "record": ("record", "s2-dark", SIZE),
    "history": ("history", "s2-light", SIZE),
    "settings": ("settings", "s2-light", (120, 40)),
}
FRAME = 0.45  # seconds that a picture of the tour stands
TYPED = ("The harbour ", "was quiet ", "before dawn. ", "[whisper] ", "Nobody had heard ", "the boat come in.")


async def running(folder: Path, theme: str, size: tuple[int, int], act: Callable[[Any], Awaitable[None]]) -> S2App:
    """`act(pilot)` in an app on the fake studio."""
    app = scenes.make_app(folder, theme)
    app.studio.engine.name = "stand-in engine"
    async with app.run_test(size=size) as pilot:
        await act(pilot)
    app.leave()
    return app


def drawn(app: S2App) -> str:
    """The screen as SVG, without the web fonts that Textual's export asks for."""
    svg = app.export_screenshot(title="s2mlx tui", simplify=True)
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+-", "t-", svg)
    svg = svg.replace("Fira Code", "Menlo, DejaVu Sans Mono, Consolas")
    return re.sub(r"\n\s+", "\n", svg).strip() + "\n"


def picture(scene: str, theme: str, size: tuple[int, int]) -> str:
    found = []

    async def act(pilot: Any) -> None:
        await scenes.SCENES[scene](pilot)
        found.append(drawn(pilot.app))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(running(Path(folder), theme, size, act))
    return found[0]


async def tour(pilot: Any) -> AsyncIterator[None]:
    """Stops wherever a picture is to be taken."""
    app = pilot.app
    await scenes.settle(pilot)
    app.main.editor.area.load_text("")
    for words in TYPED:
        app.main.editor.area.insert(words)
        app.main.editor.menu.display = False
        await scenes.settle(pilot)
        yield
    await pilot.press("ctrl+s")
    while not (app.main.speech.audio and app.main.speech.audio.stats.frames == 120):
        await asyncio.sleep(0.01)
    app.main.speech.ticking.pause()
    for step in range(10):
        app.studio.players[0].position = 0.05 + 0.55 * step
        app.main.speech.tick()
        await pilot.pause()
        yield
    await pilot.press("escape")
    await scenes.settle(pilot)
    app.main.say("stopped; ^o saves it, ^t has all that was spoken")
    await pilot.pause()
    yield


def moving(frames: list[str]) -> str:
    """Pictures of one size as one that shows them in turn; what they share stands in it once."""
    looks: dict[str, str] = {}  # CSS: the class that stands for it
    bodies = []
    for svg in frames:
        own = dict(re.findall(r"\.t-(r\d+) \{ (.*?) \}", svg))
        names = {name: looks.setdefault(css, f"c{len(looks)}") for name, css in own.items()}
        body = svg[svg.index('<g transform="translate') : svg.rindex("</svg>")]
        body = re.sub(r'class="t-(r\d+)"', lambda found: f'class="{names[found[1]]}"', body)
        bodies.append(re.sub(r"(/>|</text>)(?=<)", r"\1\n", body).splitlines())
    complete = lambda line: line.startswith(("<text", "<rect")) and line.endswith(("</text>", "/>"))
    often = Counter(line for body in bodies for line in set(body) if complete(line))
    shared = {line: f"s{number}" for number, (line, count) in enumerate(often.items()) if count > 1 and len(line) > 60}
    groups = [
        f'<g class="f" style="animation-delay: {number * FRAME:.2f}s">\n'
        + "\n".join(f'<use href="#{shared[line]}"/>' if line in shared else line for line in body)
        + "</g>\n"
        for number, body in enumerate(bodies)
    ]
    definitions = "".join(f'<g id="{name}">{line}</g>\n' for line, name in shared.items())
    style = re.sub(r"\.t-r\d+ \{ .*? \}\n?", "", frames[0][: frames[0].index("</style>")])
    style += "".join(f".{name} {{ {css} }}\n" for css, name in looks.items())
    share, whole = 100 / len(frames), len(frames) * FRAME
    style += f".f {{ visibility: hidden; animation: show {whole:.2f}s steps(1) infinite; }}\n"
    style += f"@keyframes show {{ 0% {{ visibility: visible; }} {share:.3f}% {{ visibility: hidden; }} }}\n"
    head = frames[0][frames[0].index("</style>") : frames[0].index('<g transform="translate')]
    return style + head + f"<defs>\n{definitions}</defs>\n" + "".join(groups) + "</svg>\n"


def touring() -> str:
    frames: list[str] = []

    async def act(pilot: Any) -> None:
        async for _ in tour(pilot):
            frames.append(drawn(pilot.app))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(running(Path(folder), "s2-dark", SIZE, act))
    return moving(frames)


def main(folder: Path) -> None:
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    folder.mkdir(parents=True, exist_ok=True)
    with mock.patch("s2mlx.files.folders.assets_dir", lambda: None):  # the scenes bring their own voices
        for name, wanted in PICTURES.items():
            (folder / f"{name}.svg").write_text(picture(*wanted), encoding="utf-8")
        (folder / "tour.svg").write_text(touring(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "assets" / "screenshots")
