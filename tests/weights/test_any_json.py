"""Any value that JSON has, in any place of a checkpoint folder's files: it opens, or one line says why not."""

import json
import struct

from s2mlx.errors import ModelError
from s2mlx.weights import open_checkpoint
from s2mlx.weights.metadata import read_config
from s2mlx.weights.official import _own_keys, metadata
from s2mlx.weights.packed import packing_of
from s2mlx.weights.safetensors_file import read_safetensors

from .test_official import CONFIG, model  # noqa: F401 - a fixture

JSON_VALUES = [
    None,
    True,
    -1,
    0,
    8.0,
    1e300,
    10**400,
    1 << 64,
    "",
    "\ud800",
    "a\nb",
    [],
    ["F32"],
    [[1]],
    {},
    {"bits": 8},
]


def mutations(value, whole=None):
    """The same object again and again, each of the values in it replaced by each of `JSON_VALUES` in turn."""
    whole = value if whole is None else whole
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        before = value[key]
        for value[key] in JSON_VALUES:
            yield whole
        value[key] = before
        yield from mutations(inner, whole)


def one_line_or_none(open_it):
    try:
        open_it()
    except ModelError as error:
        assert "\n" not in str(error)


def test_any_value_in_a_header_or_an_index(model, tmp_path):
    """A tensor that opens, or one line: whatever JSON may hold in any place."""
    header = {"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "__metadata__": {"format": "pt"}}
    for _ in mutations(header):
        text = json.dumps(header).encode()
        (tmp_path / "x").write_bytes(struct.pack("<Q", len(text)) + text + bytes(16))
        one_line_or_none(lambda: read_safetensors(tmp_path / "x"))
    folder, _ = model
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors"}, "metadata": {"total_size": 3}}
    for _ in mutations(index):
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        one_line_or_none(lambda: open_checkpoint(folder))


def test_any_value_in_a_config(model):
    """Read without the tensors: what they decide comes after."""
    folder, _ = model
    tensors = {name: tensor.shape for name, tensor in open_checkpoint(folder).tensors.items()}
    config = CONFIG | {
        "quantization": {"group_size": 32, "bits": 8, "mode": "affine", "a": {"group_size": 32, "bits": 4}},
        "s2mlx": {"keys": {"fish_speech.codec.encoder_rates": [2, 4, 8, 8]}, "symmetric": True},
    }
    config = json.loads(json.dumps(config))  # a copy: CONFIG's own sections stay as they are

    def read():
        for packing in packing_of(config, folder).values():
            assert type(packing.bits) is type(packing.group) is int
        read_config(metadata(config, folder) | _own_keys(config), tensors, folder)

    for _ in mutations(config):
        one_line_or_none(read)


def test_a_name_is_fit_to_be_shown(model):
    folder, _ = model
    own = {"keys": {"general.name": "\ud800My\x1b[31m\n voice"}}
    (folder / "config.json").write_text(json.dumps(CONFIG | {"s2mlx": own}))
    assert open_checkpoint(folder).config.name == "My[31m voice"
