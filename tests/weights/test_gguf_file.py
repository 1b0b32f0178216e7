"""The container reader: good files in full, bad files as one `ModelError` that says which part is wrong."""

import struct

import mlx.core as mx
import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType as T
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from s2mlx.errors import ModelError
from s2mlx.weights.gguf_file import MAX_NAME, GGUFFile
from s2mlx.weights.mapped import Region

from .gguf_maker import gguf_bytes, string, tensor_info, value

DATA = np.arange(64, dtype=np.float32)
GOOD_KEYS = {
    "general.name": "Ünïcode",
    "a.int": 7,
    "a.negative": -3,
    "a.float": 0.5,
    "a.yes": True,
    "a.list": (1, 2, 3),
    "a.words": ("x", "yy"),
}
GOOD_TENSORS = [
    ("first", (2, 32), T.F32, DATA.tobytes()),
    ("second", (1, 3, 5), T.F16, bytes(30)),
    ("third", (1, 256), T.Q4_K, bytes(range(144))),
]


def read(tmp_path, data):
    path = tmp_path / "file.gguf"
    path.write_bytes(data)
    return GGUFFile(path)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("alignment", [32, 8, 4096])
def test_a_good_file(tmp_path, version, alignment):
    file = read(tmp_path, gguf_bytes(GOOD_KEYS, GOOD_TENSORS, version=version, alignment=alignment))
    assert file.version == version
    meta = file.metadata
    assert (meta["general.name"], meta["a.int"], meta["a.negative"]) == ("Ünïcode", 7, -3)
    assert meta["a.float"] == 0.5 and meta["a.yes"] is True and meta["a.list"].tolist() == [1, 2, 3]
    assert "a.words" not in meta  # vocabularies are passed over
    assert list(file.tensors) == ["first", "second", "third"]
    assert file.tensors["second"].shape == (1, 3, 5) and file.tensors["third"].type is T.Q4_K
    for name, _, _, body in GOOD_TENSORS:
        assert file.tensors[name].region.data.tobytes() == body


def test_reading_after_memory_was_let_go(tmp_path):
    big = np.arange(50_000, dtype=np.float32).tobytes()
    file = read(tmp_path, gguf_bytes({}, [("a", (50_000,), T.F32, big)]))
    region = file.tensors["a"].region
    region.release()
    assert region.data.tobytes() == big
    assert np.array(region.array()).tobytes() == big
    odd = Region(region.file, region.begin + 4, region.end)
    assert np.array(odd.array(align=16)).tobytes() == big[4:]  # a copy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mx, "from_dlpack", lambda pages: pytest.fail("lent"))
        odd.array(align=16)


def header(keys=b"", infos=b"", *, n_keys=0, n_tensors=0, magic=b"GGUF", version=3):
    return magic + struct.pack("<IQQ", version, n_tensors, n_keys) + keys + infos


def one_tensor(name="t", shape=(4,), kind=T.F32, offset=0, data=64):
    head = header(infos=tensor_info(name, shape, kind, offset), n_tensors=1)
    return head + bytes(-len(head) % 32) + bytes(data)


def raw_info(dims, kind=0, offset=0, name=b"t"):
    return string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


