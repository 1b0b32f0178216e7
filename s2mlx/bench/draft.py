"""Whether the Fast-AR could be drafted: a copy of it in fewer bits guesses a frame's codes, and one pass of the whole
one over all of them, with the same uniform numbers, keeps those that it would have drawn itself. The codes stay the
same.

That pays only where the copy agrees in about nine codes of ten. Measured here on real weights and real speech; the
engine does not do it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from ..convert.encode import convert, workers
from ..errors import UsageError
from ..layers.scope import Scope
from ..networks.fast_ar import FastAR
from ..networks.load import load_model
from ..options import Options
from ..request.engine import Engine
from ..weights import open_checkpoint
from ..weights.tensor import Tensor

TEXT = (
    "The lamp on the table had burned low, and nobody got up to see to it. Outside, the last of the rain ran down the "
    "gutters, and a cart went by. She turned a page, then another, and read on. "
)


def measure(
    path,
    type: str = "q2_k",
    *,
    frames: int = 64,
    tokenizer=None,
    compat: str | None = None,
    memory_limit: int | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> dict:
    """Speak `frames` frames and let a copy of the Fast-AR in `type` guess each residual code from the right
    ones before.

    -> {name, type, frames, agreement: share of codes guessed right, by_code: the same for each, passes: of the whole
    Fast-AR that a frame would take (all of them without a draft), all_passes, reads: bytes of weights that a frame's
    Fast-AR would read, over those without a draft}. Raises what loading raises, and `UsageError` for a type that no
    matrix fits into."""
    progress("loading")
    model = load_model(Path(path), tokenizer, compat, memory_limit)
    fast = model.dual_ar.fast
    progress(f"making a copy of the Fast-AR in {type}")
    with open_checkpoint(Path(path), memory_limit=memory_limit) as checkpoint:
        copied = _Copied(checkpoint.tensors, GGMLQuantizationType[type.upper()])
        draft, (whole, small) = FastAR(Scope(copied), model.config), copied.sizes()
    progress("speaking")
    rights: list[mx.array] = []
    complete = fast.complete

    def watched(x0, semantic, draw):
        codes, right = complete(x0, semantic, draw), []

        def guess(logits, k):
            right.append(draw(logits, k) == codes[k])
            return codes[k]

        draft.complete(x0, semantic, guess)
        rights.append(mx.stack(right, axis=1))
        return codes

    fast.complete = watched  # type: ignore[method-assign]
    model.dual_ar.host.wanted = False
    for _ in Engine(model).speak(TEXT, [], Options(max_frames=frames, min_frames=frames), 0, lambda: True):
        pass
    found = np.concatenate([np.array(r) for r in rights])
    passes = rounds(found)
    return {
        "name": model.config.name,
        "type": type,
        "frames": len(found),
        "agreement": float(found.mean()),
        "by_code": found.mean(axis=0).tolist(),
        "passes": passes,
        "all_passes": found.shape[1],
        "reads": (passes * whole + found.shape[1] * small) / (found.shape[1] * whole),
    }


def rounds(right: np.ndarray) -> float:
    """Mean number of checking passes of a frame. right: bool [frames, codes], whether each is guessed from the right
    ones before it. A pass keeps the guesses up to the first wrong one, and puts the right code there."""
    frames, codes = right.shape
    return float(np.mean(1 + (~right[:, : codes - 1]).sum(axis=1)))


def text(f: dict) -> str:
    """`measure` in lines for people."""
    codes = ", ".join(f"{share:.2f}" for share in f["by_code"])
    verdict = "would pay" if f["reads"] < 0.9 else "would not pay"
    return (
        f"{f['name']}: a draft of the Fast-AR in {f['type']} agrees in {f['agreement']:.3f} of the residual codes of "
        f"{f['frames']} frames\nby code: {codes}\n"
        f"a frame would take {f['passes']:.1f} passes of the whole Fast-AR instead of {f['all_passes']}, and read "
        f"{f['reads']:.2f} of the bytes: it {verdict}"
    )


class _Copied(dict):
    """Tensors of a checkpoint, the Fast-AR's matrices in another type as they are asked for."""

    def __init__(self, tensors, kind: GGMLQuantizationType):
        super().__init__(tensors)
        self.kind = kind
        if not any(self._fits(tensor) for tensor in tensors.values()):
            raise UsageError(f"no matrix of this Fast-AR fits into {kind.name.lower()}: its rows are no whole blocks")

    def __getitem__(self, name: str) -> Tensor:
        tensor = super().__getitem__(name)
        if not self._fits(tensor):
            return tensor
        rows, step = tensor.rows, max((1 << 20) // tensor.shape[-1], 1)
        with workers() as pool:
            made = list(pool.map(lambda at: self._convert(rows[at : at + step], tensor), range(0, len(rows), step)))
        return dataclasses.replace(tensor, type=self.kind, region=_Made(np.concatenate(made)))

    def sizes(self) -> tuple[int, int]:
        """Bytes in a file of the matrices that a pass reads, as they are and as copied."""
        block, size = GGML_QUANT_SIZES[self.kind]
        read = [tensor for tensor in self.values() if _is_read(tensor)]
        copied = [t.elements // block * size if self._fits(t) else t.nbytes for t in read]
        return sum(tensor.nbytes for tensor in read), sum(copied)

    def _convert(self, rows: np.ndarray, tensor: Tensor) -> np.ndarray:
        return convert(rows, tensor.type, self.kind, tensor.name)

    def _fits(self, tensor: Tensor) -> bool:
        block, _ = GGML_QUANT_SIZES[self.kind]
        return _is_read(tensor) and tensor.shape[-1] % block == 0


def _is_read(tensor: Tensor) -> bool:
    """Whether it is a matrix that each pass of the Fast-AR reads."""
    return tensor.name.startswith("fast_") and len(tensor.shape) == 2 and "embeddings" not in tensor.name


class _Made:
    """Bytes of a tensor that stand in no file."""

    def __init__(self, data: np.ndarray):
        self._rows = data

    @property
    def data(self) -> np.ndarray:
        return self._rows.reshape(-1)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def rows(self, count: int) -> np.ndarray:
        return self._rows.reshape(count, -1)

    def array(self, align: int = 1) -> mx.array:
        return mx.array(self.data)

    def release(self, begin: int = 0, end: int | None = None) -> None:
        pass
