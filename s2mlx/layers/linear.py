"""y = x @ W.T for a weight in any form, and rows of it as embeddings. Knows arrays, not files."""

from __future__ import annotations

import mlx.core as mx


class Linear:
    """W [out, in] of a Tensor."""

    def __init__(self, tensor, bias=None):
        self.weight = mx.contiguous(tensor.dense().T)
        self.bias = None if bias is None else bias.dense()

    @property
    def in_features(self):
        return self.weight.shape[0]

    @property
    def out_features(self):
        return self.weight.shape[1]

    @property
    def nbytes(self):
        return self.weight.nbytes

    @classmethod
    def _of(cls, weight, bias=None):
        self = cls.__new__(cls)
        self.weight, self.bias = weight, bias
        return self

    @classmethod
    def stack(cls, tensors):
        return cls._of(mx.concatenate([mx.contiguous(t.dense().T) for t in tensors], axis=1))

    def __call__(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def rows(self, ids):
        return self.weight.T[ids]

    def select(self, begin, end=None):
        chosen = self.weight[:, begin:end] if end is not None else self.weight[:, begin]
        return Linear._of(mx.contiguous(chosen))