HUGE = 2**63
BAD = {
    "empty": (b"", "empty"),
    "one byte": (b"G", "not a GGUF"),
    "wrong magic": (header(magic=b"GGML"), "not a GGUF"),
    "a text": (b"<!DOCTYPE html><html>" * 9, "not a GGUF"),
    "version 1": (header(version=1), "version 1"),
    "version 4": (header(version=4), "version 4"),
    "big-endian": (header(version=3 << 24), "big-endian"),
    "huge key count": (header(n_keys=HUGE) + bytes(99), "keys"),
    "huge tensor count": (header(n_tensors=HUGE) + bytes(99), "tensors"),
    "a few keys too many": (header(string("k") + value(1), n_keys=3), "keys"),
    "huge key length": (header(struct.pack("<Q", HUGE) + bytes(99), n_keys=1), "key 0"),
    "empty key": (header(string("") + value(1) + bytes(9), n_keys=1), "0 characters"),
    "long key": (header(string("k" * (MAX_NAME + 1)) + value(1), n_keys=1), "characters"),
    "key not UTF-8": (header(string(b"\xff\xfe") + value(1), n_keys=1), "UTF-8"),
    "text not UTF-8": (header(string("k") + struct.pack("<I", 8) + string(b"\xff"), n_keys=1), "'k'"),
    "huge text": (header(string("k") + struct.pack("<IQ", 8, HUGE), n_keys=1), "'k'"),
    "unknown value type": (header(string("k") + struct.pack("<IQ", 99, 0), n_keys=1), "'k'.*99"),
    "twice the same key": (header((string("k") + value(1)) * 2, n_keys=2), "'k' appears twice"),
    "array of arrays": (header(string("k") + struct.pack("<IIQ", 9, 9, 1) + bytes(20), n_keys=1), "'k'"),
    "huge array": (header(string("k") + struct.pack("<IIQ", 9, 4, HUGE) + bytes(20), n_keys=1), "'k'"),
    "huge array of texts": (header(string("k") + struct.pack("<IIQ", 9, 8, HUGE) + bytes(20), n_keys=1), "'k'"),
    "array of nothing known": (header(string("k") + struct.pack("<IIQ", 9, 77, 1) + bytes(20), n_keys=1), "'k'"),
    "alignment 0": (header(string("general.alignment") + value(0), n_keys=1), "alignment"),
    "alignment 48": (header(string("general.alignment") + value(48), n_keys=1), "alignment"),
    "alignment of text": (header(string("general.alignment") + value("8"), n_keys=1), "alignment"),
    "twice the same tensor": (header(infos=raw_info([4]) * 2, n_tensors=2) + bytes(256), "'t' appears twice"),
    "tensor without dimensions": (header(infos=raw_info([]) + bytes(9), n_tensors=1) + bytes(99), "'t' has 0"),
    "tensor of 5 dimensions": (header(infos=raw_info([1] * 5), n_tensors=1) + bytes(99), "'t' has 5"),
    "tensor of 2^32 - 1 dimensions": (header(infos=string("t") + b"\xff" * 40, n_tensors=1), "'t' has 4294967295"),
    "dimension 0": (one_tensor(shape=(4, 0)), "'t'.* 0"),
    "dimensions that overflow": (header(infos=raw_info([2**32, 2**32, 2**32]), n_tensors=1) + bytes(99), "'t'"),
    "unknown tensor type": (one_tensor(kind=200), "'t' has the unknown type 200"),
    "half a block": (one_tensor(shape=(2, 128), kind=T.Q4_K, data=999), "'t'.*Q4_K"),
    "offset not aligned": (one_tensor(offset=8, data=999), "'t'.*multiple"),
    "offset outside": (one_tensor(offset=HUGE), "'t' needs"),
    "data outside": (one_tensor(shape=(999,)), "'t' needs"),
    "overlap": (
        header(infos=raw_info([16], name=b"a") + raw_info([16], offset=32, name=b"b"), n_tensors=2) + bytes(256),
        "'b' overlaps tensor 'a'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path, case):
    data, reason = BAD[case]
    with pytest.raises(ModelError, match=reason) as caught:
        read(tmp_path, data)
    message = str(caught.value)
    assert "file.gguf" in message and "\n" not in message


def test_files_that_are_none(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere.gguf"):
        with pytest.raises(ModelError, match="cannot be read"):
            GGUFFile(path)


def test_cut_anywhere(tmp_path):
    """Shorter versions of a good file are refused, whichever field the cut goes through."""
    data = gguf_bytes(GOOD_KEYS, GOOD_TENSORS)
    needed = data.index(bytes(range(144))) + 144  # padding after the last tensor may be missing
    for length in [*range(0, needed - 200, 3), *range(needed - 10, needed)]:
        with pytest.raises(ModelError):
            read(tmp_path, data[:length])
    read(tmp_path, data[:needed])


def test_a_header_without_end_is_refused_before_it_is_read(tmp_path, monkeypatch):
    from s2mlx.weights import gguf_file

    monkeypatch.setattr(gguf_file, "MAX_HEADER", 4096)
    keys = string("k") + struct.pack("<IIQ", 9, 8, 5000) + string("") * 5000
    with pytest.raises(ModelError, match="header is larger"):
        read(tmp_path, header(keys, n_keys=1))


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_changes_never_escape(tmp_path_factory, draw):
    """A good file with a few fields overwritten: it opens, or one `ModelError` comes; nothing else, and quickly."""
    data = bytearray(gguf_bytes(GOOD_KEYS, GOOD_TENSORS))
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(data) - 8))
        patch = draw.draw(
            st.one_of(
                st.binary(min_size=1, max_size=8),
                st.sampled_from([struct.pack("<Q", n) for n in (0, 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)]),
            )
        )
        data[at : at + len(patch)] = patch
    data = data[: draw.draw(st.integers(len(data) - 200, len(data)))]
    path = tmp_path_factory.getbasetemp() / "fuzzed.gguf"
    path.write_bytes(data)
    try:
        file = GGUFFile(path)
        for tensor in file.tensors.values():
            assert tensor.region.data.nbytes <= len(data)
    except ModelError as error:
        assert "\n" not in str(error)
