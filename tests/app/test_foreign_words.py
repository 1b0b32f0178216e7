"""Words of files, devices and models on the screen: seen, not obeyed. And who may read what the app keeps."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
from rich.segment import Segment
from s2mlx_app.screens.settings import SettingsScreen
from s2mlx_app.state.history import HistoryEntry
from s2mlx_app.state.session import Session
from s2mlx_app.widgets.visible_lines import VisibleLines
from textual.color import Color

from .conftest import running, until

EVIL = "a\x1b]52;c;aGk=\x07b\x1b]0;owned\x07c\x9b31md\u202egpj"
BLACK = Color(0, 0, 0)


def check(app) -> None:
    """What goes to the terminal, by the line; Textual has no public list of it."""
    shown = "".join(segment.text for strip in app.screen._compositor.render_strips() for segment in strip)
    assert not set("\x1b\x07\x9b\u202e") & set(shown)
    assert "␛]52;c;" in shown


async def test_nothing_foreign_steers_the_terminal(make_app, studio, tmp_path):
    studio.more_devices = [SimpleNamespace(index=3, name=EVIL, inputs=1, outputs=2, default_rate=44100.0)]
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "app.json").write_text(json.dumps({"output": EVIL, "model": EVIL, "cast": [EVIL]}))
    app = make_app(text=None)
    entry = HistoryEntry(text=EVIL, voices=(EVIL,), model_name=EVIL, when="2026-01-02T03:04:05")
    app.history.add(entry, np.zeros(100, np.float32), 44100)
    async with running(app) as pilot:
        app.main.editor.area.load_text(EVIL)
        app.notify(EVIL)
        await pilot.pause(0.1)
        check(app)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.screen.entries)
        check(app)
        await pilot.press("escape", "ctrl+g")
        await until(pilot, lambda: app.is_open(SettingsScreen) and not app.jobs.running)
        await pilot.pause(0.1)
        check(app)


@pytest.mark.parametrize("text", ["\x1b[2J", "ab\x9bcd\u202eef", "\x00" * 5, "漢字\x07漢字"])
def test_a_line_keeps_its_width(text):
    line = [Segment("x"), Segment(text), Segment("yyyy漢yyyyyyyyyy")]
    shown = VisibleLines().apply(line, BLACK)
    assert sum(s.cell_length for s in shown) == sum(s.cell_length for s in line)
    assert not {"\x1b", "\x9b", "\u202e", "\x00", "\x07"} & set("".join(s.text for s in shown))


def test_an_ordinary_line_is_left_as_it_is():
    line = [Segment("Grüße, 你好"), Segment(" שלום")]
    assert VisibleLines().apply(line, BLACK) is line


async def test_what_is_kept_is_for_its_owner_alone(make_app, studio, tmp_path):
    from s2mlx.audio import write_audio

    before = os.umask(0o022)
    try:
        studio.write_audio = write_audio
        app = make_app()
        app.history._write_audio = write_audio
        app.history.add(HistoryEntry(text="Words."), np.zeros(100, np.float32), 44100)
        app.session.keep_take(np.zeros(100, np.float32), 44100, "Words.")
        app.session.keep_text("Words.")
        async with running(app):
            app.change(temperature=0.5)
    finally:
        os.umask(before)
    for folder in ("config", "state"):
        kept = [tmp_path / folder, *(tmp_path / folder).rglob("*")]
        assert len(kept) > 1
        for path in kept:
            assert path.name.endswith(".lock") or not path.stat().st_mode & 0o077, path


def test_a_pipe_among_the_state_files_holds_nothing_up(tmp_path):
    os.mkfifo(tmp_path / "text.json")
    session = Session(tmp_path)
    assert session.text() == "" and "a pipe" in session.complaints[0]
    assert (tmp_path / "text.json.broken").is_fifo()
