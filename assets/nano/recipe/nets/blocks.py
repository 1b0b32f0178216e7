"""What the codec and the Dual-AR share: RMSNorm, bf16-rounded interleaved RoPE, attention, the gated block."""

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight.to(x.dtype)


def rope_table(length, head_dim, base, rounded=True):
    """-> complex64 [length, head_dim / 2]; cos and sin rounded to bf16 as the official tables are."""
    angle = torch.outer(torch.arange(length).float(), base ** (-torch.arange(0, head_dim, 2).float() / head_dim))
    cos, sin = angle.cos(), angle.sin()
    if rounded:
        cos, sin = cos.bfloat16().float(), sin.bfloat16().float()
    return torch.complex(cos, sin)


def rotate(x, table):
    """x [..., T, head_dim], pairs are neighbours; table complex [T, head_dim / 2] or broadcastable."""
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * table).flatten(-2).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, dim, heads, kv_heads, head_dim, qk_norm=False, eps=1e-6):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        self.wqkv = nn.Linear(dim, (heads + 2 * kv_heads) * head_dim, bias=False)
        self.wo = nn.Linear(heads * head_dim, dim, bias=False)
        if qk_norm:
            self.q_norm, self.k_norm = RMSNorm(head_dim, eps), RMSNorm(head_dim, eps)
        self.qk_norm = qk_norm

    def project(self, x, table):
        """x [B, T, dim] -> q [B, heads, T, hd], k and v [B, kv_heads, T, hd], rotated."""
        b, t, _ = x.shape
        sizes = [self.heads * self.head_dim] + [self.kv_heads * self.head_dim] * 2
        q, k, v = (y.view(b, t, -1, self.head_dim).transpose(1, 2) for y in self.wqkv(x).split(sizes, -1))
        if self.qk_norm:
            q, k = self.q_norm(q), self.k_norm(k)
        return rotate(q, table), rotate(k, table), v

    def attend(self, q, k, v, mask=None):
        """mask None: causal; else bool [T, S], True where a query may look."""
        if self.kv_heads < self.heads:
            repeat = self.heads // self.kv_heads
            k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        dtype = v.dtype
        with torch.autocast("cpu", enabled=False):
            y = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), attn_mask=mask, is_causal=mask is None)
        b, _, t, _ = q.shape
        return self.wo(y.to(dtype).transpose(1, 2).reshape(b, t, -1))


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class LayerScale(nn.Module):
    def __init__(self, size, start):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((size,), start))

    def forward(self, x):
        return x * self.gamma


class Block(nn.Module):
    """h = x + attention(norm(x)); y = h + feed_forward(norm(h)); both branches scaled per channel in the codec."""

    def __init__(self, dim, hidden, heads, kv_heads, head_dim, qk_norm=False, eps=1e-6, layer_scale=None):
        super().__init__()
        self.attention = Attention(dim, heads, kv_heads, head_dim, qk_norm, eps)
        self.feed_forward = FeedForward(dim, hidden)
        self.attention_norm, self.ffn_norm = RMSNorm(dim, eps), RMSNorm(dim, eps)
        if layer_scale is not None:
            self.attention_layer_scale, self.ffn_layer_scale = (
                LayerScale(dim, layer_scale),
                LayerScale(dim, layer_scale),
            )
        self.scaled = layer_scale is not None

    def add(self, x, attended):
        x = x + (self.attention_layer_scale(attended) if self.scaled else attended)
        y = self.feed_forward(self.ffn_norm(x))
        return x + (self.ffn_layer_scale(y) if self.scaled else y)

    def forward(self, x, table, mask=None):
        return self.add(x, self.attention.attend(*self.attention.project(self.attention_norm(x), table), mask))
