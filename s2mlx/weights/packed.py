"""MLX's packed checkpoints: a matrix as `X.weight` (integers in uint32 words), `X.scales`, `X.biases` -> one tensor.

weight = scale * q + bias in groups of 32, 64 or 128. In memory such a tensor is given in ggml's blocks, so that all
that comes after knows one kind of model: up to 4 bits as Q4_1, 5 bits as Q5_1, 8 bits whose biases are all -128 scales
as Q8_0, to the bit where the scales are float16. What has no such block (6 bits, 8 bits with biases of their own) is
opened as float16. Knows the layout, not the files it comes from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from ..errors import ModelError
from .mapped import Region
from .tensor import Tensor

_T = GGMLQuantizationType
GROUPS, BITS = (32, 64, 128), (2, 3, 4, 5, 6, 8)
OWN = "s2mlx"  # section of config.json for what only our own folders say
_BLOCK = 32  # weights of the blocks that packed tensors are given in
_PIECE = 1 << 20  # weights opened at a time


@dataclass(frozen=True)
class Packing:
    """How a matrix is packed. symmetric: the writer says that every bias is -2^(bits - 1) scales."""

    group: int
    bits: int
    symmetric: bool = False


@dataclass(frozen=True, eq=False)
class Packed:
    """Stands for a region of a file: its bytes, blocks of `kind`, are made when asked for, all or some rows of them."""

    words: Region
    scales: Tensor
    biases: Tensor
    shape: tuple[int, int]
    kind: GGMLQuantizationType
    packing: Packing

    @property
    def bits(self) -> float:
        """Bits a weight in the file."""
        return 8 * (self.words.nbytes + self.scales.region.nbytes + self.biases.region.nbytes) / math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        block, size = GGML_QUANT_SIZES[self.kind]
        return math.prod(self.shape) // block * size

    @property
    def data(self) -> np.ndarray:
        """uint8 [n]."""
        return self[:].reshape(-1)

    def rows(self, count: int) -> Packed:
        """What gives `count` rows, uint8 [some of them, row_bytes], by slices: these alone are made."""
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: slice) -> np.ndarray:
        rows, columns = self.shape
        words, scales, biases = (r.rows(rows)[part] for r in (self.words, self.scales.region, self.biases.region))
        made, step = np.empty((len(words), self.nbytes // rows), np.uint8), max(_PIECE // columns, 1)
        for at in range(0, len(words), step):
            few = slice(at, at + step)
            made[few] = self._blocks(
                words[few].copy().view(np.uint32),
                _floats(scales[few], self.scales.type),
                _floats(biases[few], self.biases.type),
            )
        return made

    def _blocks(self, words: np.ndarray, scales: np.ndarray, biases: np.ndarray) -> np.ndarray:
        """Rows as bytes: uint8 [rows, row_bytes]. scales, biases: float32 [rows, groups]."""
        group, bits = self.packing.group, self.packing.bits
        opened = lambda s, b: np.array(mx.dequantize(mx.array(words), mx.array(s), mx.array(b), group, bits))
        if self.kind is _T.F16:
            return self._half(opened(scales, biases)).view(np.uint8)
        q = opened(np.ones_like(scales), np.zeros_like(biases)).astype(np.uint8).reshape(len(words), -1, _BLOCK)
        d, m = (np.repeat(self._half(v), group // _BLOCK, axis=1)[..., None].view(np.uint8) for v in (scales, biases))
        if self.kind is _T.Q8_0:
            if not np.array_equal(biases, -128 * scales):
                raise ModelError(f"{self.words.file.path}: biases that are not -128 scales, though config.json says so")
            parts = [d, q ^ 128]
        else:
            low = q & 15
            parts = [d, m, low[..., :16] | low[..., 16:] << 4]
            if self.kind is _T.Q5_1:
                parts.insert(2, np.packbits(q >> 4, axis=-1, bitorder="little"))
        return np.concatenate(parts, axis=-1).reshape(len(words), -1)

    def _half(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            half = values.astype(np.float16)
        if not np.isfinite(half).all():
            raise ModelError(f"{self.words.file.path}: scales or weights that are larger than float16 holds")
        return half

    def array(self, align: int = 1) -> mx.array:
        return mx.array(self.data)

    def release(self, begin: int = 0, end: int | None = None) -> None:
        """See `Region`; of whole rows only."""
        rows = self.shape[0]
        row_bytes = self.nbytes // rows
        first, last = -(-begin // row_bytes), (self.nbytes if end is None else end) // row_bytes
        for region in (self.words, self.scales.region, self.biases.region):
            region.release(region.nbytes // rows * first, region.nbytes // rows * last)


def packing_of(config: dict, path: Path) -> dict[str, Packing]:
    """module name -> its packing, "" for all that are not named; empty for a config.json without quantization. One that
    is not MLX's raises `ModelError`."""
    given = config.get("quantization", config.get("quantization_config"))
    if given is None:
        return {}
    own = config.get(OWN)
    symmetric = isinstance(own, dict) and own.get("symmetric") is True

    def packing(entry):
        group, bits = entry.get("group_size"), entry.get("bits")
        whole = type(group) is type(bits) is int  # 8.0 and True equal whole numbers, and are none to MLX
        if not whole or group not in GROUPS or bits not in BITS or entry.get("mode", "affine") != "affine":
            raise ModelError(
                f"{path}: quantized in a way that is not supported ({str(entry)[:60]}); use one of MLX's "
                "affine kind, the original checkpoint or a GGUF file"
            )
        return Packing(group, bits, symmetric and bits == 8)

    if not isinstance(given, dict):
        raise ModelError(f"{path}: quantized in a way that is not supported")
    return {"": packing(given)} | {name: packing(entry) for name, entry in given.items() if isinstance(entry, dict)}


