"""Pictures of each screen, compared with those accepted. `pytest tests/app/test_snapshots.py
--snapshot-update` renews them."""

import pytest

from . import scenes


@pytest.mark.parametrize("theme", ["s2-dark", "s2-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("scene", list(scenes.SCENES))
def test_looks_the_same(snap_compare, tmp_path, scene, size, theme):
    app = scenes.make_app(tmp_path, theme)
    assert snap_compare(app, terminal_size=size, run_before=scenes.SCENES[scene])
    app.leave()


@pytest.mark.parametrize("size", [(60, 18), (40, 12)], ids=["60x18", "40x12"])
@pytest.mark.parametrize("scene", list(scenes.SCENES))
def test_a_small_terminal_looks_the_same(snap_compare, tmp_path, scene, size):
    app = scenes.make_app(tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=scenes.SCENES[scene])
    app.leave()


def test_high_contrast(snap_compare, tmp_path):
    app = scenes.make_app(tmp_path, "s2-contrast")
    assert snap_compare(app, terminal_size=(80, 24), run_before=scenes.main)
    app.leave()


@pytest.mark.parametrize("scene", ["main", "settings", "history"])
def test_a_wide_terminal_looks_the_same(snap_compare, tmp_path, scene):
    app = scenes.make_app(tmp_path)
    assert snap_compare(app, terminal_size=(200, 60), run_before=scenes.SCENES[scene])
    app.leave()
