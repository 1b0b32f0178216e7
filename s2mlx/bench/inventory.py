"""What an S2 GGUF file holds: its tensors with plausible sizes of their values, and a tokenizer that belongs to it. A
list; it writes nothing and knows no block format."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..config import CodecConfig, ModelConfig, TransformerConfig


@dataclass(frozen=True)
class RandomTensor:
    """A tensor: its shape as PyTorch has it, deviation and mean of its values. matrix: it may be quantized."""

    name: str
    shape: tuple[int, ...]
    std: float
    mean: float = 0.0
    matrix: bool = False

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def tensors(c: ModelConfig) -> Iterator[RandomTensor]:
    """All tensors in order; gains keep activations of order one through the networks, and logits spread by about 4."""
    yield from networks(c)
    if c.codec:
        yield from codec(c.codec)


def networks(c: ModelConfig) -> Iterator[RandomTensor]:
    """Slow-AR and Fast-AR."""
    slow, fast = c.transformers
    yield _matrix("embeddings.weight", c.vocab_size, slow.dim, 4.0)
    yield _matrix("codebook_embeddings.weight", c.codebook_size * c.num_codebooks, slow.dim, 4.0)
    for i in range(slow.layers):
        yield from _block(f"layers.{i}.", slow)
    yield RandomTensor("norm.weight", (slow.dim,), 0.1, 1.0)
    yield _matrix("fast_embeddings.weight", c.codebook_size, fast.dim, fast.dim**0.5)
    for i in range(fast.layers):
        yield from _block(f"fast_layers.{i}.", fast)
    yield RandomTensor("fast_norm.weight", (fast.dim,), 0.1, 1.0)
    yield _matrix("fast_output.weight", c.codebook_size, fast.dim, 4.0)


def _block(stem: str, c: TransformerConfig) -> Iterator[RandomTensor]:
    width = c.heads * c.head_dim
    yield RandomTensor(stem + "attention_norm.weight", (c.dim,), 0.1, 1.0)
    yield RandomTensor(stem + "ffn_norm.weight", (c.dim,), 0.1, 1.0)
    yield _matrix(stem + "attention.wqkv.weight", (c.heads + 2 * c.kv_heads) * c.head_dim, c.dim, 1.2)
    yield _matrix(stem + "attention.wo.weight", c.dim, width, 0.35)
    yield _matrix(stem + "feed_forward.w1.weight", c.ffn_dim, c.dim)
    yield _matrix(stem + "feed_forward.w3.weight", c.ffn_dim, c.dim)
    yield _matrix(stem + "feed_forward.w2.weight", c.dim, c.ffn_dim, 0.6)
    if c.qk_norm:
        yield RandomTensor(stem + "attention.q_norm.weight", (c.head_dim,), 0.2, 1.3)
        yield RandomTensor(stem + "attention.k_norm.weight", (c.head_dim,), 0.2, 1.3)


def codec(c: CodecConfig) -> Iterator[RandomTensor]:
    stem, width = "c.encoder.block.", c.encoder_dim
    yield from _conv(stem + "0", width, 1, 7, 3.0)
    for i, (rate, layers) in enumerate(zip(c.encoder_rates, c.encoder_transformer_layers)):
        block = f"{stem}{i + 1}.block"
        for j in range(3):
            yield from _residual_unit(f"{block}.{j}", width)
        yield RandomTensor(f"{block}.3.alpha", (1, width, 1), 0.1, 1.0)
        yield from _conv(f"{block}.4", 2 * width, width, 2 * rate, 0.8)
        width *= 2
        if layers:
            yield from _transformer(f"{block}.5", width, 3 * width, layers)
    yield RandomTensor(f"{stem}{len(c.encoder_rates) + 1}.alpha", (1, width, 1), 0.1, 1.0)
    yield from _conv(f"{stem}{len(c.encoder_rates) + 2}", c.latent_dim, width, 3)

    stem = "c.quantizer."
    for i, factor in enumerate(c.downsample_factor):
        yield from _conv(f"{stem}downsample.{i}.0", c.latent_dim, c.latent_dim, factor)
        yield from _convnext(f"{stem}downsample.{i}.1", c.latent_dim)
        yield from _transposed(f"{stem}upsample.{i}.0", c.latent_dim, c.latent_dim, factor, factor)
        yield from _convnext(f"{stem}upsample.{i}.1", c.latent_dim)
    for part in ("pre_module", "post_module"):
        yield from _transformer(stem + part, c.latent_dim, c.rvq.ffn_dim, c.rvq.layers)
    yield from _codebook(stem + "semantic_quantizer.quantizers.0", c, c.semantic_codebook_size)
    for i in range(c.residual_codebooks):
        yield from _codebook(f"{stem}quantizer.quantizers.{i}", c, c.residual_codebook_size)

    stem, width = "c.decoder.model.", c.decoder_dim
    yield from _conv(stem + "0", width, c.latent_dim, 7)
    for i, rate in enumerate(c.decoder_rates):
        block = f"{stem}{i + 1}.block"
        yield RandomTensor(f"{block}.0.alpha", (1, width, 1), 0.1, 1.0)
        yield from _transposed(f"{block}.1", width, width // 2, 2 * rate, rate, 0.6)
        width //= 2
        for j in range(3):
            yield from _residual_unit(f"{block}.{j + 2}", width)
    yield RandomTensor(f"{stem}{len(c.decoder_rates) + 1}.alpha", (1, width, 1), 0.1, 1.0)
    yield from _conv(f"{stem}{len(c.decoder_rates) + 2}", 1, width, 7, 0.35)


def _residual_unit(stem: str, width: int) -> Iterator[RandomTensor]:
    yield RandomTensor(stem + ".block.0.alpha", (1, width, 1), 0.1, 1.0)
    yield from _conv(stem + ".block.1", width, width, 7, 0.8)
    yield RandomTensor(stem + ".block.2.alpha", (1, width, 1), 0.1, 1.0)
    yield from _conv(stem + ".block.3", width, width, 1, 0.4)


def _convnext(stem: str, width: int) -> Iterator[RandomTensor]:
    yield RandomTensor(stem + ".dwconv.conv.weight", (width, 1, 7), 0.4)
    yield RandomTensor(stem + ".dwconv.conv.bias", (width,), 0.05)
    yield RandomTensor(stem + ".norm.weight", (width,), 0.1, 1.0)
    yield RandomTensor(stem + ".norm.bias", (width,), 0.05)
    for name, out, into in ((".pwconv1", 4 * width, width), (".pwconv2", width, 4 * width)):
        yield RandomTensor(stem + name + ".weight", (out, into), into**-0.5)
        yield RandomTensor(stem + name + ".bias", (out,), 0.05)
    yield RandomTensor(stem + ".gamma", (width,), 0.1, 0.4)


def _transformer(stem: str, dim: int, ffn: int, layers: int) -> Iterator[RandomTensor]:
    for i in range(layers):
        s = f"{stem}.layers.{i}."
        for name, out, into in (
            ("attention.wqkv", 3 * dim, dim),
            ("attention.wo", dim, dim),
            ("feed_forward.w1", ffn, dim),
            ("feed_forward.w3", ffn, dim),
            ("feed_forward.w2", dim, ffn),
        ):
            yield RandomTensor(f"{s}{name}.weight", (out, into), into**-0.5)
        yield RandomTensor(s + "ffn_norm.weight", (dim,), 0.1, 1.0)
        yield RandomTensor(s + "attention_norm.weight", (dim,), 0.1, 1.0)
        yield RandomTensor(s + "attention_layer_scale.gamma", (dim,), 0.1, 0.4)
        yield RandomTensor(s + "ffn_layer_scale.gamma", (dim,), 0.1, 0.4)
    yield RandomTensor(stem + ".norm.weight", (dim,), 0.1, 1.0)


def _codebook(stem: str, c: CodecConfig, size: int) -> Iterator[RandomTensor]:
    yield RandomTensor(stem + ".in_proj.weight", (c.codebook_dim, c.latent_dim, 1), c.latent_dim**-0.5)
    yield RandomTensor(stem + ".in_proj.bias", (c.codebook_dim,), 0.05)
    yield RandomTensor(stem + ".out_proj.weight", (c.latent_dim, c.codebook_dim, 1), c.codebook_dim**-0.5)
    yield RandomTensor(stem + ".out_proj.bias", (c.latent_dim,), 0.02)
    yield RandomTensor(stem + ".codebook.weight", (size, c.codebook_dim), 1.0)


def _matrix(name: str, out: int, into: int, gain: float = 1.0) -> RandomTensor:
    return RandomTensor(name, (out, into), gain / into**0.5, matrix=True)


def _conv(stem: str, out: int, into: int, kernel: int, gain: float = 1.0) -> Iterator[RandomTensor]:
    yield RandomTensor(stem + ".conv.weight", (out, into, kernel), gain / (into * kernel) ** 0.5)
    yield RandomTensor(stem + ".conv.bias", (out,), 0.05)


def _transposed(stem: str, into: int, out: int, kernel: int, stride: int, gain: float = 1.0) -> Iterator[RandomTensor]:
    yield RandomTensor(stem + ".conv.weight", (into, out, kernel), gain / (into * kernel / stride) ** 0.5)
    yield RandomTensor(stem + ".conv.bias", (out,), 0.05)


def tokenizer(c: ModelConfig) -> dict:
    """Byte-level BPE without merges: a token per byte, and the control tokens."""
    from tokenizers.pre_tokenizers import ByteLevel

    free = [i for i in range(256, c.vocab_size) if not c.semantic_begin <= i <= c.semantic_end]
    control = dict(zip(("<|im_start|>", "<|im_end|>", "<|voice|>"), free))
    control |= {f"<|semantic:{i}|>": c.semantic_begin + i for i in range(c.semantic_end - c.semantic_begin + 1)}
    flags = dict(single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": name, **flags} for name, i in control.items()],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "vocab": {b: i for i, b in enumerate(sorted(ByteLevel.alphabet()))} | control,
            "merges": [],
        },
    }
