"""A GGUF model in several files: read as the whole one is, or the part that is missing is named."""

import os

import gguf
import numpy as np
import pytest

from s2mlx.convert import convert
from s2mlx.errors import ModelError, UsageError
from s2mlx.weights import open_checkpoint, parts_of
from s2mlx.weights.gguf_file import GGUFFile
from s2mlx.weights.split_gguf import read_gguf
from tests.synthetic import model_parts

from .gguf_maker import gguf_bytes

CASES = {2: [0, 20], 3: [0, 1, 50]}  # parts: their first tensors


def names(count):
    return [f"m-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]


def split(folder, metadata, tensors, begins, **keys):
    """Write the parts; the paths."""
    paths = [folder / name for name in names(len(begins))]
    for number, (path, begin, end) in enumerate(zip(paths, begins, [*begins[1:], None])):
        own = {"split.no": number, "split.count": len(begins), "split.tensors.count": len(tensors)} | keys
        path.write_bytes(gguf_bytes((metadata if number == 0 else {}) | own, tensors[begin:end]))
    return paths


@pytest.fixture(scope="module")
def model():
    return model_parts(layers=1, fast_layers=1)


@pytest.mark.parametrize("begins", [*CASES.values(), [0, 0]], ids=["2", "3", "a first part of keys alone"])
def test_the_parts_are_the_whole_model(tmp_path, model, begins):
    whole = tmp_path / "whole.gguf"
    whole.write_bytes(gguf_bytes(*model))
    paths = split(tmp_path, *model, begins)
    with open_checkpoint(whole) as expected:
        for path in paths:  # any of them will do
            with open_checkpoint(path) as found:
                assert found.config == expected.config and list(found.tensors) == list(expected.tensors)
                for name, tensor in found.tensors.items():
                    assert np.array_equal(tensor.data, expected.tensors[name].data), name
    assert read_gguf(paths[0]).raw_keys == GGUFFile(whole).raw_keys


def test_parts_as_the_gguf_package_writes_them(tmp_path, model):
    metadata, tensors = model
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", metadata["general.architecture"], split_max_tensors=50)
    for key, value in metadata.items():
        if key != "general.architecture":
            add = {bool: "bool", int: "int32", float: "float32", str: "string"}.get(type(value), "array")
            getattr(writer, "add_" + add)(key, value)
    for name, shape, kind, data in tensors:
        writer.add_tensor(name, np.frombuffer(data, np.uint8).reshape(*shape[:-1], -1), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    paths = sorted(tmp_path.glob("m-*"))
    assert len(paths) > 2 and paths == parts_of(paths[0])
    with open_checkpoint(paths[0]) as found:
        assert {n: t.data.tobytes() for n, t in found.tensors.items()} == {n: d for n, _, _, d in tensors}


def test_a_part_that_is_missing_is_named(tmp_path, model):
    first, second, third = split(tmp_path, *model, CASES[3])
    second.unlink()
    with pytest.raises(ModelError, match="part m-00002-of-00003.gguf of the model is missing; put it beside"):
        open_checkpoint(first)
    first.unlink()
    with pytest.raises(ModelError, match=r"part m-00001-of-00003.gguf \(and 1 more\) of the model is missing"):
        open_checkpoint(third)


def test_parts_that_are_not_what_they_say(tmp_path, model):
    metadata, tensors = model
    first, second = split(tmp_path, metadata, tensors, CASES[2])
    renamed = tmp_path / "model.gguf"
    renamed.write_bytes(first.read_bytes())
    with pytest.raises(ModelError, match="one of 2 parts of a model, but its name"):
        open_checkpoint(renamed)
    good = second.read_bytes()
    second.write_bytes(first.read_bytes())
    with pytest.raises(ModelError, match="00002-of-00002.gguf: not part 2 of 2"):
        open_checkpoint(first)
    second.write_bytes(good[:100])
    with pytest.raises(ModelError, match="00002-of-00002.gguf: damaged"):
        open_checkpoint(first)
    keys = {"split.no": 1, "split.count": 2}
    second.write_bytes(gguf_bytes(keys, tensors[CASES[2][1] - 1 :]))
    with pytest.raises(ModelError, match="is in another part as well"):
        open_checkpoint(first)
    second.write_bytes(gguf_bytes(keys, tensors[CASES[2][1] + 1 :]))
    with pytest.raises(ModelError, match=f"hold {len(tensors) - 1} tensors, {len(tensors)} are announced"):
        open_checkpoint(first)
    for count in (-1, 5000, "two"):
        first.write_bytes(gguf_bytes(metadata | {"split.count": count}, tensors))
        with pytest.raises(ModelError, match="key 'split.count' is"):
            open_checkpoint(first)


@pytest.mark.parametrize("count", [0, 1])
def test_a_model_that_was_merged_again_is_whole(tmp_path, model, count):
    metadata, tensors = model
    (tmp_path / "m.gguf").write_bytes(gguf_bytes(metadata | {"split.count": count}, tensors))
    assert len(open_checkpoint(tmp_path / "m.gguf").tensors) == len(tensors)


def test_names_of_parts(tmp_path):
    assert [p.name for p in parts_of("x/a-00002-of-00003.gguf")] == [f"a-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    for name in ("a.gguf", "a-00004-of-00003.gguf", "a-00000-of-00003.gguf", "a-00001-of-99999.gguf", "-1-of-2.gguf"):
        assert [str(p) for p in parts_of(name)] == [name]


def test_converting_the_parts_makes_one_file(tmp_path, model):
    whole = tmp_path / "whole.gguf"
    whole.write_bytes(gguf_bytes(*model))
    first, second = split(tmp_path, *model, CASES[2])
    for source, target in ((whole, "a.gguf"), (second, "b.gguf")):
        convert(source, tmp_path / target, "q8_0")
    assert (tmp_path / "a.gguf").read_bytes() == (tmp_path / "b.gguf").read_bytes()
    before = os.stat(second)
    with pytest.raises(UsageError, match="part of the source|is the source"):
        convert(first, second, "q8_0", force=True)
    assert os.stat(second) == before
