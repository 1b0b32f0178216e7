"""The command palette: every action by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.screen import Screen

from .screens.form import Field, Form
from .themes import ALL

if TYPE_CHECKING:
    from .app import S2App


def commands(app: S2App, screen: Screen) -> Iterable[SystemCommand]:
    if screen is app._main:
        main = app._main
        yield SystemCommand("Speak", "the text in the chosen voice", main.action_speak)
        yield SystemCommand("Replay", "the last utterance", main.action_replay)
        yield SystemCommand(
            "Save sound", "the last utterance to a file, its frames too if wanted", main.action_save
        )
        yield SystemCommand("Live clone", "record, and hear the text in that voice", main.action_live)
        yield SystemCommand("Record a voice", "from the microphone", main.action_record)
        yield SystemCommand("Add a voice from a clip", "an audio file and its words", main.add_voice)
        yield SystemCommand("Import a voice", "a .s2voice file", main.import_voice)
        yield SystemCommand("Open a text file", "in place of the text here", lambda: _open_text(app))
        yield SystemCommand("Clear the text", "ctrl+z brings it back", main.editor.area.clear)
        yield SystemCommand("History", "everything spoken", app.action_history)
    yield SystemCommand("Settings", "model, sampling, devices, latency, theme", app.action_settings)
    for theme in ALL:
        name = theme.name
        yield SystemCommand(f"Theme {name.removeprefix('s2-')}", "", lambda name=name: app.change(theme=name))
    yield SystemCommand("Help", "keys, and how things are done", app.action_help)
    yield SystemCommand("Quit", "at once; everything is kept", app.action_quit)


def _open_text(app: S2App) -> None:
    def opened(values: dict | None) -> None:
        if values:
            path = Path(values["path"]).expanduser()
            app.jobs.start("open", lambda job: _read_text(path), done=app._main.editor.load)

    check = lambda v: "" if Path(v["path"]).expanduser().is_file() else f"there is no file {v['path']}"
    app.push_screen(Form("Open a text file", [Field("path", "File")], "Open", check), opened)


def _read_text(path: Path) -> str:
    with open(path, "rb") as file:
        data = file.read(1 << 20)
    return data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\0", "")
