"""Which tensors a model of given sizes must have, and their shapes: s2.cpp's names, PyTorch's order of dimensions."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..config import CodecConfig, ModelConfig, TransformerConfig
from ..errors import ModelError

Named = Iterator[tuple[str, tuple[int, ...]]]


def check_tensors(
    config: ModelConfig, tensors: Mapping[str, Any], supported: Container[Any], path: Path
) -> dict[str, tuple[int, ...]]:
    """Name -> shape of every tensor the networks read, all of them present and decodable.

    tensors: name -> anything with `.shape` and `.type`; tensors nobody asks for are left out. ggml's tools drop leading
    dimensions of 1, so those are no difference. Raises `ModelError` on the first tensor that is missing, has another
    shape, or a type that nobody here can decode.
    """
    total = sum(c.layers for c in (config.slow, config.fast) if c)
    if total > len(tensors):
        raise ModelError(f"{path}: its metadata announces {total} layers but it holds only {len(tensors)} tensors")
    shapes = {}
    for name, shape in expected_tensors(config, tensors):
        tensor = tensors.get(name)
        if tensor is None:
            raise ModelError(f"{path}: tensor {name!r} is missing; the file is incomplete or of another kind")
        if _trimmed(tensor.shape) != _trimmed(shape):
            raise ModelError(
                f"{path}: tensor {name!r} has shape {list(tensor.shape)}; its metadata ask for {list(shape)}"
            )
        if tensor.type not in supported:
            raise ModelError(
                f"{path}: tensor {name!r} has the type {tensor.type.name}, which is not supported; "
                "use a file with F16, Q8_0 or K-quant (Q2_K to Q6_K) weights"
            )
        shapes[name] = shape
    if config.slow and config.fast and not config.fast_project_in and config.slow.dim != config.fast.dim:
        raise ModelError(
            f"{path}: tensor 'fast_project_in.weight' is missing: the Slow-AR is {config.slow.dim} wide, "
            f"the Fast-AR {config.fast.dim}"
        )
    return shapes


def _trimmed(shape: tuple[int, ...]) -> tuple[int, ...]:
    first = next((i for i, n in enumerate(shape[:-1]) if n != 1), len(shape) - 1)
    return shape[first:]


def role(name: str) -> str:
    """How the networks use a tensor: "matrix" (multiplied), "table" (rows looked up) or "other" (as floats)."""
    if name.endswith(
        (
            "attention.wqkv.weight",
            "attention.wo.weight",
            "feed_forward.w1.weight",
            "feed_forward.w2.weight",
            "feed_forward.w3.weight",
            "fast_output.weight",
            "fast_project_in.weight",
        )
    ):
        return "matrix"
    return "table" if name.endswith("embeddings.weight") else "other"


def expected_tensors(config: ModelConfig, present: Container[str] = ()) -> Named:
    """(name, shape) of every tensor the networks read; what is optional, only if it is among `present`."""
    if config.slow and config.fast:
        yield from _slow(config, config.slow)
        yield from _fast(config, config.slow, config.fast)
        if config.fast_project_in and "fast_project_in.bias" in present:
            yield "fast_project_in.bias", (config.fast.dim,)
    if config.codec:
        yield from _codec(config.codec)


def _slow(c: ModelConfig, slow: TransformerConfig) -> Named:
    yield "embeddings.weight", (c.vocab_size, slow.dim)
    yield "codebook_embeddings.weight", (c.codebook_size * c.num_codebooks, slow.dim)
    for i in range(slow.layers):
        yield from _block(f"layers.{i}.", slow)
    yield "norm.weight", (slow.dim,)


def _fast(c: ModelConfig, slow: TransformerConfig, fast: TransformerConfig) -> Named:
    if c.fast_project_in:
        yield "fast_project_in.weight", (fast.dim, slow.dim)
    yield "fast_embeddings.weight", (c.codebook_size, fast.dim)
    for i in range(fast.layers):
        yield from _block(f"fast_layers.{i}.", fast)
    yield "fast_norm.weight", (fast.dim,)
    yield "fast_output.weight", (c.codebook_size, fast.dim)


def _block(stem: str, t: TransformerConfig) -> Named:
    yield stem + "attention_norm.weight", (t.dim,)
    yield stem + "attention.wqkv.weight", ((t.heads + 2 * t.kv_heads) * t.head_dim, t.dim)
    if t.qk_norm:
        yield stem + "attention.q_norm.weight", (t.head_dim,)
        yield stem + "attention.k_norm.weight", (t.head_dim,)
    yield stem + "attention.wo.weight", (t.dim, t.heads * t.head_dim)
    yield stem + "ffn_norm.weight", (t.dim,)
    yield stem + "feed_forward.w1.weight", (t.ffn_dim, t.dim)
    yield stem + "feed_forward.w3.weight", (t.ffn_dim, t.dim)
    yield stem + "feed_forward.w2.weight", (t.dim, t.ffn_dim)


def _codec(c: CodecConfig) -> Named:
    yield from _encoder(c)
    q = "c.quantizer."
    for i, factor in enumerate(c.downsample_factor):
        yield from _conv(f"{q}downsample.{i}.0", c.latent_dim, c.latent_dim, factor)
        yield from _convnext(f"{q}downsample.{i}.1", c.latent_dim)
        yield from _transposed(f"{q}upsample.{i}.0", c.latent_dim, c.latent_dim, factor)
        yield from _convnext(f"{q}upsample.{i}.1", c.latent_dim)
    for part in ("pre_module", "post_module"):
        yield from _codec_transformer(q + part, c.rvq)
    yield from _codebook(q + "semantic_quantizer.quantizers.0", c.semantic_codebook_size, c)
    for i in range(c.residual_codebooks):
        yield from _codebook(f"{q}quantizer.quantizers.{i}", c.residual_codebook_size, c)
    yield from _decoder(c)


def _encoder(c: CodecConfig) -> Named:
    stem, width = "c.encoder.block.", c.encoder_dim
    yield from _conv(stem + "0", width, 1, 7)
    for i, rate in enumerate(c.encoder_rates):
        block = f"{stem}{i + 1}.block."
        for j in range(3):
            yield from _residual_unit(f"{block}{j}", width)
        yield block + "3.alpha", (1, width, 1)
        yield from _conv(block + "4", 2 * width, width, 2 * rate)
        width *= 2
        if c.encoder_transformer_layers[i]:
            yield from _encoder_transformer(block + "5", width, c.encoder_transformer_layers[i])
    last = len(c.encoder_rates) + 1
    yield f"{stem}{last}.alpha", (1, width, 1)
    yield from _conv(f"{stem}{last + 1}", c.latent_dim, width, 3)


def _decoder(c: CodecConfig) -> Named:
    stem, width = "c.decoder.model.", c.decoder_dim
    yield from _conv(stem + "0", width, c.latent_dim, 7)
    for i, rate in enumerate(c.decoder_rates):
        block = f"{stem}{i + 1}.block."
        yield block + "0.alpha", (1, width, 1)
        yield from _transposed(block + "1", width, width // 2, 2 * rate)
        width //= 2
        for j in range(3):
            yield from _residual_unit(f"{block}{j + 2}", width)
    last = len(c.decoder_rates) + 1
    yield f"{stem}{last}.alpha", (1, width, 1)
    yield from _conv(f"{stem}{last + 1}", 1, width, 7)


def _conv(stem: str, out: int, into: int, kernel: int) -> Named:
    yield stem + ".conv.weight", (out, into, kernel)
    yield stem + ".conv.bias", (out,)


def _transposed(stem: str, into: int, out: int, kernel: int) -> Named:
    yield stem + ".conv.weight", (into, out, kernel)
    yield stem + ".conv.bias", (out,)


def _residual_unit(stem: str, width: int) -> Named:
    yield stem + ".block.0.alpha", (1, width, 1)
    yield from _conv(stem + ".block.1", width, width, 7)
    yield stem + ".block.2.alpha", (1, width, 1)
    yield from _conv(stem + ".block.3", width, width, 1)


def _convnext(stem: str, width: int) -> Named:
    yield stem + ".dwconv.conv.weight", (width, 1, 7)
    yield stem + ".dwconv.conv.bias", (width,)
    yield stem + ".norm.weight", (width,)
    yield stem + ".norm.bias", (width,)
    yield stem + ".pwconv1.weight", (4 * width, width)
    yield stem + ".pwconv1.bias", (4 * width,)
    yield stem + ".pwconv2.weight", (width, 4 * width)
    yield stem + ".pwconv2.bias", (width,)
    yield stem + ".gamma", (width,)


def _codec_transformer(stem: str, t: TransformerConfig) -> Named:
    for i in range(t.layers):
        yield from _block(f"{stem}.layers.{i}.", t)
        yield f"{stem}.layers.{i}.attention_layer_scale.gamma", (t.dim,)
        yield f"{stem}.layers.{i}.ffn_layer_scale.gamma", (t.dim,)
    yield stem + ".norm.weight", (t.dim,)


def _encoder_transformer(stem: str, width: int, layers: int) -> Named:
    """Plain multi-head attention; its feed-forward is three times as wide as the block."""
    heads = TransformerConfig(width, 3 * width, layers, heads=1, kv_heads=1, head_dim=width, rope_base=1, norm_eps=1)
    yield from _codec_transformer(stem, heads)


def _codebook(stem: str, size: int, c: CodecConfig) -> Named:
    yield stem + ".in_proj.weight", (c.codebook_dim, c.latent_dim, 1)
    yield stem + ".in_proj.bias", (c.codebook_dim,)
    yield stem + ".out_proj.weight", (c.latent_dim, c.codebook_dim, 1)
    yield stem + ".out_proj.bias", (c.latent_dim,)
    yield stem + ".codebook.weight", (size, c.codebook_dim)
