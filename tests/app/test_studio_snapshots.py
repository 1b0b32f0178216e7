"""Pictures of the studio's screens, compared with those accepted. `--snapshot-update` renews them."""

import pytest

from . import scenes, studio_scenes


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("scene", list(studio_scenes.SCENES))
def test_looks_the_same(snap_compare, tmp_path, scene, size):
    app = scenes.make_app(tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=studio_scenes.SCENES[scene])
    app.leave()
