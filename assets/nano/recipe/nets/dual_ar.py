"""The Dual-AR: a Slow transformer over time, a Fast one over the codebooks of a frame."""

import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

from .blocks import Block, RMSNorm, rope_table


@dataclass
class ARSizes:
    vocab: int = 1152
    semantic_begin: int = 128
    codebook_size: int = 1024
    codebooks: int = 5
    dim: int = 192
    ffn: int = 512
    layers: int = 5
    heads: int = 3
    kv_heads: int = 3
    head_dim: int = 64
    fast_dim: int = 128
    fast_ffn: int = 320
    fast_layers: int = 2
    fast_heads: int = 2
    fast_kv_heads: int = 2
    fast_head_dim: int = 64
    fast_project_in: bool = True
    context: int = 2048
    rope_base: float = 1e6
    eps: float = 1e-6

    @property
    def semantic_end(self):
        return self.semantic_begin + self.codebook_size - 1

    def dict(self):
        return asdict(self)


class DualAR(nn.Module):
    def __init__(self, s, rounded=True):
        super().__init__()
        self.sizes = s
        self.embeddings = nn.Embedding(s.vocab, s.dim)
        self.codebook_embeddings = nn.Embedding(s.codebook_size * s.codebooks, s.dim)
        self.layers = nn.ModuleList(
            Block(s.dim, s.ffn, s.heads, s.kv_heads, s.head_dim, True, s.eps) for _ in range(s.layers)
        )
        self.norm = RMSNorm(s.dim, s.eps)
        if s.fast_project_in:
            self.fast_project_in = nn.Linear(s.dim, s.fast_dim, bias=False)
        self.fast_embeddings = nn.Embedding(s.codebook_size, s.fast_dim)
        self.fast_layers = nn.ModuleList(
            Block(s.fast_dim, s.fast_ffn, s.fast_heads, s.fast_kv_heads, s.fast_head_dim, False, s.eps)
            for _ in range(s.fast_layers)
        )
        self.fast_norm = RMSNorm(s.fast_dim, s.eps)
        self.fast_output = nn.Linear(s.fast_dim, s.codebook_size, bias=False)
        self.table = rope_table(s.context, s.head_dim, s.rope_base, rounded)
        self.fast_table = rope_table(s.codebooks + 1, s.fast_head_dim, s.rope_base, rounded)
        self.register_buffer("offsets", torch.arange(s.codebooks) * s.codebook_size, persistent=False)

    def ends(self):
        """Embeddings and outputs."""
        parts = (self.embeddings, self.codebook_embeddings, self.fast_embeddings, self.fast_output)
        return [part.weight for part in parts]

    def embed(self, ids, codes):
        """ids [B, T], codes [B, T, codebooks] -> [B, T, dim]"""
        e = self.embeddings(ids)
        c = self.codebook_embeddings(codes + self.offsets).sum(2)
        semantic = (ids >= self.sizes.semantic_begin) & (ids <= self.sizes.semantic_end)
        return torch.where(semantic[..., None], (e + c) / math.sqrt(self.sizes.codebooks + 1), e)

    def slow(self, x):
        """-> hidden [B, T, dim], after the final norm"""
        for layer in self.layers:
            x = layer(x, self.table[: x.shape[1]])
        return self.norm(x)

    def logits(self, hidden):
        return F.linear(hidden, self.embeddings.weight)

    def fast(self, hidden, codes):
        """hidden [N, dim], codes [N, n] -> logits [N, n, codebook_size] of codebooks 1..n"""
        first = self.fast_project_in(hidden) if self.sizes.fast_project_in else hidden
        x = torch.cat([first[:, None], self.fast_embeddings(codes).to(first.dtype)], 1)
        for layer in self.fast_layers:
            x = layer(x, self.fast_table[: x.shape[1]])
        return self.fast_output(self.fast_norm(x[:, 1:]))
