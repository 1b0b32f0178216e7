"""The keys s2mlx.* of the bundled file are those of its recipe, and can be changed without touching its tensors."""

import importlib
import shutil

import pytest

from s2mlx.files.folders import assets_dir

gguf = pytest.importorskip("gguf")


@pytest.fixture(scope="module")
def nano():
    folder = assets_dir()
    if folder is None or not (folder / "nano" / "recipe").is_dir():
        pytest.skip("the recipe is not here")
    return folder / "nano"


@pytest.fixture
def own_keys(nano, monkeypatch):
    monkeypatch.syspath_prepend(str(nano))
    return importlib.import_module("recipe.own_keys")


def keys(reader):
    return {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}


def test_the_shipped_file_has_the_keys_of_the_recipe(nano, own_keys):
    found = keys(gguf.GGUFReader(nano / "s2-nano.gguf"))
    assert {k: v for k, v in found.items() if k.startswith("s2mlx.")} == pytest.approx(own_keys.KEYS)


def test_a_key_changes_alone(nano, own_keys, monkeypatch, tmp_path):
    path = shutil.copy(nano / "s2-nano.gguf", tmp_path)
    before = gguf.GGUFReader(nano / "s2-nano.gguf")
    monkeypatch.setitem(own_keys.KEYS, "s2mlx.speech.reference_seconds", 12.5)
    own_keys.rewrite(path)
    after = gguf.GGUFReader(path)
    assert keys(after) == keys(before) | {"s2mlx.speech.reference_seconds": 12.5}
    assert [t.name for t in after.tensors] == [t.name for t in before.tensors]
    for a, b in zip(before.tensors, after.tensors):
        assert a.tensor_type == b.tensor_type and list(a.shape) == list(b.shape), a.name
        assert a.data.tobytes() == b.data.tobytes(), a.name
    assert [p.name for p in tmp_path.iterdir()] == ["s2-nano.gguf"]
