"""A view of a checkpoint's tensors below one dotted prefix: how a network asks for its weights by its own names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import mlx.core as mx
from gguf.constants import GGMLQuantizationType

from ..weights.tensor import Storage, Tensor
from .linear import Linear

_HALF = {GGMLQuantizationType.F16: mx.float16, GGMLQuantizationType.BF16: mx.bfloat16}


class Scope:
    def __init__(self, tensors: Mapping[str, Tensor], prefix: str = "", on_use: Callable[[Tensor], None] | None = None):
        """on_use hears of each tensor as it is taken; it may raise to end the loading."""
        self.tensors, self.prefix, self._on_use = tensors, prefix, on_use

    def within(self, name: str) -> Scope:
        return Scope(self.tensors, self._full(name), self._on_use)

    def has(self, name: str) -> bool:
        return self._full(name) in self.tensors

    def array(self, name: str):
        """A small tensor as float32, in the shape of the file."""
        return self._take(name).dense()

    def tensor(self, name: str) -> Tensor:
        """As the file has it, for who lays it out in a way of its own."""
        return self._take(name)

    def floats(self, name: str):
        """`array` in the file's own float type: half the memory for who can read it."""
        tensor = self._take(name)
        kept = _HALF.get(tensor.type)
        return tensor.dense() if kept is None else tensor.raw().view(kept).reshape(tensor.shape)

    def vector(self, name: str):
        """`array` for names given without their `.weight`."""
        return self.array(f"{name}.weight" if self.has(f"{name}.weight") else name)

    def linear(self, name: str) -> Linear:
        """A matrix [out, in] in whatever form its type and the backend want, with its bias if the file has one."""
        bias = self._take(f"{name}.bias") if self.has(f"{name}.bias") else None
        return Linear(self._take(f"{name}.weight"), bias)

    def matrix(self, name: str) -> Linear:
        """A matrix [out, in] that files keep as floats, in the form that the CPU multiplies fastest."""
        return Linear(replace(self._take(name), storage=Storage.COMPILED))

    def _take(self, name: str) -> Tensor:
        tensor = self.tensors[self._full(name)]
        if self._on_use is not None:
            self._on_use(tensor)
        return tensor

    def _full(self, name: str) -> str:
        return f"{self.prefix}.{name}" if self.prefix else name