def unite(found: Mapping[str, Tensor], packings: Mapping[str, Packing], path: Path) -> dict[str, Tensor]:
    """The same tensors, each of those that are packed made one. Names are the file's."""
    result = dict(found)
    for name in [name for name in found if name.endswith(".scales")]:
        stem = name.removesuffix(".scales")
        words, scales, biases = (result.pop(stem + end, None) for end in (".weight", ".scales", ".biases"))
        packing = packings.get(stem, packings.get(""))
        if packing is None or words is None or scales is None or biases is None:
            raise ModelError(
                f"{path}: tensor {stem + '.weight'!r} is packed, but its scales, biases or the "
                "quantization in config.json are missing"
            )
        result[stem + ".weight"] = _united(stem, words, scales, biases, packing, path)
    return result


def _united(stem: str, words: Tensor, scales: Tensor, biases: Tensor, packing: Packing, path: Path) -> Tensor:
    rows, columns = scales.shape[0], scales.shape[-1] * packing.group
    fits = (
        words.type is _T.I32
        and len(scales.shape) == 2
        and scales.shape == biases.shape
        and {scales.type, biases.type} <= {_T.F16, _T.BF16, _T.F32}
        and words.shape == (rows, columns * packing.bits // 32)
    )
    if not fits:
        raise ModelError(
            f"{path}: tensor {stem + '.weight'!r} of shape {list(words.shape)} does not fit its scales "
            f"{list(scales.shape)} with {packing.bits} bits in groups of {packing.group}"
        )
    assert isinstance(words.region, Region)  # integers as the file has them
    kind = _kind(packing, scales.type)
    return Tensor(
        stem + ".weight", (rows, columns), kind, Packed(words.region, scales, biases, (rows, columns), kind, packing)
    )


def _kind(packing: Packing, scales: GGMLQuantizationType) -> GGMLQuantizationType:
    if scales is _T.F32:
        return _T.F16
    if packing.bits <= 5:
        return _T.Q5_1 if packing.bits == 5 else _T.Q4_1
    return _T.Q8_0 if packing.symmetric and scales is _T.F16 else _T.F16


def _floats(data, kind) -> np.ndarray:
    """uint8 [rows, bytes] of F16, BF16 or F32 -> float32."""
    data = data.copy()
    if kind is _T.BF16:
        return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return data.view(np.float16 if kind is _T.F16 else np.float32).astype(np.float32)
