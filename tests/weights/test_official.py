"""The official checkpoint folder: the same model as its GGUF, and no harm from a hostile one."""

import io
import json
import pickle
import struct
import sys
import tracemalloc
import types
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType as T

from s2mlx.config import CODEC_RVQ
from s2mlx.errors import ModelError
from s2mlx.weights import open_checkpoint
from s2mlx.weights.safetensors_file import read_safetensors
from s2mlx.weights.torch_file import MAX_TENSORS, read_torch
from tests import synthetic

from .gguf_maker import gguf_bytes

EPS = float(np.float32(1e-6))  # what the GGUF holds
CONFIG = {
    "model_type": "fish_qwen3_omni",
    "semantic_start_token_id": 1012,
    "semantic_end_token_id": 1267,
    "text_config": {
        "vocab_size": 1280,
        "max_seq_len": 512,
        "dim": 64,
        "intermediate_size": 128,
        "n_layer": 2,
        "n_head": 4,
        "n_local_heads": 2,
        "head_dim": 16,
        "rope_base": 1000000,
        "norm_eps": EPS,
        "attention_qk_norm": True,
        "attention_qkv_bias": False,
        "attention_o_bias": False,
    },
    "audio_decoder_config": {
        "vocab_size": 256,
        "num_codebooks": 10,
        "dim": 64,
        "intermediate_size": 128,
        "n_layer": 2,
        "n_head": 4,
        "n_local_heads": 2,
        "head_dim": 16,
        "rope_base": 1e6,
        "norm_eps": EPS,
        "attention_qk_norm": False,
        "attention_qkv_bias": False,
    },
}


# --- writing such a folder ---------------------------------------------------------------------------------------


