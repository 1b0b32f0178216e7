"""Nothing from outside steers the terminal, and nothing that does comes into the texts."""

import json
import os
import subprocess
import sys
import termios
from pathlib import Path

from textual import events

from .conftest import running, until
from .test_signals import drawn

ROOT = Path(__file__).parents[2]
EVIL = "\x1b[2Jowned \x1b]0;owned\x07 \x1b]52;c;b3duZWQ=\x07 \x9b2Jowned \u202eowned"
SIGNS = "␛[2Jowned"


def test_the_real_app_lets_nothing_through(tmp_path):
    """In a terminal: the text, the settings, the history, the voices, a model and its error, all with hostile words."""
    folders = {kind: tmp_path / kind / "s2mlx" for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    files = {
        folders["CONFIG"] / "app.json": {"output": EVIL, "input": EVIL, "cast": [EVIL], "languages": {EVIL: EVIL}},
        folders["STATE"] / "takes" / "0" / "text.json": {"text": f"left before {EVIL}"},
        folders["STATE"] / "history" / "0123456789ab.json": {"text": EVIL, "voices": [EVIL], "model_name": EVIL},
    }
    for path, value in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    (folders["DATA"] / "voices" / "evil\x1b[2Jowned").mkdir(parents=True)
    (folders["DATA"] / "voices" / "evil\x1b[2Jowned" / "voice.s2voice").write_bytes(b"x")
    terminal, inside = os.openpty()
    termios.tcsetwinsize(terminal, (40, 120))
    app = subprocess.Popen(
        [sys.executable, "-m", "s2mlx", "tui", "-m", f"none{EVIL}.gguf", f"given {EVIL}"],
        env=os.environ
        | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        | {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in folders},
        stdin=inside,
        stdout=inside,
        stderr=inside,
        cwd=tmp_path,
        start_new_session=True,
    )
    os.close(inside)
    try:
        shown = drawn(terminal, until=b"no model")  # the model that is not there
        for key, until_word in (
            (b"\x1a", "left before"),
            (b"\x14", "␛[2Jowned"),
            (b"\x1b", "Voices"),
            (b"\x07", "Model"),
        ):
            os.write(terminal, key)
            shown += drawn(terminal, until=until_word.encode())
        os.write(terminal, b"\x11")
        shown += drawn(terminal)
        assert app.wait(60) == 0
    finally:
        app.kill()
        app.wait()
        os.close(terminal)
    # Textual's own sequences are not among these
    for steers in (b"\x1b[2Jowned", b"\x1b]0;", b"\x1b]52;", "\x9b".encode(), "\u202e".encode(), b"\x07owned"):
        assert steers not in shown, steers
    assert SIGNS.encode() in shown


async def test_what_comes_in_has_no_control_sequences(make_app, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("\x1b[31merror\x1b[0m one\n\x1b]8;;http://x\x07a link\x1b]8;;\x07\n")
    app = make_app(text="")
    async with running(app) as pilot:
        app.post_message(events.Paste("p\x1b[1masted\x1b[0m "))
        await until(pilot, lambda: app.main.editor.text == "pasted ")
        await pilot.press("ctrl+p", *"open a text", "enter")
        await until(pilot, lambda: bool(app.screen.query("#field-path")))
        app.post_message(events.Paste(f"\x1b[0m{path}"))
        await until(pilot, lambda: app.screen.query_one("#field-path").value == str(path))
        await pilot.press("enter")
        await until(pilot, lambda: "error" in app.main.editor.text)
        assert app.main.editor.text == "error one\na link\n"
        await pilot.press("ctrl+z")
        assert app.main.editor.text == "pasted "
