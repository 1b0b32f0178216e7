"""What a frame moves beside its weights, worked out: how many command buffers MLX cuts it into, and how often the
products read their vectors.

MLX puts launches into a command buffer until there are too many of them, or their arrays hold too many elements (of raw
blocks these are bytes); each array counts once a buffer. `MLX_MAX_OPS_PER_BUFFER` and `MLX_MAX_MB_PER_BUFFER` say how
many; without them it depends on the chip.
"""

from __future__ import annotations

from collections.abc import Iterator

from gguf.constants import GGML_QUANT_SIZES

from ..config import ModelConfig
from ..kernels.qmv import rows_of_group
from ..weights.mixes import type_of
from . import inventory
from .machine import FORMATS, POSITIONS

MLX_LIMITS = {"M1 to M5, Pro": (40, 40), "Max, Ultra": (50, 50)}  # operations, mebi-elements
OURS = (1000, 400)  # what importing s2mlx sets on macOS
_FLOAT = 4  # bytes of an activation or a gain


def launches(config: ModelConfig, type: str, positions: int = POSITIONS) -> Iterator[dict[str, int]]:
    """The launches of a frame in order, each as the elements of its large arrays by name."""
    sizes = {}
    for part in inventory.networks(config):
        many, size = GGML_QUANT_SIZES[type_of(part.name, type, config)] if part.matrix else (1, _FLOAT)
        sizes[part.name] = part.size // many * size
    slow, fast = config.transformers
    of = lambda *names: {name: sizes[name] for name in names}

    def block(stem: str, past: dict[str, int]) -> Iterator[dict[str, int]]:
        yield of(stem + "attention.wqkv.weight")
        yield past
        yield of(stem + "attention.wo.weight")
        yield of(stem + "feed_forward.w1.weight", stem + "feed_forward.w3.weight")
        yield of(stem + "feed_forward.w2.weight")

    yield from (of("embeddings.weight"), of("codebook_embeddings.weight"), {})
    for i in range(slow.layers):
        kept = slow.kv_heads * slow.head_dim * positions
        yield from block(f"layers.{i}.", {f"keys {i}": kept, f"values {i}": kept})
    rows = config.semantic_end - config.semantic_begin + 2
    yield from ({}, {"head": sizes["embeddings.weight"] // config.vocab_size * rows}, {})
    for _ in range(config.num_codebooks - 1):
        yield of("fast_embeddings.weight")
        for i in range(fast.layers):
            yield from block(f"fast_layers.{i}.", {})
        yield from (of("fast_output.weight"), {})


def command_buffers(frame: Iterator[dict[str, int]], operations: int, megabytes: int) -> int:
    """Into how many buffers MLX cuts these launches."""
    buffers, taken = 1, 0
    seen: dict[str, int] = {}
    for arrays in frame:
        if taken > operations or sum(seen.values()) >> 20 > megabytes:
            buffers, taken, seen = buffers + 1, 0, {}
        taken, seen = taken + 1, seen | arrays
    return buffers


def vector_bytes(config: ModelConfig = ModelConfig(), rows_of=rows_of_group) -> int:
    """Bytes of vectors and gains that a frame's products read from device memory, one sequence: each group of threads
    reads them once. rows_of(vectors, norm, matrices) tells the rows of a group."""
    slow, fast = config.transformers

    def product(rows: int, k: int, vectors: int = 1, norm: bool = False, matrices: int = 1) -> int:
        return -(-rows // rows_of(vectors, norm, matrices)) * k * _FLOAT * (vectors + norm)

    def block(c, vectors: int) -> int:
        width = c.heads * c.head_dim
        return (
            product(width + 2 * c.kv_heads * c.head_dim, c.dim, vectors, norm=True)
            + product(c.dim, width, vectors)
            + product(c.ffn_dim, c.dim, vectors, norm=True, matrices=2)
            + product(c.dim, c.ffn_dim, vectors)
        )

    passes = config.num_codebooks - 1  # the first is of two positions
    head = product(config.semantic_end - config.semantic_begin + 2, slow.dim)
    output = product(config.codebook_size, fast.dim, norm=True)
    layers = slow.layers * block(slow, 1) + fast.layers * (block(fast, 2) + (passes - 1) * block(fast, 1))
    return layers + head + passes * output


def rows(config: ModelConfig = ModelConfig()) -> list[dict]:
    """Command buffers of a frame by type: a row for each pair of limits."""
    return [
        {
            "limits": name,
            "operations": pair[0],
            "megabytes": pair[1],
            "buffers": {f: command_buffers(launches(config, f), *pair) for f in FORMATS},
        }
        for name, pair in {**MLX_LIMITS, "set by s2mlx": OURS}.items()
    ]


def table(config: ModelConfig = ModelConfig()) -> str:
    """`rows` as a Markdown table."""
    lines = ["| limits (operations, MB) | " + " | ".join(FORMATS) + " |", "|---|" + "--:|" * len(FORMATS)]
    for row in rows(config):
        cells = " | ".join(str(n) for n in row["buffers"].values())
        lines.append(f"| {row['limits']}: {row['operations']}, {row['megabytes']} | {cells} |")
    return "\n".join(lines)
