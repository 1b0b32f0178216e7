"""The sizes and switches of a model. Nothing here knows a file format: see `weights`.

The defaults are S2 Pro's, taken for a key that a file leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from .errors import ModelError
from .options import Sampling


@dataclass(frozen=True)
class TransformerConfig:
    """One stack of pre-norm blocks: Slow-AR, Fast-AR, or a transformer of the codec."""

    dim: int
    ffn_dim: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rope_base: float
    norm_eps: float
    qk_norm: bool = False
    window: int | None = None  # attention reaches back over window - 1 positions; None: over everything


SLOW_AR = TransformerConfig(
    dim=2560, ffn_dim=9728, layers=36, heads=32, kv_heads=8, head_dim=128, rope_base=1e6, norm_eps=1e-6, qk_norm=True
)
FAST_AR = TransformerConfig(
    dim=2560, ffn_dim=9728, layers=4, heads=32, kv_heads=8, head_dim=128, rope_base=1e6, norm_eps=1e-6
)
CODEC_RVQ = TransformerConfig(
    dim=1024, ffn_dim=3072, layers=8, heads=16, kv_heads=16, head_dim=64, rope_base=1e4, norm_eps=1e-5, window=128
)


@dataclass(frozen=True)
class CodecConfig:
    """The causal autoencoder. One frame is `frame_samples` samples and one column of codes."""

    sample_rate: int = 44100
    encoder_dim: int = 64
    encoder_rates: tuple[int, ...] = (2, 4, 8, 8)
    encoder_transformer_layers: tuple[int, ...] = (0, 0, 0, 4)
    encoder_window: int = 512
    decoder_dim: int = 1536
    decoder_rates: tuple[int, ...] = (8, 8, 4, 2)
    latent_dim: int = 1024
    downsample_factor: tuple[int, ...] = (2, 2)
    semantic_codebook_size: int = 4096
    residual_codebook_size: int = 1024
    residual_codebooks: int = 9
    codebook_dim: int = 8
    # the encoder's transformer: its width follows from the block it sits in, its layers from the file
    transformer_head_dim: int = 64
    transformer_rope_base: float = 1e4
    transformer_norm_eps: float = 1e-5
    rvq: TransformerConfig = CODEC_RVQ

    @property
    def hop(self) -> int:
        """Samples per latent of the encoder."""
        return _product(self.encoder_rates)

    @property
    def frame_samples(self) -> int:
        """Samples per frame: 2048 in S2 Pro."""
        return self.hop * _product(self.downsample_factor)

    @property
    def num_codebooks(self) -> int:
        return 1 + self.residual_codebooks


# As the model's card lists them.
S2_PRO_LANGUAGES = tuple(
    "zh en ja ko es pt ar ru fr de sv it tr no nl cy eu ca da gl ta hu fi pl et hi la ur th vi jw bn yo sl cs sw nn he "
    "ms uk id kk bg lv my tl sk ne fa af el bo hr ro sn mi yi am be km is az sd br sq ps mn ht ml sr sa te ka bs pa lt "
    "kn si hy mr as gu fo".split()
)


@dataclass(frozen=True)
class ModelConfig:
    """A whole speaking model. `codec` is None in a file without one; `slow`/`fast` are None in a codec-only file."""

    name: str = "S2 Pro"
    slow: TransformerConfig | None = SLOW_AR
    fast: TransformerConfig | None = FAST_AR
    codec: CodecConfig | None = CodecConfig()
    vocab_size: int = 155776
    context_length: int = 32768
    num_codebooks: int = 10
    codebook_size: int = 4096
    semantic_begin: int = 151678
    semantic_end: int = 155773  # inclusive
    scale_codebook_embeddings: bool = True
    norm_fast_input: bool = True
    fast_project_in: bool = False
    # what the model was trained for; S2 Pro: all of it
    sampling: Sampling = Sampling()
    pass_seconds: float = 30.0  # longest stretch of speech it makes in one pass
    reference_seconds: float = math.inf  # longest clip of a voice it follows; more is cut off, with its words
    dialogue: bool = True  # whether it takes several speakers and earlier turns in one prompt
    languages: tuple[str, ...] = S2_PRO_LANGUAGES  # ISO 639 codes
    tags: bool = True  # whether `[laugh]` in the text is done rather than left out

    @property
    def transformers(self) -> tuple[TransformerConfig, TransformerConfig]:
        """Slow-AR and Fast-AR. `ModelError` for a codec-only file."""
        if self.slow is None or self.fast is None:
            raise ModelError(f"{self.name} holds only a codec: it can encode and decode, not speak")
        return self.slow, self.fast


def _product(values: Iterable[int]) -> int:
    n = 1
    for v in values:
        n *= v
    return n
