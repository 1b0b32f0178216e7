"""The whole path with the real engine on a tiny model: speak, record, clone, speak in it, save, speak again."""

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mlx.core")

from s2mlx_app.app import S2App
from s2mlx_app.engine.local import LocalStudio
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.review import Stage

from s2mlx.audio import read_audio
from s2mlx.voices import VoiceLibrary

from ..synthetic import make_model
from .conftest import running, until
from .fakes import FakePlayer, FakeRecorder
from .scenes import speech

TOKENIZER = Path(__file__).parents[1] / "golden" / "tokenizer.json"


class DeafStudio(LocalStudio):
    """Everything real but the devices."""

    def __init__(self, folder):
        super().__init__(VoiceLibrary(folder / "voices"))
        self.players, self.recorders = [], []

    def devices(self):
        return []

    def open_output(self, rate, device, prebuffer):
        self.players.append(FakePlayer())
        return self.players[-1]

    def open_input(self, rate, device):
        sound = np.concatenate([np.zeros(rate), speech(6.0, 1), np.zeros(rate)]).astype(np.float32)
        self.recorders.append(
            FakeRecorder(sound + np.random.default_rng(0).normal(0, 1e-4, len(sound)).astype(np.float32))
        )
        return self.recorders[-1]


@pytest.fixture
def model(tmp_path):
    shutil.copy(TOKENIZER, tmp_path / "tokenizer.json")
    return make_model(tmp_path / "model.gguf", context=2048)


async def test_the_whole_path(tmp_path, model):
    studio = DeafStudio(tmp_path)
    app = S2App(
        studio,
        tmp_path / "config",
        tmp_path / "state",
        text="Hello there. How are you?",
        countdown=0.0,
        model=str(model),
        seed=5,
        max_frames=12,
        min_frames=12,
    )
    async with running(app) as pilot:
        assert "Tiny synthetic S2" in studio.model_facts(str(model))
        await pilot.press("ctrl+s")
        await until(
            pilot, lambda: app.main.speech.audio and app.main.speech.audio.stats.frames and not app.jobs.running
        )
        first = app.main.speech.audio
        assert first.stats.frames == 12 and first.finish_reason == "length" and len(first.whole()) == 12 * 2048
        assert np.array_equal(np.concatenate(studio.players[0].heard), first.whole())

        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.stage == Stage.RECORDING)
        studio.recorders[0].hear(99)
        await until(pilot, lambda: app.screen.recorder.recording and app.screen.recorder.recording.seconds > 7)
        await pilot.press("space")
        await until(
            pilot,
            lambda: isinstance(app.screen, MainScreen) and app.main.speech.audio is not first and not app.jobs.running,
        )
        voice = studio.library.get("live")
        assert voice.codes.shape[0] == 10 and 5 < voice.seconds < 8 and app.main.speech.audio.script.names == ("live",)
        assert len(studio.library.clip("live")[0]) / 44100 == pytest.approx(voice.seconds, abs=0.1)

        await pilot.press("ctrl+o")
        app.screen.query_one("#field-path").value = str(tmp_path / "out.wav")
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert len(read_audio(tmp_path / "out.wav", 44100)) == 12 * 2048

        await pilot.press("ctrl+t")
        await until(pilot, lambda: len(app.screen.entries) == 2)
        await pilot.press("down", "s")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.jobs.running)
        again = app.main.speech.audio
        assert again is not first and np.array_equal(again.all_codes(), first.all_codes())
