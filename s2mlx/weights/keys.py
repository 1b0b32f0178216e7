"""Sizes -> the keys of a GGUF file: what `metadata` reads, for who writes one. Knows names only."""

from __future__ import annotations

from ..config import ModelConfig
from .metadata import REST, SLOW


def size_keys(c: ModelConfig) -> dict[str, bool | int | float | tuple[int, ...]]:
    """The keys that tell the sizes in `c`, as `metadata` reads them."""
    slow, fast = c.slow, c.fast
    slow_keys = {
        "context_length": c.context_length,
        "embedding_length": slow.dim,
        "feed_forward_length": slow.ffn_dim,
        "block_count": slow.layers,
        "attention.head_count": slow.heads,
        "attention.head_count_kv": slow.kv_heads,
        "rope.freq_base": slow.rope_base,
        "attention.layer_norm_rms_epsilon": slow.norm_eps,
        "vocab_size": c.vocab_size,
    }
    rest = {
        "codebook_size": c.codebook_size,
        "num_codebooks": c.num_codebooks,
        "semantic_begin_id": c.semantic_begin,
        "semantic_end_id": c.semantic_end,
        "scale_codebook_embeddings": c.scale_codebook_embeddings,
        "norm_fastlayer_input": c.norm_fast_input,
        "attention_qk_norm": slow.qk_norm,
        "fast_embedding_length": fast.dim,
        "fast_feed_forward_length": fast.ffn_dim,
        "fast_block_count": fast.layers,
        "fast_head_count": fast.heads,
        "fast_head_count_kv": fast.kv_heads,
        "fast_head_dim": fast.head_dim,
        "fast_rope_freq_base": fast.rope_base,
        "fast_layer_norm_rms_eps": fast.norm_eps,
        "fast_attention_qk_norm": fast.qk_norm,
    }
    if (codec := c.codec) is not None:
        rvq = codec.rvq
        rest |= {
            "codec." + key: value
            for key, value in {
                "sample_rate": codec.sample_rate,
                "encoder_dim": codec.encoder_dim,
                "decoder_dim": codec.decoder_dim,
                "latent_dim": codec.latent_dim,
                "encoder_rates": codec.encoder_rates,
                "decoder_rates": codec.decoder_rates,
                "quantizer_downsample_factor": codec.downsample_factor,
                "quantizer_codebook_dim": codec.codebook_dim,
                "quantizer_semantic_codebook_size": codec.semantic_codebook_size,
                "quantizer_residual_codebook_size": codec.residual_codebook_size,
                "quantizer_residual_codebooks": codec.residual_codebooks,
                "transformer.head_dim": codec.transformer_head_dim,
                "transformer.rope_freq_base": codec.transformer_rope_base,
                "transformer.layer_norm_rms_eps": codec.transformer_norm_eps,
                "rvq_transformer.window_size": rvq.window,
                "rvq_transformer.n_head": rvq.heads,
                "rvq_transformer.head_dim": rvq.head_dim,
                "rvq_transformer.dim": rvq.dim,
                "rvq_transformer.feed_forward_length": rvq.ffn_dim,
                "rvq_transformer.rope_freq_base": rvq.rope_base,
                "rvq_transformer.layer_norm_rms_eps": rvq.norm_eps,
            }.items()
        }
    return {SLOW + k: v for k, v in slow_keys.items()} | {REST + k: v for k, v in rest.items()}