def safetensors(tensors, metadata=True):
    """tensors: (name, dtype, array)."""
    header, data = {"__metadata__": {"format": "pt"}} if metadata else {}, b""
    for name, dtype, array in tensors:
        body = array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(body)]}
        data += body
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class _Saver(pickle.Pickler):
    """What torch.save does, without torch: arrays become calls of `torch._utils._rebuild_tensor_v2`."""

    def __init__(self, file):
        super().__init__(file, 2)
        self.storages = []

    def persistent_id(self, value):
        if isinstance(value, tuple) and value and value[0] == "numbers":
            self.storages.append(value[1].tobytes())
            kind = "FloatStorage" if value[1].dtype == np.float32 else "LongStorage"
            return ("storage", getattr(sys.modules["torch"], kind), str(len(self.storages) - 1), "cpu", value[1].size)
        return None

    def reducer_override(self, value):
        if not isinstance(value, np.ndarray):
            return NotImplemented
        stride = tuple(s // value.itemsize for s in value.strides)
        arguments = ("numbers", value), 0, value.shape, stride, False, OrderedDict()
        return sys.modules["torch._utils"]._rebuild_tensor_v2, arguments


def torch_file(state, compress=zipfile.ZIP_STORED):
    names = {
        "torch": {
            "FloatStorage": type("FloatStorage", (), {"__module__": "torch"}),
            "LongStorage": type("LongStorage", (), {"__module__": "torch"}),
        },
        "torch._utils": {},
    }

    def _rebuild_tensor_v2(*_):
        pass

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    names["torch._utils"]["_rebuild_tensor_v2"] = _rebuild_tensor_v2
    saved = {name: sys.modules.get(name) for name in names}
    try:
        for name, content in names.items():
            sys.modules[name] = types.ModuleType(name)
            vars(sys.modules[name]).update(content)
        out = io.BytesIO()
        saver = _Saver(out)
        saver.dump(state)
    finally:
        for name, module in saved.items():
            sys.modules.pop(name) if module is None else sys.modules.update({name: module})
    return zipped(
        {"codec/data.pkl": out.getvalue(), "codec/version": b"3\n"}
        | {f"codec/data/{i}": body for i, body in enumerate(saver.storages)},
        compress,
    )


def zipped(members, compress=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compress) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return out.getvalue()


@pytest.fixture
def model(monkeypatch, tmp_path):
    """(folder, GGUF) of one model, whose codec has heads of 64 as S2 Pro's."""
    monkeypatch.setattr(synthetic, "LATENT", 64)
    monkeypatch.setattr(synthetic, "HEAD", 64)
    monkeypatch.setattr(synthetic, "ENC", 4)
    metadata, tensors = synthetic.model_parts(type="f32")
    tensors = [
        (n, s, T.F32, (np.frombuffer(b, np.float16 if k == T.F16 else np.float32).astype(np.float32)).tobytes())
        for n, s, k, b in tensors
    ]
    arrays = {n: np.frombuffer(b, np.float32).reshape(s) for n, s, _, b in tensors}
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(gguf_bytes(metadata, tensors))
    folder = tmp_path / "s2-pro"
    folder.mkdir()
    write_folder(folder, arrays)
    return folder, gguf


def write_folder(folder, arrays):
    (folder / "config.json").write_text(json.dumps(CONFIG))
    language = [(official_name(n), "F32", a) for n, a in arrays.items() if not n.startswith("c.")]
    files = {"model-00001-of-00002.safetensors": language[::2], "model-00002-of-00002.safetensors": language[1::2]}
    for name, part in files.items():
        (folder / name).write_bytes(safetensors(part))
    index = {"weight_map": {n: file for file, part in files.items() for n, _, _ in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    state = OrderedDict(encoder_mask=np.arange(6))
    for i, (name, a) in enumerate((n.removeprefix("c."), a) for n, a in arrays.items() if n.startswith("c.")):
        if a.ndim == 3 and name.endswith(".weight"):
            g = np.sqrt(np.square(a).sum((1, 2), keepdims=True))
            stem = name.removesuffix("weight")
            spelling = (
                ("weight_g", "weight_v")
                if i % 2
                else ("parametrizations.weight.original0", "parametrizations.weight.original1")
            )
            state[stem + spelling[0]], state[stem + spelling[1]] = g, a * np.float32(3)
        else:
            state[name] = a
    (folder / "codec.pth").write_bytes(torch_file(state))


def official_name(name):
    if name.startswith("codebook_embeddings"):
        return "audio_decoder." + name
    return "audio_decoder." + name[5:] if name.startswith("fast_") else "text_model.model." + name


# --- reading it --------------------------------------------------------------------------------------------------


def test_the_folder_is_the_same_model_as_its_gguf(model):
    folder, gguf = model
    with open_checkpoint(folder) as ours, open_checkpoint(gguf) as theirs:
        a, b = ours.config, theirs.config
        assert (a.slow, a.fast) == (b.slow, b.fast)
        assert a.codec.rvq.window == CODEC_RVQ.window  # in no file of the folder: S2 Pro's
        for key in (
            "vocab_size",
            "context_length",
            "num_codebooks",
            "codebook_size",
            "semantic_begin",
            "semantic_end",
            "scale_codebook_embeddings",
            "norm_fast_input",
            "fast_project_in",
        ):
            assert getattr(a, key) == getattr(b, key)
        for key in (
            "encoder_dim",
            "encoder_rates",
            "encoder_transformer_layers",
            "decoder_dim",
            "decoder_rates",
            "latent_dim",
            "downsample_factor",
            "semantic_codebook_size",
            "residual_codebook_size",
            "residual_codebooks",
            "codebook_dim",
            "frame_samples",
        ):
            assert getattr(a.codec, key) == getattr(b.codec, key)
        assert ours.tensors.keys() == theirs.tensors.keys()
        for name, tensor in ours.tensors.items():
            mine, other = np.array(tensor.dense()), np.array(theirs.tensors[name].dense())
            if name.startswith("c.") and name.endswith("weight") and mine.ndim == 3:
                assert np.allclose(mine, other, rtol=1e-6, atol=1e-7), name
            else:
                assert np.array_equal(mine, other), name


def test_folder_variants(model):
    """One file instead of shards; no codec; the codec's names under `state_dict` and `generator.`"""
    folder, _ = model
    plain = open_checkpoint(folder).tensors
    (folder / "model.safetensors.index.json").unlink()
    shards = [read_safetensors(folder / f"model-0000{i}-of-00002.safetensors") for i in (1, 2)]
    everything = [(n, "F32", f.region.data.view(np.float32).reshape(f.shape)) for s in shards for n, f in s.items()]
    (folder / "model.safetensors").write_bytes(safetensors(everything, metadata=False))
    codec = {n: f.region.data.view(np.float32).reshape(f.shape) for n, f in read_torch(folder / "codec.pth").items()}
    (folder / "codec.pth").write_bytes(torch_file({"state_dict": {"generator." + n: a for n, a in codec.items()}}))
    again = open_checkpoint(folder).tensors
    assert again.keys() == plain.keys()
    (folder / "codec.pth").unlink()
    assert open_checkpoint(folder).config.codec is None


def test_half_precision_checkpoints(tmp_path):
    bf16 = np.array([1.5, -2.0], np.float32).view(np.uint16)[1::2]
    path = tmp_path / "x.safetensors"
    path.write_bytes(
        safetensors([("a", "BF16", bf16), ("b", "F16", np.ones((2, 3), np.float16)), ("c", "I64", np.arange(3))])
    )
    found = read_safetensors(path)
    assert {n: (f.type, f.shape) for n, f in found.items()} == {"a": (T.BF16, (2,)), "b": (T.F16, (2, 3))}


BROKEN = {
    "config.json": ("config.json", None, "config.json: cannot be read"),
    "config.json is a list": ("config.json", b"[]", "not a JSON object"),
    "config.json is too deep": ("config.json", b"[" * 100_000, "not a JSON object"),
    "another model": ("config.json", b'{"model_type": "llama"}', "'llama'"),
    "quantized by mlx": ("config.json", json.dumps(CONFIG | {"quantization": {"bits": 8}}).encode(), "quantized"),
    "sections of numbers": ("config.json", json.dumps(CONFIG | {"text_config": 3}).encode(), "text_config"),
    "sizes as text": ("config.json", json.dumps(CONFIG | {"semantic_end_token_id": "x"}).encode(), "semantic_end_id"),
    "a size without end": (
        "config.json",
        json.dumps(CONFIG | {"text_config": CONFIG["text_config"] | {"rope_base": 10**400}}).encode(),
        "rope.freq_base.*no number that float32 holds",
    ),
    "a size beyond float32": (
        "config.json",
        json.dumps(CONFIG | {"text_config": CONFIG["text_config"] | {"norm_eps": 1e300}}).encode(),
        "epsilon.*no number that float32 holds",
    ),
    "a context beyond u32": (
        "config.json",
        json.dumps(CONFIG | {"text_config": CONFIG["text_config"] | {"max_seq_len": 1 << 32}}).encode(),
        "context_length.*4294967295 is possible",
    ),
    "a name of two lines in the index": (
        "model.safetensors.index.json",
        b'{"weight_map": {"a": "a\\nb"}}',
        "files of this folder",
    ),
    "a tensor's name of two lines": (
        "model-00001-of-00002.safetensors",
        safetensors([("a\nb.scales", "F32", np.ones(3, np.float32))]),
        r"'a\\nb.weight'",
    ),
    "missing shard": ("model-00002-of-00002.safetensors", None, "00002.*cannot be read"),
    "path in the index": ("model.safetensors.index.json", b'{"weight_map": {"a": "../../x"}}', "files of this folder"),
    "empty index": ("model.safetensors.index.json", b"{}", "files of this folder"),
    "a shard that is text": ("model-00001-of-00002.safetensors", b"<!DOCTYPE html>", "not a safetensors file"),
    "a shard without tensors": ("model-00001-of-00002.safetensors", safetensors([]), "missing"),
    "codec is no zip": ("codec.pth", b"PK nothing", "zip"),
    "codec is another zip": ("codec.pth", zipped({"a.txt": b"x"}), "data.pkl"),
    "codec of nothing": ("codec.pth", torch_file({}), "no tensors"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_folders(model, case):
    folder, _ = model
    name, body, reason = BROKEN[case]
    (folder / name).unlink()
    if body is not None:
        (folder / name).write_bytes(body)
    with pytest.raises(ModelError, match=reason) as caught:
        open_checkpoint(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"data_offsets": [0, 999]},
        {"data_offsets": [0, 12]},
        {"data_offsets": [-4, 12]},
        {"data_offsets": "x"},
        {"shape": [2, -2]},
        {"shape": 4},
        {"shape": []},
        {"shape": [2.0, 2]},
        {"shape": None},
        {"data_offsets": [1e9, 1e9 + 16]},
    ],
)
def test_impossible_safetensors_entries(tmp_path, change):
    entry = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]} | change
    text = json.dumps({"a": entry}).encode()
    (tmp_path / "x").write_bytes(struct.pack("<Q", len(text)) + text + bytes(16))
    with pytest.raises(ModelError, match="'a'"):
        read_safetensors(tmp_path / "x")


class _Evil:
    def __reduce__(self):
        return print, ("this was run",)


def evil_pickles():
    rebuilt = b"ctorch._utils\n_rebuild_tensor_v2\n"
    yield pickle.dumps(_Evil(), 2)
    yield pickle.dumps(_Evil(), 4)
    yield b"cos\nsystem\n(S'true'\ntR."
    yield b"ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x01K\x01K\x01tR."  # not what it expects
    yield b"ctorch\nLongStorage\n)R."  # a name, called
    yield b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b"x."  # bytes without end
    yield b"\x80\x02X\xff\xff\xff\x7fx."  # text without end
    yield b"(" * 1000 + b"."
    yield b"\x80\x02}q\x00h\x07."  # a memo that is not there
    yield b"\x80\x02]q\x00h\x00ah\x00s."
    yield b"\x80\x02Nr\xff\xff\xff\x7f."  # a memo of 2^31 places
    yield b"\x80\x02}" + b")" + b"\x85" * 300_000 + b"Ns."  # a key that hashes without end
    yield b"\x80\x02}\x8c\x01a" + rebuilt + b"(]\x8c\x010\x86K\x00))tRs."  # a list for a type
    yield b"\x80\x02}\x8c\x01a" + rebuilt + b"(\x8c\x0cFloatStorageK\x00\x86K\x00))tRs."  # a number for a key
    yield b""


@pytest.mark.parametrize("number", range(len(list(evil_pickles()))))
def test_nothing_in_a_pickle_is_run(tmp_path, capsys, number):
    path = tmp_path / "codec.pth"
    path.write_bytes(zipped({"codec/data.pkl": list(evil_pickles())[number]}))
    with pytest.raises(ModelError, match="nothing of it was run"):
        read_torch(path)
    assert capsys.readouterr().out == ""


def test_a_dictionary_full_of_itself(tmp_path):
    """Four levels of a thousand references to the level below: 10^12 names, if one followed them all."""
    level = {"a": np.ones((2, 2), np.float32)}
    for _ in range(4):
        level = {str(i): level for i in range(1000)}
    path = tmp_path / "codec.pth"
    path.write_bytes(torch_file(level))
    assert len(read_torch(path)) == 1


def test_names_that_grow_from_references(tmp_path):
    """A long name that is written once and meant at every level of nested dictionaries: 63 kB became 2.7 GB."""
    tensor = np.ones((2, 2), np.float32)
    level = {"t": tensor}
    key = "a" * 30_000
    for _ in range(100):
        level = {key: level}
    deep = {"t": tensor}
    for _ in range(17):
        deep = {"a": deep}
    path = tmp_path / "codec.pth"
    many = {f"{i:x}": tensor for i in range(MAX_TENSORS + 1)}
    for state in (level, {key: tensor}, deep, many):
        path.write_bytes(torch_file(state))
        tracemalloc.start()
        with pytest.raises(ModelError, match="no state dictionary that can be read|too many operations"):
            read_torch(path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 300e6
    path.write_bytes(torch_file({"a" * 1000: {"b": {"c" * 20: tensor}}}))
    assert [len(name) for name in read_torch(path)] == [1023]


def test_a_pickle_of_more_operations_than_tensors_take(tmp_path):
    """A byte an operation, and each makes an object."""
    path = tmp_path / "codec.pth"
    path.write_bytes(zipped({"codec/data.pkl": b"\x80\x02" + b"}" * 3_000_000 + b"."}))
    with pytest.raises(ModelError, match="too many operations"):
        read_torch(path)


def test_tensors_that_a_pickle_misplaces(tmp_path):
    path = tmp_path / "codec.pth"
    good = np.ones((4, 6), np.float32)
    path.write_bytes(torch_file({"a": good}))
    assert read_torch(path)["a"].region.data.tobytes() == good.tobytes()
    whole = path.read_bytes()
    path.write_bytes(torch_file({"a": good}, zipfile.ZIP_DEFLATED))
    with pytest.raises(ModelError, match="compressed"):
        read_torch(path)
    for wrong, reason in (
        (torch_file({"a": good.T}), "not in order"),
        (whole.replace(b"codec/data/0", b"codec/data/1"), "missing"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(ModelError, match=f"'a'.*{reason}"):
            read_torch(path)


def test_cut_and_changed_torch_files(tmp_path):
    path, whole = tmp_path / "codec.pth", torch_file({"a": np.ones((4, 6), np.float32)})
    rng = np.random.default_rng(1)
    for i in range(200):
        data = bytearray(whole[: rng.integers(1, len(whole))] if i % 4 == 0 else whole)
        for at in rng.integers(0, len(data), 2):
            data[at] = rng.integers(256)
        path.write_bytes(data)
        try:
            for found in read_torch(path).values():
                assert found.region.data.nbytes <= len(data)
        except ModelError as error:
            assert "\n" not in str(error)
