"""The causal DAC-style codec with residual vector quantization, exactly in the S2 structure.

Shapes: audio [B, 1, N]; latents [B, latent, T] at 4 steps (after the encoder) or 1 step (in the quantizer) per frame;
codes int64 [B, codebooks, frames].
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

from .blocks import Block, RMSNorm, rope_table


@dataclass
class CodecSizes:
    sample_rate: int = 22050
    encoder_dim: int = 8
    decoder_dim: int = 256
    latent: int = 192
    encoder_rates: tuple = (8, 4, 4, 2)
    decoder_rates: tuple = (2, 4, 4, 8)
    encoder_layers: tuple = (0, 0, 0, 0)
    encoder_window: int = 512
    head_dim: int = 64
    layers: int = 2
    ffn: int = 512
    window: int = 8
    semantic: int = 1024
    residual: int = 256
    books: int = 4  # residual codebooks
    code_dim: int = 16
    downsample: tuple = (2, 2)

    @property
    def hop(self):
        n = 1
        for r in self.encoder_rates:
            n *= r
        return n

    @property
    def frame(self):
        n = self.hop
        for r in self.downsample:
            n *= r
        return n

    def dict(self):
        return asdict(self)


class Snaked(torch.autograd.Function):
    """x + sin(a x)^2 / a. Its slope is 1 + sin(2 a x): with that kept, the gradient needs no sine."""

    @staticmethod
    def forward(ctx, x, a):
        sine, bend = torch.sin(2 * a * x), torch.sin(a * x).square() / a
        ctx.save_for_backward(x, sine, bend, a)
        return x + bend

    @staticmethod
    def backward(ctx, grad):
        x, sine, bend, a = ctx.saved_tensors
        return grad * (1 + sine), (grad * (x * sine - bend)).sum((0, 2), keepdim=True) / a


class Snake(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(1, channels, 1))

    def forward(self, x):
        return Snaked.apply(x, self.alpha + 1e-9)


class DilatedConv(nn.Conv1d):
    """The same as its parent. With the time in rows of `dilation` samples it is a plain convolution down the rows, and
    its gradient takes a fraction of the time."""

    def forward(self, x):
        dilation = self.dilation[0]
        length = x.shape[-1] - (self.kernel_size[0] - 1) * dilation
        rows = F.pad(x, (0, -x.shape[-1] % dilation)).unflatten(-1, (-1, dilation))
        return F.conv2d(rows, self.weight[..., None], self.bias).flatten(2)[..., :length]


class CausalConv(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride=1, dilation=1, groups=1):
        super().__init__()
        if dilation > 1:
            self.conv = DilatedConv(inputs, outputs, kernel, dilation=dilation)
        else:
            self.conv = nn.Conv1d(inputs, outputs, kernel, stride=stride, groups=groups)
        self.left = (kernel - 1) * dilation + 1 - stride
        self.stride = stride

    def forward(self, x):
        return self.conv(F.pad(x, (self.left, -x.shape[-1] % self.stride)))


class CausalTransposedConv(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        self.conv = nn.ConvTranspose1d(inputs, outputs, kernel, stride=stride)
        self.cut = kernel - stride

    def forward(self, x):
        y = self.conv(x)
        return y[..., : y.shape[-1] - self.cut]


class ResidualUnit(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.block = nn.Sequential(
            Snake(channels),
            CausalConv(channels, channels, 7, dilation=dilation),
            Snake(channels),
            CausalConv(channels, channels, 1),
        )

    def forward(self, x):
        return x + self.block(x)


class ConvNeXt(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.dwconv = CausalConv(channels, channels, 7, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.pwconv1 = nn.Linear(channels, 4 * channels)
        self.pwconv2 = nn.Linear(4 * channels, channels)
        self.gamma = nn.Parameter(torch.full((channels,), 0.3))

    def forward(self, x):
        y = self.norm(self.dwconv(x).transpose(1, 2))
        y = self.gamma * self.pwconv2(F.gelu(self.pwconv1(y)))
        return x + y.transpose(1, 2)


class CodecTransformer(nn.Module):
    """Window-limited causal transformer over [B, C, T]."""

    def __init__(self, dim, ffn, layers, head_dim, window):
        super().__init__()
        heads = dim // head_dim
        self.layers = nn.ModuleList(
            Block(dim, ffn, heads, heads, head_dim, eps=1e-5, layer_scale=0.3) for _ in range(layers)
        )
        self.norm = RMSNorm(dim, 1e-5)
        self.window, self.head_dim = window, head_dim

    def forward(self, x):
        x = x.transpose(1, 2)
        n = x.shape[1]
        back = torch.arange(n)[:, None] - torch.arange(n)[None]
        table = rope_table(n, self.head_dim, 1e4, getattr(self, "rounded", True))
        for layer in self.layers:
            x = layer(x, table, (back >= 0) & (back < self.window))
        return self.norm(x).transpose(1, 2)


class Encoder(nn.Module):
    def __init__(self, s):
        super().__init__()
        c = s.encoder_dim
        parts = [CausalConv(1, c, 7)]
        for rate, layers in zip(s.encoder_rates, s.encoder_layers):
            inner = [ResidualUnit(c, d) for d in (1, 3, 9)] + [Snake(c), CausalConv(c, 2 * c, 2 * rate, stride=rate)]
            c *= 2
            if layers:
                inner.append(CodecTransformer(c, 3 * c, layers, s.head_dim, s.encoder_window))
            holder = nn.Module()
            holder.block = nn.Sequential(*inner)
            parts.append(holder)
        self.block = nn.ModuleList(parts + [Snake(c), CausalConv(c, s.latent, 3)])

    def forward(self, x):
        for part in self.block:
            x = part.block(x) if hasattr(part, "block") else part(x)
        return x


class Decoder(nn.Module):
    def __init__(self, s):
        super().__init__()
        c = s.decoder_dim
        parts = [CausalConv(s.latent, c, 7)]
        for rate in s.decoder_rates:
            holder = nn.Module()
            holder.block = nn.Sequential(
                Snake(c), CausalTransposedConv(c, c // 2, 2 * rate, rate), *(ResidualUnit(c // 2, d) for d in (1, 3, 9))
            )
            c //= 2
            parts.append(holder)
        self.model = nn.ModuleList(parts + [Snake(c), CausalConv(c, 1, 7)])

    def forward(self, x):
        for part in self.model:
            x = part.block(x) if hasattr(part, "block") else part(x)
        return torch.tanh(x)


class VectorQuantizer(nn.Module):
    def __init__(self, latent, size, dim):
        super().__init__()
        self.in_proj = nn.Conv1d(latent, dim, 1)
        self.out_proj = nn.Conv1d(dim, latent, 1)
        self.codebook = nn.Embedding(size, dim)

    def cosines(self, z):
        """z [B, latent, T] -> [B, T, size]"""
        e = F.normalize(self.in_proj(z).transpose(1, 2), dim=-1)
        return e @ F.normalize(self.codebook.weight, dim=-1).T

    def entry(self, codes):
        """codes [B, T] -> [B, latent, T]"""
        return self.out_proj(self.codebook(codes).transpose(1, 2))


class Books(nn.Module):
    def __init__(self, count, latent, size, dim):
        super().__init__()
        self.quantizers = nn.ModuleList(VectorQuantizer(latent, size, dim) for _ in range(count))


class Quantizer(nn.Module):
    def __init__(self, s):
        super().__init__()
        n = s.latent
        self.downsample = nn.ModuleList(nn.Sequential(CausalConv(n, n, r, stride=r), ConvNeXt(n)) for r in s.downsample)
        self.upsample = nn.ModuleList(
            nn.Sequential(CausalTransposedConv(n, n, r, r), ConvNeXt(n)) for r in reversed(s.downsample)
        )
        self.pre_module = CodecTransformer(n, s.ffn, s.layers, s.head_dim, s.window)
        self.post_module = CodecTransformer(n, s.ffn, s.layers, s.head_dim, s.window)
        self.semantic_quantizer = Books(1, n, s.semantic, s.code_dim)
        self.quantizer = Books(s.books, n, s.residual, s.code_dim)

    def books(self):
        return [*self.semantic_quantizer.quantizers, *self.quantizer.quantizers]

    def before(self, z):
        for step in self.downsample:
            z = step(z)
        return self.pre_module(z)

    def after(self, z):
        z = self.post_module(z)
        for step in self.upsample:
            z = step(z)
        return z

    def sum(self, codes):
        return sum(
            book.entry(codes[:, i].clamp(0, book.codebook.num_embeddings - 1)) for i, book in enumerate(self.books())
        )

    def encode(self, z):
        codes = []
        for book in self.books():
            codes.append(book.cosines(z).argmax(-1))
            z = z - book.entry(codes[-1])
        return torch.stack(codes, 1)


class Codec(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.encoder, self.quantizer, self.decoder = Encoder(sizes), Quantizer(sizes), Decoder(sizes)

    def latents(self, audio):
        audio = F.pad(audio, (0, -audio.shape[-1] % self.sizes.frame))
        return self.quantizer.before(self.encoder(audio))

    def encode(self, audio):
        return self.quantizer.encode(self.latents(audio))

    def decode(self, codes):
        return self.decoder(self.quantizer.after(self.quantizer.sum(codes)))
