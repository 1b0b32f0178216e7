"""GGUF metadata (s2.cpp's keys) and tensor shapes -> ModelConfig.

A key that is missing takes the S2 Pro value of `config`; what only the tensors tell (head_dim, layers of the codec's
transformers, fast_project_in) is read off them. Whether the tensors then fit the sizes is `layout`'s question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..config import FAST_AR, SLOW_AR, CodecConfig, ModelConfig, TransformerConfig
from ..errors import ModelError
from ..options import Sampling

ARCHITECTURE, CODEC_ARCHITECTURE = "fish-speech", "fish-speech-codec"
SLOW, REST, CODEC = "fish-speech.", "fish_speech.", "fish_speech.codec."
MAX_SIZE = 1 << 24
MAX_CONTEXT = (1 << 32) - 1  # what the key of a GGUF file holds
_LEAST_REAL, _MOST_REAL = 2.0**-126, 2.0**127 * (2 - 2.0**-23)  # float32, as those keys are
_MAX_HEAD_DIM = 1024  # bounds the rotary tables, which no tensor of the file pays for
MAX_NAME = 200

Shapes = Mapping[str, tuple[int, ...]]


def architecture(metadata: Mapping, path) -> str:
    """`fish-speech` (both networks, codec under `c.`) or `fish-speech-codec` (codec alone); anything else raises."""
    value = metadata.get("general.architecture")
    if not isinstance(value, str) or value not in (ARCHITECTURE, CODEC_ARCHITECTURE):
        found = "names no architecture" if value is None else f"holds a model of architecture {value!r:.60}"
        raise ModelError(f"{path}: the file {found}; a Fish Audio S2 model ({ARCHITECTURE}) is needed")
    return value


def read_config(metadata: Mapping, shapes: Shapes, path) -> ModelConfig:
    """The sizes of the model, checked for being possible. `shapes`: of all tensors, codec names beginning with `c.`."""
    keys = _Keys(metadata, path)
    codec = _codec(keys, shapes) if any(name.startswith("c.") for name in shapes) else None
    name = "".join(filter(str.isprintable, " ".join(keys.text("general.name", ModelConfig.name).split())))
    base = ModelConfig(name=name[:MAX_NAME], codec=codec, sampling=_sampling(keys), **_trained_for(keys))
    if architecture(metadata, path) == CODEC_ARCHITECTURE:
        if codec is None:
            raise ModelError(f"{path}: a codec file without tensors")
        return replace(
            base, slow=None, fast=None, num_codebooks=codec.num_codebooks, codebook_size=codec.semantic_codebook_size
        )
    config = replace(
        base,
        slow=_slow(keys, shapes),
        fast=_fast(keys, shapes),
        vocab_size=keys.size(SLOW + "vocab_size", base.vocab_size),
        context_length=keys.size(SLOW + "context_length", base.context_length, most=MAX_CONTEXT),
        num_codebooks=keys.size(REST + "num_codebooks", base.num_codebooks, most=256),
        codebook_size=keys.size(REST + "codebook_size", base.codebook_size),
        semantic_begin=keys.size(REST + "semantic_begin_id", base.semantic_begin, least=0),
        semantic_end=keys.size(REST + "semantic_end_id", base.semantic_end, least=0),
        scale_codebook_embeddings=keys.flag(REST + "scale_codebook_embeddings", base.scale_codebook_embeddings),
        norm_fast_input=keys.flag(REST + "norm_fastlayer_input", base.norm_fast_input),
        fast_project_in="fast_project_in.weight" in shapes,
    )
    _check_tokens(config, path)
    _refuse_unbuilt(keys, config, shapes, path)
    return config


def _slow(keys, shapes) -> TransformerConfig:
    d, a = SLOW_AR, SLOW + "attention."
    return _transformer(
        keys,
        shapes,
        "layers.0.",
        dim=keys.size(SLOW + "embedding_length", d.dim),
        ffn_dim=keys.size(SLOW + "feed_forward_length", d.ffn_dim),
        layers=keys.count(SLOW + "block_count", d.layers),
        heads=keys.size(a + "head_count", d.heads),
        kv_heads=keys.size(a + "head_count_kv", d.kv_heads),
        head_dim=d.head_dim,
        rope_base=keys.positive(SLOW + "rope.freq_base", d.rope_base),
        norm_eps=keys.positive(a + "layer_norm_rms_epsilon", d.norm_eps),
        qk_norm=keys.flag(REST + "attention_qk_norm", d.qk_norm),
    )


def _fast(keys, shapes) -> TransformerConfig:
    d, f = FAST_AR, REST + "fast_"
    return _transformer(
        keys,
        shapes,
        "fast_layers.0.",
        dim=keys.size(f + "embedding_length", d.dim),
        ffn_dim=keys.size(f + "feed_forward_length", d.ffn_dim),
        layers=keys.count(f + "block_count", d.layers),
        heads=keys.size(f + "head_count", d.heads),
        kv_heads=keys.size(f + "head_count_kv", d.kv_heads),
        head_dim=keys.size(f + "head_dim", d.head_dim),
        rope_base=keys.positive(f + "rope_freq_base", d.rope_base),
        norm_eps=keys.positive(f + "layer_norm_rms_eps", d.norm_eps),
        qk_norm=keys.flag(f + "attention_qk_norm", d.qk_norm),
    )


def _transformer(keys, shapes, stem, **sizes) -> TransformerConfig:
    """The block whose head_dim is what its tensors say, where they say it."""
    heads, kv_heads = sizes["heads"], sizes["kv_heads"]
    if heads % kv_heads:
        keys.fail(f"{heads} attention heads cannot share {kv_heads} key/value heads")
    norm, wo = shapes.get(stem + "attention.q_norm.weight"), shapes.get(stem + "attention.wo.weight")
    if sizes["qk_norm"] and norm is not None:
        sizes["head_dim"] = norm[-1]
    elif wo is not None:
        if wo[-1] % heads:
            keys.fail(f"tensor '{stem}attention.wo.weight': {wo[-1]} columns cannot serve {heads} heads")
        sizes["head_dim"] = wo[-1] // heads
    if sizes["head_dim"] % 2:
        keys.fail(f"head_dim {sizes['head_dim']} of {stem} is odd; rotary embedding needs pairs")
    if sizes["head_dim"] > _MAX_HEAD_DIM:
        keys.fail(f"head_dim {sizes['head_dim']} of {stem} is more than any model has")
    return TransformerConfig(**sizes)


def _codec(keys, shapes) -> CodecConfig:
    d, q = CodecConfig(), CODEC + "quantizer_"
    latent = keys.size(CODEC + "latent_dim", d.latent_dim)
    rates = keys.sizes(CODEC + "encoder_rates", d.encoder_rates)
    head_dim = keys.size(CODEC + "transformer.head_dim", d.transformer_head_dim, most=_MAX_HEAD_DIM)
    layers = tuple(count_layers(shapes, f"c.encoder.block.{i + 1}.block.5.layers.") for i in range(len(rates)))
    for i, n in enumerate(layers):
        width = keys.size(CODEC + "encoder_dim", d.encoder_dim) * 2 ** (i + 1)
        if n and (width % head_dim or head_dim % 2):
            keys.fail(f"head_dim {head_dim} does not divide the codec encoder's width {width} in even parts")
    return CodecConfig(
        sample_rate=keys.size(CODEC + "sample_rate", d.sample_rate),
        encoder_dim=keys.size(CODEC + "encoder_dim", d.encoder_dim),
        encoder_rates=rates,
        encoder_transformer_layers=layers,
        encoder_window=d.encoder_window,
        decoder_dim=keys.size(CODEC + "decoder_dim", d.decoder_dim),
        decoder_rates=keys.sizes(CODEC + "decoder_rates", d.decoder_rates),
        latent_dim=latent,
        downsample_factor=keys.sizes(q + "downsample_factor", d.downsample_factor),
        semantic_codebook_size=keys.size(q + "semantic_codebook_size", d.semantic_codebook_size),
        residual_codebook_size=keys.size(q + "residual_codebook_size", d.residual_codebook_size),
        residual_codebooks=keys.size(q + "residual_codebooks", d.residual_codebooks, least=0, most=255),
        codebook_dim=keys.size(q + "codebook_dim", d.codebook_dim),
        transformer_head_dim=head_dim,
        transformer_rope_base=keys.positive(CODEC + "transformer.rope_freq_base", d.transformer_rope_base),
        transformer_norm_eps=keys.positive(CODEC + "transformer.layer_norm_rms_eps", d.transformer_norm_eps),
        rvq=_rvq(keys, shapes, latent, d.rvq),
    )


def _rvq(keys, shapes, latent, d) -> TransformerConfig:
    """The two transformers beside the quantizer (pre_module and post_module), which are alike."""
    r = CODEC + "rvq_transformer."
    pre, post = (count_layers(shapes, f"c.quantizer.{part}_module.layers.") for part in ("pre", "post"))
    if pre != post:
        keys.fail(f"the codec's pre_module has {pre} layers but its post_module {post}")
    heads = keys.size(r + "n_head", d.heads)
    kv_heads = keys.number(r + "n_local_heads", -1)
    if keys.size(r + "dim", latent) != latent:
        keys.fail(f"{r}dim differs from the codec's latent_dim {latent}")
    return _transformer(
        keys,
        shapes,
        "c.quantizer.post_module.layers.0.",
        dim=latent,
        ffn_dim=keys.size(r + "feed_forward_length", d.ffn_dim),
        layers=post,
        heads=heads,
        kv_heads=heads if kv_heads == -1 else keys.size(r + "n_local_heads", heads),
        head_dim=keys.size(r + "head_dim", d.head_dim),
        rope_base=keys.positive(r + "rope_freq_base", d.rope_base),
        norm_eps=keys.positive(r + "layer_norm_rms_eps", d.norm_eps),
        qk_norm=False,
        window=keys.size(r + "window_size", d.window),
    )


def count_layers(shapes: Shapes, stem: str) -> int:
    """Layers 0, 1, ... of a stack of blocks that the file holds."""
    n = 0
    while f"{stem}{n}.attention.wqkv.weight" in shapes:
        n += 1
    return n


def _sampling(keys) -> Sampling:
    d, s = Sampling(), "s2mlx.sampling."
    temperature = keys.real(s + "temperature", d.temperature)
    top_p, top_k = keys.real(s + "top_p", d.top_p), keys.size(s + "top_k", d.top_k, least=0)
    if not (0 <= temperature <= 10 and 0 < top_p <= 1):
        keys.fail(f"its sampling defaults make no sense (temperature {temperature}, top_p {top_p})")
    return Sampling(temperature, top_p, top_k)


def _trained_for(keys) -> dict:
    """Limits that small models have. Keys of our own: other files of this format do without."""
    seconds = keys.real("s2mlx.speech.pass_seconds", ModelConfig.pass_seconds)
    if not 1 <= seconds <= 600:
        keys.fail(f"passes of {seconds} s make no sense")
    reference = ModelConfig.reference_seconds
    if "s2mlx.speech.reference_seconds" in keys.metadata:
        reference = keys.real("s2mlx.speech.reference_seconds", 0)
        if reference < 1:
            keys.fail(f"references of {reference} s make no sense")
    return dict(
        pass_seconds=seconds,
        reference_seconds=reference,
        dialogue=keys.flag("s2mlx.speech.dialogue", ModelConfig.dialogue),
        languages=_languages(keys),
        tags=keys.flag("s2mlx.speech.tags", ModelConfig.tags),
    )


def _languages(keys) -> tuple[str, ...]:
    codes = keys.text("s2mlx.speech.languages", " ".join(ModelConfig.languages)).split()
    if not 1 <= len(codes) <= 1000 or not all(len(c) in (2, 3) and c.isascii() and c.islower() for c in codes):
        keys.fail(f"its languages {' '.join(codes)!r:.60} are no ISO 639 codes such as 'en de'")
    return tuple(codes)


def _check_tokens(config: ModelConfig, path):
    c = config
    if not c.semantic_begin <= c.semantic_end < c.vocab_size:
        raise ModelError(
            f"{path}: semantic ids {c.semantic_begin} to {c.semantic_end} do not lie in a vocabulary of {c.vocab_size}"
        )
    if c.semantic_end - c.semantic_begin >= c.codebook_size:
        raise ModelError(
            f"{path}: {c.semantic_end - c.semantic_begin + 1} semantic ids but a codebook of {c.codebook_size}"
        )
    if c.codec is not None and c.codec.num_codebooks != c.num_codebooks:
        raise ModelError(f"{path}: the model speaks {c.num_codebooks} codebooks, its codec {c.codec.num_codebooks}")


def _refuse_unbuilt(keys, config, shapes, path):
    """Switches of the format that no S2 model sets and this engine does not have."""
    for key in ("attention_qkv_bias", "attention_o_bias", "fast_attention_qkv_bias", "fast_attention_o_bias"):
        if keys.flag(REST + key, False):
            raise ModelError(f"{path}: {REST}{key} is set; attention biases are not supported")
    if not keys.flag(REST + "tie_word_embeddings", True) and "output.weight" in shapes:
        raise ModelError(
            f"{path}: tensor 'output.weight': an output head of its own is not supported; S2 ties it to the embeddings"
        )
    if keys.flag(REST + "fast_project_in", False) and not config.fast_project_in:
        raise ModelError(f"{path}: tensor 'fast_project_in.weight' is missing though the metadata announces it")


class _Keys:
    """Typed look-ups with defaults; a value of the wrong type or out of range raises."""

    def __init__(self, metadata, path):
        self.metadata, self.path = metadata, path

    def fail(self, reason):
        raise ModelError(f"{self.path}: {reason}")

    def _get(self, key, default, types, kind):
        value = self.metadata.get(key, default)
        if not isinstance(value, types) or isinstance(value, bool) and bool not in types:
            self.fail(f"key {key!r} should be {kind}, not {value!r:.60}")
        return value

    def text(self, key, default) -> str:
        return self._get(key, default, (str,), "a text")

    def flag(self, key, default) -> bool:
        value = self._get(key, default, (bool, int), "true or false")
        if value not in (0, 1):
            self.fail(f"key {key!r} should be true or false, not {value!r:.60}")
        return bool(value)

    def number(self, key, default) -> int:
        return self._get(key, default, (int,), "a whole number")

    def size(self, key, default, least=1, most=MAX_SIZE) -> int:
        value = self.number(key, default)
        if not least <= value <= most:
            self.fail(f"key {key!r} is {value!r:.60}; {least} to {most} is possible")
        return value

    def count(self, key, default) -> int:
        return self.size(key, default, most=1 << 12)

    def real(self, key, default) -> float:
        value = self._get(key, default, (float, int), "a number")
        if not -_MOST_REAL <= value <= _MOST_REAL:  # nor a NaN, which is never within
            self.fail(f"key {key!r} is {value!r:.60}, no number that float32 holds")
        return float(value)

    def positive(self, key, default) -> float:
        value = self.real(key, default)
        if value < _LEAST_REAL:
            self.fail(f"key {key!r} is {value}; a number above 0 is needed")
        return value

    def sizes(self, key, default) -> tuple[int, ...]:
        """A short list of strides."""
        value = self.metadata.get(key, default)
        values = tuple(value.tolist()) if hasattr(value, "tolist") else value
        possible = (
            isinstance(values, tuple)
            and 1 <= len(values) <= 16
            and all(type(v) is int and 1 <= v <= 1024 for v in values)
        )
        if not possible:
            self.fail(f"key {key!r} should be a short list of strides, not {value!r:.60}")
        return values
