"""One reader for every .npy file: what NumPy writes comes back, and whatever else a file holds is one line."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest

from s2mlx.errors import S2Error
from s2mlx.files.npy import npy_bytes, read_npy


def saved(array, version=None, **options) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), version=version, **options)
    return file.getvalue()


def headed(header: str, data: bytes = b"", version: int = 1) -> bytes:
    text = header.encode("latin-1")
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def plain(descr="'<i4'", order="False", shape="(2,)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


NUMBERS = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("kind", ["i1", "u1", "<i2", ">i4", "<u8", ">f2", "<f4", ">f8"])
@pytest.mark.parametrize(
    "array", [NUMBERS, NUMBERS.T, np.zeros(()), np.zeros(0), np.zeros((10, 0)), np.arange(10)[::2]], ids=str
)
def test_what_numpy_writes_comes_back(tmp_path, kind, array):
    array = array.astype(kind)
    for version in ((1, 0), (2, 0), (3, 0)):
        (tmp_path / "a.npy").write_bytes(saved(array, version))
        found = read_npy(tmp_path / "a.npy")
        assert found.shape == array.shape and found.dtype == array.dtype.newbyteorder("=")
        assert np.array_equal(found, array)


def test_a_file_need_not_look_as_numpy_writes_it():
    data = np.array([3, 4], "<i4").tobytes()
    for header in (
        '{"shape":(2,),"fortran_order":False,"descr":"<i4"}',
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2L,), }",
        "{ 'shape' : ( 2 , ) , 'descr' : '=i4' , 'fortran_order' : True }     \n",
    ):
        assert read_npy(io.BytesIO(headed(header, data))).tolist() == [3, 4]


def test_frames_go_out_and_in():
    frames = np.arange(20).reshape(10, 2)
    assert np.array_equal(read_npy(io.BytesIO(npy_bytes(frames))), frames)


WHOLE = saved(np.zeros((2, 5), np.int32))
BAD = {
    "nothing": (b"", "not a .npy file"),
    "a text": (b"hello, this is text", "not a .npy file"),
    "an archive": (b"PK\3\4" + bytes(60), "ZIP archive"),
    "a torn start": (WHOLE[:7], "not a .npy file"),
    "a torn length": (WHOLE[:9], "cut off"),
    "a torn header": (WHOLE[:40], "cut off"),
    "torn numbers": (WHOLE[:-1], "its int32 [2, 5] take 40 bytes, and 39 are there"),
    "more numbers": (WHOLE + b"x", "goes on behind"),
    "another version": (WHOLE[:6] + b"\x09" + WHOLE[7:], "version 9"),
    "a long header": (headed(plain() + " " * 20_000, bytes(8)), "too long"),
    "an item size of 0": (headed(plain("'0f8'", shape="(-1,)")), "no type and shape"),
    "a type of no size": (headed(plain("'f0'")), "type 'f0'"),
    "a number before the type": (headed(plain("'0f8'"), bytes(16)), "type '0f8'"),
    "many in one": (headed(plain("'3f8'"), bytes(48)), "type '3f8'"),
    "objects": (headed(plain("'|O'"), bytes(16)), "type '|O'"),
    "texts": (headed(plain("'<U4'"), bytes(32)), "type '<U4'"),
    "times": (headed(plain("'<M8'"), bytes(16)), "type '<M8'"),
    "truths": (headed(plain("'|b1'"), bytes(2)), "type '|b1'"),
    "floats beyond this machine": (headed(plain("'<f16'"), bytes(32)), "type '<f16'"),
    "fields": (headed(plain("[('a', '<i4')]"), bytes(8)), "no type and shape"),
    "a shape of truths": (headed(plain(shape="(True, 5)"), bytes(20)), "no type and shape"),
    "a negative shape": (headed(plain(shape="(-1,)"), bytes(8)), "no type and shape"),
    "a shape that is no tuple": (headed(plain(shape="2"), bytes(8)), "no type and shape"),
    "an order that is none": (headed(plain(order="0"), bytes(8)), "no type and shape"),
    "a key too many": (headed(plain()[:-1] + "'x': 1}", bytes(8)), "no type and shape"),
    "a key twice": (headed(plain()[:-1] + "'shape': (2,)}", bytes(8)), "no type and shape"),
    "a key too few": (headed("{'descr': '<i4', 'shape': (2,)}", bytes(8)), "no type and shape"),
    "no dictionary": (headed("2"), "no type and shape"),
    "deep nesting": (headed("(" * 5000), "no type and shape"),
    "a sum": (headed(plain(shape="(1+1,)"), bytes(8)), "no type and shape"),
    "a size beyond all": (headed(plain(shape="(999999999999999999, 999999999999999999)")), "GB"),
    "an empty size beyond all": (headed(plain(shape="(0, 999999999999999999)")), "GB"),
    "many dimensions": (headed(plain(shape="(" + "1," * 64 + ")"), bytes(4)), "64 dimensions"),
}


@pytest.mark.parametrize("data, words", BAD.values(), ids=BAD)
def test_whatever_else_a_file_holds_is_one_line(tmp_path, data, words):
    (tmp_path / "bad.npy").write_bytes(data)
    with pytest.raises(S2Error) as raised:
        read_npy(tmp_path / "bad.npy", "the take")
    assert str(raised.value).startswith("the take ") and words in str(raised.value)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 200
    with pytest.raises(S2Error, match="^stdin "):
        read_npy(io.BytesIO(data), "stdin")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path in (tmp_path, tmp_path / "none.npy", "a\0b"):
        with pytest.raises(S2Error, match="^cannot read "):
            read_npy(path)
