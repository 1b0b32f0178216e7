"""The models: what is here and what can be fetched, fetching with progress, and taking one."""

from pathlib import Path

import pytest
from s2mlx_app.engine.local import LocalStudio
from s2mlx_app.engine.model_offers import ModelOffer, offers
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.models import ModelsScreen
from textual.widgets import DataTable, ProgressBar

from s2mlx.errors import ModelError

from .conftest import running, until
from .test_recording import label


async def opened(app, pilot):
    await pilot.press("f8")
    await until(pilot, lambda: isinstance(app.screen, ModelsScreen) and app.screen.offers and not app.jobs.running)
    return app.screen


def cells(app, row):
    return [str(cell) for cell in app.screen.query_one(DataTable).get_row_at(row)]


async def test_models_with_what_they_need_here(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await opened(app, pilot)
        assert cells(app, 0)[1:] == ["s2-nano", "here", "48 MB", "48 MB", "fits"]
        assert cells(app, 1)[1:] == ["s2-pro-f16", "to fetch", "9.90 GB", "10 GB", "too large"]
        assert cells(app, 3)[1:] == ["someone/other:model.gguf", "here", "1.00 MB", "", ""]
        assert "17 GB of memory" in label(app, "#models-title")
        await pilot.press("down")
        details = str(app.screen.query_one("#model-details").content)
        assert "Research only." in details and "more than this machine" in details
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)


async def test_a_model_is_fetched_with_progress_and_then_taken(make_app, studio):
    studio.fetch_gate.close()
    app = make_app()
    async with running(app) as pilot:
        screen = await opened(app, pilot)
        studio.fetch_gate.let(4)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "4 B of 10 B" in label(app, "#said"))
        bar = screen.query_one(ProgressBar)
        assert bar.display and bar.percentage == pytest.approx(0.4)
        await pilot.press("up", "enter")  # one at a time
        assert "being fetched" in label(app, "#said")
        studio.fetch_gate.open()
        await until(pilot, lambda: "is here: enter takes it" in label(app, "#said") and not app.jobs.running)
        await pilot.press("down")
        assert cells(app, 2)[2] == "here" and not bar.display
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.loader.loading)
        assert app.settings.model == "s2-pro-q4_k_m"


async def test_a_download_is_stopped_by_escape_and_a_fault_is_told(make_app, studio):
    studio.fetch_gate.close()
    app = make_app()
    async with running(app) as pilot:
        await opened(app, pilot)
        studio.fetch_gate.let(2)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "2 B of" in label(app, "#said"))
        await pilot.press("escape")
        studio.fetch_gate.let(1)
        await until(pilot, lambda: "stopped; enter goes on" in label(app, "#said") and not app.jobs.running)
        assert isinstance(app.screen, ModelsScreen)
        studio.fetch_gate.open()
        studio.fetch_error = ModelError("cannot reach the hub; is the network up?")
        await pilot.press("enter")
        await until(pilot, lambda: "is the network up" in label(app, "#said") and not app.jobs.running)
        assert cells(app, 1)[2] == "to fetch"


def test_the_real_studio_knows_the_published_files_and_looks_into_the_cache(monkeypatch, tmp_path):
    pytest.importorskip("mlx.core")
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    snapshot = tmp_path / "models--someone--other" / "snapshots" / "c0ffee"
    snapshot.mkdir(parents=True)
    (snapshot / "model.gguf").write_bytes(b"GGUF")
    found = {offer.name: offer for offer in offers()}
    known = found["s2-pro-q6_k"]
    assert known.path is None and 4.4e9 < known.fetched < 4.6e9 < known.needed < 5.3e9 and "Fish Audio" in known.licence
    assert found["someone/other:model.gguf"].path.read_bytes() == b"GGUF"
    assert LocalStudio().memory() > 1 << 28


def test_what_fits():
    assert ModelOffer("a", needed=4).fits(8) and ModelOffer("a", needed=4).fits(7) is False
    assert ModelOffer("a", Path("x")).fits(8) is None
