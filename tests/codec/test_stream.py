"""Decoding in pieces gives the samples of one decode, in constant memory, and streams do not disturb each other."""

import gc

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mlx.codec.codec import CodecStream
from s2mlx.layers import matmul as matmul_module
from s2mlx.layers import rope
from s2mlx.layers.causal_conv import CausalConv, CausalTransposedConv
from s2mlx.layers.transformer import Transformer
from tests import goldens


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(0)
    return rng.integers(0, 64, (10, 60)).astype(np.int32)


@pytest.fixture(scope="module")
def whole(codes):
    return goldens.model("q4_k_m", None).codec.stream().decode(codes)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 24), min_size=1, max_size=12))
def test_pieces_of_any_sizes(codes, whole, sizes):
    stream, at, pieces = goldens.model("q4_k_m", None).codec.stream(), 0, []
    for size in [*sizes, 60]:
        pieces.append(stream.decode(codes[:, at : at + size]))
        at = min(60, at + size)
    assert np.abs(np.concatenate(pieces) - whole).max() < 1e-5


def test_two_streams_side_by_side(codes, whole):
    codec = goldens.model("q4_k_m", None).codec
    a, b, other, got = codec.stream(), codec.stream(), codes[:, ::-1], []
    for i in range(0, 60, 6):
        got.append(a.decode(codes[:, i : i + 6]))
        b.decode(other[:, i : i + 6])
    assert np.abs(np.concatenate(got) - whole).max() < 1e-5


def test_state_stops_growing(codes):
    """Past the attention window (16 frames here) a stream holds the same number of bytes for ever."""
    stream = goldens.model("q4_k_m", None).codec.stream()
    sizes = []
    for _ in range(4):
        stream.decode(codes[:, :20])
        sizes.append(sum(a.nbytes for a in stream._state.arrays))
    assert len(set(sizes)) == 1


def test_encoding_does_not_depend_on_the_piece(monkeypatch):
    codec, wave = goldens.model("q4_k_m", None).codec, goldens.inputs()["wave_2s"]
    whole = codec.encode(wave)
    monkeypatch.setattr("s2mlx.codec.codec._PIECE", 5)
    np.testing.assert_array_equal(codec.encode(wave), whole)


def test_products_by_numpy_and_by_mlx_agree(codes, whole, monkeypatch):
    monkeypatch.setenv("S2MLX_HOST_BLAS", "off")
    assert not matmul_module.host_blas()
    got = goldens.model("q4_k_m", None).codec.decode(codes[:, :20])
    assert np.abs(got - whole[: len(got)]).max() < 1e-5


def test_a_stream_does_the_work_of_one_decode(codes, monkeypatch):
    """Rows that come out of all convolutions and transformer products: no frame is computed twice."""
    codec, rows = goldens.model("q4_k_m", None).codec, []
    for layer in (CausalConv, CausalTransposedConv):
        original = layer.__call__
        monkeypatch.setattr(
            layer, "__call__", lambda self, *a, _f=original, **k: rows.append(len(y := _f(self, *a, **k))) or y
        )
    original = Transformer.__call__
    monkeypatch.setattr(Transformer, "__call__", lambda self, x, *a: rows.append(len(x)) or original(self, x, *a))

    def work(chunk):
        rows.clear()
        codec.decode(codes, chunk=chunk)
        return sum(rows)

    assert work(1) == work(7) == work(60) > 60 * 2048


def test_a_chunk_is_never_more_than_memory_should_hold(codes, whole, monkeypatch):
    taken = []
    decode = CodecStream.decode
    monkeypatch.setattr(CodecStream, "decode", lambda self, part: taken.append(part.shape[1]) or decode(self, part))
    got = goldens.model("q4_k_m", None).codec.decode(codes, chunk=10**6)
    assert taken == [32, 28] and np.abs(got - whole).max() < 1e-5


def test_a_minute_of_streaming_holds_memory_flat(codes, monkeypatch):
    monkeypatch.setattr(rope, "_KEPT", 128)  # as after minutes
    stream, used = goldens.model("q4_k_m", None).codec.stream(), []
    for i in range(66):  # 20 frames each: 61 s of sound
        stream.decode(codes[:, :20])
        if i in (15, 65):
            gc.collect()
            mx.clear_cache()
            used.append(mx.get_active_memory())
    assert abs(used[1] - used[0]) < 4096  # constants of this process come and go; 50 decodes of 20 frames do not show


def test_rotations_beyond_the_table_are_those_of_a_longer_one():
    table = rope.Rope(16, 1e4)
    np.testing.assert_array_equal(np.array(table.at(5000, 3)), np.array(table.upto(6000)[5000:5003]))
