"""The first picture comes before what takes long; `python -m tests.app.start_time` measures it."""

import asyncio
import subprocess
import sys

from .conftest import TEXT, until

HEAVY = ("numpy", "mlx", "soundfile", "sounddevice", "soxr", "tokenizers", "regex", "huggingface_hub")
LOOK = """
import asyncio, sys, tempfile
from pathlib import Path
from s2mlx_app.app import S2App
from s2mlx_app.engine.local import LocalStudio

def begin(app):
    print(*(name for name in {heavy} if name in sys.modules))
    app.exit()

async def look():
    folder = Path(tempfile.mkdtemp())
    app = S2App(LocalStudio(), folder, folder)
    async with app.run_test():
        while app.is_running:
            await asyncio.sleep(0.01)

S2App._begin = begin
asyncio.run(look())
"""


def test_nothing_heavy_is_imported_before_the_first_picture():
    done = subprocess.run([sys.executable, "-c", LOOK.format(heavy=HEAVY)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


async def test_the_styles_are_read_once(make_app, monkeypatch):
    """Also where the theme is not Textual's own: what is read before it is known would be read again."""
    again = []
    monkeypatch.setattr("textual.app.App.refresh_css", lambda app, animate=True: again.append(app.theme))
    app = make_app(theme="s2-light")
    async with app.run_test() as pilot:
        await until(pilot, lambda: not app.loader.loading and not app.jobs.running)
        assert app.main.editor.area.styles.background.hex == "#FFFFFF" and again == []
    app.leave()


async def test_garbage_is_looked_for_from_the_first_picture_on(make_app):
    begun = []
    app = make_app(begun=lambda: begun.append(app.main.ready))
    async with app.run_test() as pilot:
        await until(pilot, lambda: begun and not app.loader.loading and not app.jobs.running)
        assert begun == [True]
    app.leave()


async def test_typing_waits_for_no_model(make_app, studio):
    studio.load_gate.close()
    app = make_app(text="")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.ready)
        await pilot.press(*"typed")
        assert app.main.editor.text == "typed" and app.loader.loading
        studio.load_gate.open()
        await until(pilot, lambda: not app.loader.loading and not app.jobs.running)
    app.leave()


async def test_a_text_may_be_spoken_before_the_model_is_asked_for(make_app, studio):
    """Even with the keys of the first moment."""
    app = make_app(text=TEXT)
    async with app.run_test() as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: studio.engine.calls and not app.jobs.running)
        await asyncio.sleep(0)
        assert len(studio.engine.calls) == 1
    app.leave()
