"""Weight norm folded: magnitude g and direction v, as training keeps them, -> the weight g v / |v| of use.

Two spellings: `X.weight_g`, `X.weight_v`, and `X.parametrizations.weight.original0`, `.original1`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from gguf.constants import GGMLQuantizationType

from ..errors import ModelError
from .mapped import TensorBytes
from .tensor import Tensor

if TYPE_CHECKING:
    import mlx.core as mx

_SPELLINGS = {(".weight_g", ".weight_v"), (".parametrizations.weight.original0", ".parametrizations.weight.original1")}


@dataclass(frozen=True, eq=False)
class Folded:
    """Stands for a region of a file: its bytes are computed when asked for. Norms run over the axes g does not have."""

    magnitude: TensorBytes
    direction: TensorBytes
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return self.direction.nbytes

    @property
    def data(self) -> np.ndarray:
        """uint8 [n]: float32 numbers."""
        v = self.direction.data.view(np.float32).reshape(self.shape)
        norm = np.sqrt(np.sum(np.square(v), axis=self.axes, keepdims=True))
        g = self.magnitude.data.view(np.float32).reshape(norm.shape)
        return (v * (g / norm)).view(np.uint8).reshape(-1)

    def rows(self, count: int) -> np.ndarray:
        """`data` as rows. Norms reach over several, so all are made at once: they are the codec's, in S2 Pro 75 MB at
        most."""
        return self.data.reshape(count, -1)

    def array(self, align: int = 1) -> mx.array:
        import mlx.core as mx

        return mx.array(self.data)

    def release(self, begin: int = 0, end: int | None = None) -> None:
        self.magnitude.release()
        self.direction.release()


def fold(found: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """The same tensors with each pair replaced by the weight it stands for."""
    result = dict(found)
    for g_end, v_end in _SPELLINGS:
        for name in [name for name in result if name.endswith(v_end)]:
            stem = name[: -len(v_end)]
            v, g = result.pop(name), result.pop(stem + g_end, None)
            result[stem + ".weight"] = _pair(g, v, stem, path)
    return result


def _pair(g: Tensor | None, v: Tensor, stem: str, path: Path) -> Tensor:
    one_each = g is not None and len(g.shape) == len(v.shape) and all(a in (1, b) for a, b in zip(g.shape, v.shape))
    if g is None or not one_each or {g.type, v.type} != {GGMLQuantizationType.F32}:
        raise ModelError(
            f"{path}: tensor {stem + '.weight'!r} cannot be made: its weight norm is incomplete or not float32"
        )
    axes = tuple(i for i, n in enumerate(g.shape) if n == 1)
    return Tensor(stem + ".weight", v.shape, v.type, Folded(g.region, v.region, v.shape, axes))
