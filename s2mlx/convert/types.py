"""Which type each tensor of a file gets. Knows names, types and sizes; reads and writes nothing.

As in the published files: matrices and embedding tables of the two transformers take the type asked for (a mix gives
some more bits); their other tensors are float16, or of the type asked for if that is a float type; the codec is always
float16, which s2.cpp's convolutions need. What is quantized already never gets more bits than it has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from ..config import ModelConfig
from ..errors import UsageError
from ..weights.block_formats import FLOATS
from ..weights.checkpoint import Checkpoint
from ..weights.layout import role
from ..weights.mixes import TYPES, type_of
from ..weights.tensor import Tensor

_T = GGMLQuantizationType
# What takes the place of a K-quant whose blocks of 256 do not fit a row: the next type up with blocks of 32.
_NARROW = {_T.Q2_K: _T.Q4_0, _T.Q3_K: _T.Q4_0, _T.Q4_K: _T.Q5_0, _T.Q5_K: _T.Q5_1, _T.Q6_K: _T.Q8_0}
_FINE = 8  # bits a weight of a source that is worth quantizing again


@dataclass(frozen=True)
class TensorPlan:
    """A tensor and the type it is to be written in."""

    tensor: Tensor
    kind: GGMLQuantizationType

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def nbytes(self) -> int:
        """Bytes when written."""
        block, size = GGML_QUANT_SIZES[self.kind]
        return math.prod(self.tensor.shape) // block * size

    @property
    def same(self) -> bool:
        """Whether the bytes are written as they are."""
        return self.kind is self.tensor.type


@dataclass(frozen=True)
class Plan:
    """type: as asked for. tensors: in the order of the file. notes, warnings: what people should know of it."""

    type: str
    tensors: tuple[TensorPlan, ...]
    notes: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = field(default=())

    @property
    def source_bytes(self) -> int:
        return sum(planned.tensor.nbytes for planned in self.tensors)

    def types(self) -> dict[str, dict[str, int]]:
        """{TYPE: {tensors, bytes}} of the result, as `s2mlx info` says it of a file."""
        found: dict[str, dict[str, int]] = {}
        for planned in self.tensors:
            entry = found.setdefault(planned.kind.name, {"tensors": 0, "bytes": 0})
            entry["tensors"] += 1
            entry["bytes"] += planned.nbytes
        return found


def check_type(type: str) -> None:
    if type not in TYPES:
        raise UsageError(f"there is no type {type!r}; known: {', '.join(TYPES)}")


def plan(checkpoint: Checkpoint, type: str, fits: Callable[[GGMLQuantizationType], bool] = lambda kind: True) -> Plan:
    """Types of all tensors for a file of `type` (one of `TYPES`).

    fits: which quantized types the file can hold; what the source has of another becomes the type asked for.
    """
    notes: list[str] = []
    swapped: Counter[tuple[GGMLQuantizationType, GGMLQuantizationType, int]] = Counter()
    kept: Counter[tuple[GGMLQuantizationType, GGMLQuantizationType]] = Counter()
    coarse: Counter[float] = Counter()
    tensors = []
    for name, tensor in checkpoint.tensors.items():
        wanted = _wanted(name, type, checkpoint.config)
        kind = _that_fits(wanted, tensor.shape[-1])
        if kind is not wanted:
            swapped[wanted, kind, tensor.shape[-1]] += 1
        if tensor.type not in FLOATS and bits(kind) >= bits(tensor.type) and fits(tensor.type):
            if kind is not tensor.type:
                kept[tensor.type, kind] += 1
            kind = tensor.type
        elif kind is not tensor.type and source_bits(tensor) < _FINE:
            coarse[source_bits(tensor)] += 1
        tensors.append(TensorPlan(tensor, kind))
    for (wanted, kind, columns), count in swapped.items():
        notes.append(
            f"{_matrices(count)} {columns} weights in a row, no whole number of {wanted.name.lower()} blocks: "
            f"{kind.name.lower()} instead"
        )
    for (has, kind), count in kept.items():
        notes.append(
            f"{_matrices(count)} {has.name.lower()} in the source and stay so: {kind.name.lower()} would only be larger"
        )
    warnings = [
        f"{checkpoint.path} has matrices of {least:.3g} bits a weight, and what they lost stays lost: a file "
        "made from the original checkpoint, f16 or q8_0 is better"
        for least in sorted(coarse)[:1]
    ]
    return Plan(type, tuple(tensors), tuple(notes), tuple(warnings))


def check_worth(source, made: Plan) -> None:
    """`UsageError` if the result would be what the source is."""
    if all(planned.same for planned in made.tensors):
        raise UsageError(
            f"every matrix of {source.path} is {made.type} already, or of fewer bits: take a smaller type, "
            "such as --type q4_k_m, or copy the file"
        )


def bits(kind: GGMLQuantizationType) -> float:
    """Bits a weight."""
    block, size = GGML_QUANT_SIZES[kind]
    return 8 * size / block


def source_bits(tensor: Tensor) -> float:
    """Bits a weight that a tensor has in its file: of a packed one fewer than its type may say."""
    return getattr(tensor.region, "bits", None) or bits(tensor.type)


def _wanted(name: str, type: str, config: ModelConfig) -> GGMLQuantizationType:
    if name.startswith("c."):
        return _T.F16
    if role(name) == "other":
        return GGMLQuantizationType[type.upper()] if type in ("f32", "bf16") else _T.F16
    return type_of(name, type, config)


def _that_fits(kind: GGMLQuantizationType, columns: int) -> GGMLQuantizationType:
    if columns % GGML_QUANT_SIZES[kind][0] and kind in _NARROW:
        kind = _NARROW[kind]
    return kind if columns % GGML_QUANT_SIZES[kind][0] == 0 else _T.F16


def _matrices(count: int) -> str:
    return "1 matrix has" if count == 1 else f"{count} matrices have"
