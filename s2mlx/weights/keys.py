"""Sizes -> the keys of a GGUF file: what `metadata` reads, for who writes one. Knows names only."""

from __future__ import annotations

from ..config import ModelConfig
from ..options import Sampling
from .facts import LICENCE, is_s2_pro
from .metadata import REST, SLOW

_SECTIONS = ("general.", "fish-speech.", "fish_speech.", "fish_speech.codec.", "s2mlx.")  # as published files have them
Keys = dict[str, bool | int | float | str | tuple[int, ...] | None]  # a value as the file keeps it


def size_keys(c: ModelConfig) -> Keys:
    """The keys that tell the sizes in `c`, as `metadata` reads them."""
    slow, fast = c.transformers
    slow_keys: Keys = {
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
    rest: Keys = {
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
        codec_keys: Keys = {
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
        }
        rest |= {"codec." + key: value for key, value in codec_keys.items()}
    return {SLOW + k: v for k, v in slow_keys.items()} | {REST + k: v for k, v in rest.items()}


def published_keys(c: ModelConfig, audio_pad: int) -> Keys:
    """key -> bool, int, float, text or tuple: every key that published files have, from the sizes of the model. Other
    engines ask for some that this one does without.

    audio_pad: id of the token that stands where sound goes."""
    general: Keys = {"general.architecture": "fish-speech", "general.name": c.name}
    if is_s2_pro(c):
        general |= {
            "general.basename": "fish-speech-s2-pro",
            "general.license": "other",
            "general.license.name": "fish-audio-research-license",
            "general.description": LICENCE,
        }
    sizes = size_keys(c)
    rest: Keys = {
        "model_type": "dual_ar",
        "audio_pad_token_id": audio_pad,
        "tie_word_embeddings": True,
        "fast_context_length": c.num_codebooks + 1,
        "fast_tie_word_embeddings": False,
        "fast_attention_qkv_bias": False,
        "fast_attention_o_bias": False,
        "fast_project_in": c.fast_project_in,
    }
    if c.codec:
        rvq = c.codec.rvq
        codec_keys: Keys = {
            "hop_length": c.codec.hop,
            "frame_length": c.codec.hop,
            "quantizer_input_dim": c.codec.latent_dim,
            "quantizer_type": "downsample_residual_vector_quantize",
            "encoder_transformer_layers": c.codec.encoder_transformer_layers,
            # built by no engine, but read by some
            "decoder_transformer_layers": (4,) + (0,) * (len(c.codec.decoder_rates) - 1),
            "transformer.block_size": 8192,
            "transformer.n_local_heads": -1,
            "rvq_transformer.block_size": 2048,
            "rvq_transformer.n_layer": rvq.layers,
            "rvq_transformer.n_local_heads": -1 if rvq.kv_heads == rvq.heads else rvq.kv_heads,
        }
        rest |= {"codec." + key: x for key, x in codec_keys.items()}
    keys = general | sizes | {"fish_speech." + key: x for key, x in rest.items()} | _own_keys(c)
    section = lambda key: max(i for i, start in enumerate(_SECTIONS) if key.startswith(start))
    return dict(sorted(keys.items(), key=lambda item: section(item[0])))


def _own_keys(c: ModelConfig) -> Keys:
    """What only our models say of themselves."""
    usual = ModelConfig()
    keys: Keys = {}
    if c.sampling != Sampling():
        keys |= {
            "s2mlx.sampling.temperature": c.sampling.temperature,
            "s2mlx.sampling.top_p": c.sampling.top_p,
            "s2mlx.sampling.top_k": c.sampling.top_k,
        }
    if (c.pass_seconds, c.dialogue) != (usual.pass_seconds, usual.dialogue):
        keys |= {"s2mlx.speech.pass_seconds": c.pass_seconds, "s2mlx.speech.dialogue": c.dialogue}
    if c.reference_seconds != usual.reference_seconds:
        keys["s2mlx.speech.reference_seconds"] = c.reference_seconds
    if (c.languages, c.tags) != (usual.languages, usual.tags):
        keys |= {"s2mlx.speech.languages": " ".join(c.languages), "s2mlx.speech.tags": c.tags}
    return keys
