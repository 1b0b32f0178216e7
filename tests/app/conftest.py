"""An app on a fake studio in a folder of its own."""

import asyncio
import shutil
import time
from contextlib import asynccontextmanager

import pytest

textual = pytest.importorskip("textual")

from s2mlx_app.app import S2App  # noqa: E402

from s2mlx.voices import VoiceLibrary  # noqa: E402

from .fakes import FakeStudio, a_voice, hum  # noqa: E402

TEXT = "The harbour was quiet. [whisper] Nobody had heard the boat come in.\nWould you believe it?"


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch):
    """No animations, and no voices but those of the test."""
    monkeypatch.setattr("s2mlx.files.folders.assets_dir", lambda: None)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture(scope="session")
def saved_voices(tmp_path_factory):
    """A voices folder with anna (and her clip) and ben."""
    library = VoiceLibrary(tmp_path_factory.mktemp("voices"))
    library.add("anna", a_voice("anna", 177), clip=(hum(8.2), 44100))
    library.add("ben", a_voice("ben", 240))
    return library.folder


@pytest.fixture
def studio(tmp_path, saved_voices):
    shutil.copytree(saved_voices, tmp_path / "voices")
    return FakeStudio(tmp_path)


@pytest.fixture
def make_app(tmp_path, studio):
    """make_app(**settings of this run) -> S2App on the fake studio."""

    def make(**options):
        options.setdefault("text", TEXT)
        options.setdefault("countdown", 0.0)
        return S2App(studio, tmp_path / "config", tmp_path / "state", **options)

    return make


async def until(pilot, condition, seconds: float = 30.0):
    """Wait for something that jobs bring about."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.005)
        await pilot.pause()
    await pilot.pause()
    await pilot.pause()


def notices(app):
    """What the app has told in notices that still stand. Textual has no public list of them where they aren't shown."""
    return list(app._notifications)


@asynccontextmanager
async def running(app, size=(120, 40), **options):
    """The app, loaded and settled; left properly afterwards."""
    async with app.run_test(size=size, **options) as pilot:
        await until(pilot, lambda: app.is_running and not app.loader.loading and not app.jobs.running)
        yield pilot
    app.leave()
