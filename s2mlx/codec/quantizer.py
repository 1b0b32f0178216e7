"""Latents <-> codes: a semantic codebook, then residual ones, each on what the earlier ones left.

Encoding: `Downsampler`, then `Codebooks.encode`. Decoding: `Codebooks.decode`, the sum of the entries, then
`Upsampler`. A vector is matched by cosine against the L2-normalised codebook (in 8 dimensions); what is decoded is the
projection of the entry as it stands. (Descript's factorized VQ, arXiv:2306.06546, with the semantic codebook in front.)
"""

from __future__ import annotations

import mlx.core as mx

from ..config import CodecConfig
from ..layers.causal_conv import CausalConv, CausalTransposedConv, StreamState
from ..layers.matmul import matmul
from ..layers.scope import Scope
from .units import ConvNeXt, WindowTransformer


class VectorQuantizer:
    def __init__(self, scope: Scope):
        self.in_proj = mx.contiguous(scope.array("in_proj.weight")[..., 0].T)  # [latent, 8]
        self.out_proj = mx.contiguous(scope.array("out_proj.weight")[..., 0].T)  # [8, latent]
        self.in_bias, self.out_bias = scope.array("in_proj.bias"), scope.array("out_proj.bias")
        self.codebook = scope.array("codebook.weight")  # [size, 8]
        self.directions = mx.contiguous(_normalise(self.codebook).T)
        mx.eval(self.in_proj, self.out_proj, self.codebook, self.directions)

    def encode(self, z: mx.array) -> tuple[mx.array, mx.array]:
        """z [T, latent] -> codes int32 [T] and what they decode to [T, latent]. A code is -1 where its likeness to some
        entry is no number: the weights, or what led to z, hold such."""
        query = _normalise(matmul(z, self.in_proj) + self.in_bias)
        likeness = matmul(query, self.directions)
        codes = mx.argmax(likeness, axis=-1).astype(mx.int32)
        return mx.where(mx.isfinite(likeness).all(axis=-1), codes, -1), self.decode(codes)

    def decode(self, codes: mx.array) -> mx.array:
        """codes int32 [T], clamped to the codebook -> [T, latent]."""
        entries = self.codebook[mx.clip(codes, 0, self.codebook.shape[0] - 1)]
        return matmul(entries, self.out_proj) + self.out_bias


class Downsampler:
    """Latents -> one vector a frame: strided convolutions with ConvNeXt blocks, then pre_module."""

    def __init__(self, scope: Scope, config: CodecConfig, rope_dtype: mx.Dtype):
        at = lambda i: scope.within(f"downsample.{i}")
        self.stages = [
            (CausalConv(at(i).within("0.conv"), stride=factor), ConvNeXt(at(i).within("1")))
            for i, factor in enumerate(config.downsample_factor)
        ]
        self.pre_module = WindowTransformer(scope.within("pre_module"), config.rvq, rope_dtype)

    def __call__(self, z: mx.array, state: StreamState) -> mx.array:
        """[T, latent] -> [ceil(T / 4), latent]. Only the last piece of a clip may have a T that is no multiple of the
        downsampling: each strided convolution then gets zeros to fill its last window."""
        for conv, convnext in self.stages:
            z = convnext(conv(mx.pad(z, [(0, -z.shape[0] % conv.stride), (0, 0)]), state), state)
        return self.pre_module(z, state)


class Upsampler:
    """One vector a frame -> latents for the decoder: post_module, then transposed convolutions with ConvNeXt blocks."""

    def __init__(self, scope: Scope, config: CodecConfig, rope_dtype: mx.Dtype):
        at = lambda i: scope.within(f"upsample.{i}")
        self.post_module = WindowTransformer(scope.within("post_module"), config.rvq, rope_dtype)
        self.stages = [
            (CausalTransposedConv(at(i).within("0.conv"), factor), ConvNeXt(at(i).within("1")))
            for i, factor in enumerate(reversed(config.downsample_factor))
        ]

    def __call__(self, z: mx.array, state: StreamState) -> mx.array:
        """[F, latent] -> [F * 4, latent]."""
        z = self.post_module(z, state)
        for conv, convnext in self.stages:
            z = convnext(conv(z, state), state)
        return z


class Codebooks:
    """The semantic codebook and the residual ones."""

    def __init__(self, scope: Scope, config: CodecConfig):
        self.books = [VectorQuantizer(scope.within("semantic_quantizer.quantizers.0"))]
        self.books += [
            VectorQuantizer(scope.within(f"quantizer.quantizers.{i}")) for i in range(config.residual_codebooks)
        ]

    def encode(self, z: mx.array) -> mx.array:
        """z [F, latent] -> codes int32 [num_codebooks, F], -1 where there are no numbers to go by."""
        codes = []
        for book in self.books:
            code, entry = book.encode(z)
            codes.append(code)
            z = z - entry
        return mx.stack(codes)

    def decode(self, codes: mx.array) -> mx.array:
        """codes int32 [num_codebooks, F] -> [F, latent]."""
        first, *others = (book.decode(code) for book, code in zip(self.books, codes))
        return sum(others, first)


def _normalise(x: mx.array) -> mx.array:
    """Rows of unit length; a zero row stays zero (PyTorch's F.normalize, eps 1e-12)."""
    return x / mx.maximum(mx.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
