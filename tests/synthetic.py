"""A tiny S2 model with random weights, for tests: right in every name, shape and key, deterministic by its seed.

    path = make_model(tmp_path / "model.gguf")                 # f16, 2 + 2 layers, 1.2 MB, a fraction of a second
    make_model(path, type="q4_k", qk_norm=False, codec=False)  # any type; sizes grow to whole blocks by themselves

The vocabulary is that of the golden tokenizer: 1280 ids, im_start 1001, im_end 1002, voice 1007, semantic 1012..1267.
The weights mean nothing; logits spread by about 4, so that sampling has something to do.
"""

from pathlib import Path

import numpy as np
from gguf.constants import GGMLQuantizationType

from .weights.gguf_maker import encode, gguf_bytes

IM_START, IM_END, VOICE, SEMANTIC_BEGIN = 1001, 1002, 1007, 1012


def make_model(path, **options) -> Path:
    """Write the GGUF and return its path. Options: see `model_parts`."""
    metadata, tensors = model_parts(**options)
    Path(path).write_bytes(gguf_bytes(metadata, tensors))
    return Path(path)


def model_parts(
    *,
    type="f16",
    seed=1234,
    layers=2,
    fast_layers=2,
    dim=None,
    heads=4,
    kv_heads=2,
    head_dim=None,
    codebooks=10,
    codebook_size=256,
    vocab=1280,
    context=512,
    ar=True,
    codec=True,
    qk_norm=True,
    fast_qk_norm=False,
    project_in=False,
    fast_dim=None,
    scale=True,
    norm_fast_input=True,
    types=None,
    metadata=None,
    drop=(),
):
    """(metadata, tensors) of a model, as `gguf_maker.gguf_bytes` takes them.

    type: of the AR's matrices ("f16", "q8_0", "q4_k", ...); the rest is f16. types: {part of a name: type}, exceptions.
    ar, codec: leave one out to get a file without it (no AR: architecture fish-speech-codec).
    metadata: keys to add or replace (None removes one). drop: names of tensors to leave out.
    """
    kind = GGMLQuantizationType[type.upper()]
    wide = kind.name.endswith("_K") or any(t.upper().endswith("_K") for t in (types or {}).values())
    dim = dim or (256 if wide else 64)
    writer = _Writer(kind, types or {}, seed, drop)
    hd = head_dim or dim // heads
    fdim = fast_dim or dim
    sizes = dict(ffn=2 * dim, heads=heads, kv=kv_heads, hd=hd)
    keys = {"general.architecture": "fish-speech" if ar else "fish-speech-codec", "general.name": "Tiny synthetic S2"}
    if ar:
        keys |= _ar_keys(
            dim,
            fdim,
            layers,
            fast_layers,
            sizes,
            vocab,
            context,
            codebooks,
            codebook_size,
            scale,
            norm_fast_input,
            qk_norm,
            fast_qk_norm,
            project_in or fdim != dim,
        )
        writer.matrix("embeddings.weight", (vocab, dim), 4 / dim**0.5)
        writer.matrix("codebook_embeddings.weight", (codebook_size * codebooks, dim), 4 / dim**0.5)
        for i in range(layers):
            writer.block(f"layers.{i}.", dim, qk_norm=qk_norm, **sizes)
        writer.norm("norm.weight", dim)
        if project_in or fdim != dim:
            writer.matrix("fast_project_in.weight", (fdim, dim), dim**-0.5)
        writer.matrix("fast_embeddings.weight", (codebook_size, fdim), 1.0)
        for i in range(fast_layers):
            writer.block(f"fast_layers.{i}.", fdim, qk_norm=fast_qk_norm, **sizes)
        writer.norm("fast_norm.weight", fdim)
        writer.matrix("fast_output.weight", (codebook_size, fdim), 4 / fdim**0.5)
    if codec:
        keys |= _codec_keys(codebooks, codebook_size)
        _write_codec(writer, "c." if ar else "", codebooks, codebook_size)
    keys |= metadata or {}
    return {key: value for key, value in keys.items() if value is not None}, writer.tensors


def _ar_keys(
    dim,
    fdim,
    layers,
    fast_layers,
    sizes,
    vocab,
    context,
    codebooks,
    codebook_size,
    scale,
    norm_fast_input,
    qk_norm,
    fast_qk_norm,
    project_in,
):
    slow = {
        "context_length": context,
        "embedding_length": dim,
        "feed_forward_length": sizes["ffn"],
        "block_count": layers,
        "attention.head_count": sizes["heads"],
        "attention.head_count_kv": sizes["kv"],
        "rope.freq_base": 1e6,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "vocab_size": vocab,
    }
    rest = {
        "model_type": "dual_ar",
        "codebook_size": codebook_size,
        "num_codebooks": codebooks,
        "semantic_begin_id": SEMANTIC_BEGIN,
        "semantic_end_id": SEMANTIC_BEGIN + codebook_size - 1,
        "audio_pad_token_id": 1011,
        "scale_codebook_embeddings": scale,
        "norm_fastlayer_input": norm_fast_input,
        "tie_word_embeddings": True,
        "attention_qk_norm": qk_norm,
        "fast_context_length": codebooks + 1,
        "fast_embedding_length": fdim,
        "fast_feed_forward_length": sizes["ffn"],
        "fast_block_count": fast_layers,
        "fast_head_count": sizes["heads"],
        "fast_head_count_kv": sizes["kv"],
        "fast_head_dim": sizes["hd"],
        "fast_rope_freq_base": 1e6,
        "fast_layer_norm_rms_eps": 1e-6,
        "fast_tie_word_embeddings": False,
        "fast_attention_qk_norm": fast_qk_norm,
        "fast_attention_qkv_bias": False,
        "fast_attention_o_bias": False,
        "fast_project_in": project_in,
    }
    return {"fish-speech." + k: v for k, v in slow.items()} | {"fish_speech." + k: v for k, v in rest.items()}


# Codec sizes: encoder width, decoder width, latent width, width of a head, of a code, layers, feed-forward
ENC, DEC, LATENT, HEAD, CODE, LAYERS, FFN = 2, 16, 32, 16, 8, 2, 64
ENCODER_RATES, DECODER_RATES, DOWNSAMPLE, RESIDUAL_SIZE, WINDOW = (2, 4, 8, 8), (8, 8, 4, 2), (2, 2), 64, 16


def _codec_keys(codebooks, codebook_size):
    quantizer = {
        "type": "downsample_residual_vector_quantize",
        "input_dim": LATENT,
        "codebook_dim": CODE,
        "residual_codebooks": codebooks - 1,
        "residual_codebook_size": RESIDUAL_SIZE,
        "semantic_codebook_size": codebook_size,
        "downsample_factor": DOWNSAMPLE,
    }
    rvq = {
        "window_size": WINDOW,
        "block_size": 2048,
        "n_layer": LAYERS,
        "n_head": LATENT // HEAD,
        "n_local_heads": -1,
        "head_dim": HEAD,
        "dim": LATENT,
        "feed_forward_length": FFN,
        "rope_freq_base": 1e4,
        "layer_norm_rms_eps": 1e-5,
    }
    keys = {
        "sample_rate": 44100,
        "hop_length": 512,
        "frame_length": 512,
        "encoder_dim": ENC,
        "decoder_dim": DEC,
        "latent_dim": LATENT,
        "encoder_rates": ENCODER_RATES,
        "decoder_rates": DECODER_RATES,
        "encoder_transformer_layers": (0, 0, 0, 2),
        "decoder_transformer_layers": (4, 0, 0, 0),
        "transformer.block_size": 8192,
        "transformer.n_local_heads": -1,
        "transformer.head_dim": HEAD,
        "transformer.rope_freq_base": 1e4,
        "transformer.layer_norm_rms_eps": 1e-5,
    }
    keys |= {"quantizer_" + k: v for k, v in quantizer.items()} | {"rvq_transformer." + k: v for k, v in rvq.items()}
    return {"fish_speech.codec." + k: v for k, v in keys.items()}


def _write_codec(w, root, codebooks, codebook_size):
    e, width = root + "encoder.block.", ENC
    w.conv(e + "0", width, 1, 7, 3.0)
    for i, rate in enumerate(ENCODER_RATES):
        block = f"{e}{i + 1}.block"
        for j in range(3):
            w.residual_unit(f"{block}.{j}", width)
        w.snake(f"{block}.3.alpha", width)
        w.conv(f"{block}.4", 2 * width, width, 2 * rate, 0.8)
        width *= 2
        if i == len(ENCODER_RATES) - 1:
            w.codec_transformer(f"{block}.5", width, 3 * width, 2)
    w.snake(f"{e}{len(ENCODER_RATES) + 1}.alpha", width)
    w.conv(f"{e}{len(ENCODER_RATES) + 2}", LATENT, width, 3)
    q = root + "quantizer."
    for i, factor in enumerate(DOWNSAMPLE):
        w.conv(f"{q}downsample.{i}.0", LATENT, LATENT, factor)
        w.convnext(f"{q}downsample.{i}.1", LATENT)
        w.transposed(f"{q}upsample.{i}.0", LATENT, LATENT, factor, factor)
        w.convnext(f"{q}upsample.{i}.1", LATENT)
    for part in ("pre_module", "post_module"):
        w.codec_transformer(q + part, LATENT, FFN, LAYERS)
    w.codebook(q + "semantic_quantizer.quantizers.0", codebook_size, 1.0)
    for i in range(codebooks - 1):
        w.codebook(f"{q}quantizer.quantizers.{i}", RESIDUAL_SIZE, 0.7 * 0.8**i)
    d, width = root + "decoder.model.", DEC
    w.conv(d + "0", width, LATENT, 7)
    for i, rate in enumerate(DECODER_RATES):
        block = f"{d}{i + 1}.block"
        w.snake(f"{block}.0.alpha", width)
        w.transposed(f"{block}.1", width, width // 2, 2 * rate, rate, 0.6)
        width //= 2
        for j in range(3):
            w.residual_unit(f"{block}.{j + 2}", width)
    w.snake(f"{d}{len(DECODER_RATES) + 1}.alpha", width)
    w.conv(f"{d}{len(DECODER_RATES) + 2}", 1, width, 7, 0.35, 0.01)


class _Writer:
    """Collects tensors; the gains keep activations of order one through the networks."""

    def __init__(self, kind, types, seed, drop):
        self.kind, self.types, self.drop = kind, types, drop
        self.rng = np.random.default_rng(seed)
        self.tensors = []

    def put(self, name, values, kind=GGMLQuantizationType.F16):
        if name not in self.drop:
            self.tensors.append((name, values.shape, kind, encode(values, kind, self.rng)))

    def normal(self, shape, std):
        return self.rng.standard_normal(shape, np.float32) * np.float32(std)

    def matrix(self, name, shape, std):
        kind = next((GGMLQuantizationType[t.upper()] for part, t in self.types.items() if part in name), self.kind)
        self.put(name, self.normal(shape, std), kind)

    def norm(self, name, n):
        self.put(name, 1 + self.normal((n,), 0.1))

    def block(self, stem, dim, *, ffn, heads, kv, hd, qk_norm):
        self.norm(stem + "attention_norm.weight", dim)
        self.norm(stem + "ffn_norm.weight", dim)
        self.matrix(stem + "attention.wqkv.weight", ((heads + 2 * kv) * hd, dim), 1.2 * dim**-0.5)
        self.matrix(stem + "attention.wo.weight", (dim, heads * hd), 0.35 * (heads * hd) ** -0.5)
        self.matrix(stem + "feed_forward.w1.weight", (ffn, dim), dim**-0.5)
        self.matrix(stem + "feed_forward.w3.weight", (ffn, dim), dim**-0.5)
        self.matrix(stem + "feed_forward.w2.weight", (dim, ffn), 0.6 * ffn**-0.5)
        if qk_norm:
            self.put(stem + "attention.q_norm.weight", 1.3 + self.normal((hd,), 0.2))
            self.put(stem + "attention.k_norm.weight", 1.3 + self.normal((hd,), 0.2))

    def small(self, name, n, std=0.05, mean=0.0):
        self.put(name, mean + self.normal((n,), std))

    def conv(self, stem, out, into, kernel, gain=1.0, bias=0.05):
        self.put(stem + ".conv.weight", self.normal((out, into, kernel), gain / (into * kernel) ** 0.5))
        self.small(stem + ".conv.bias", out, bias)

    def transposed(self, stem, into, out, kernel, stride, gain=1.0):
        self.put(stem + ".conv.weight", self.normal((into, out, kernel), gain / (into * kernel / stride) ** 0.5))
        self.small(stem + ".conv.bias", out)

    def snake(self, name, width):
        self.put(name, np.abs(1 + self.normal((1, width, 1), 0.4)) + 0.1)

    def residual_unit(self, stem, width):
        self.snake(stem + ".block.0.alpha", width)
        self.conv(stem + ".block.1", width, width, 7, 0.8)
        self.snake(stem + ".block.2.alpha", width)
        self.conv(stem + ".block.3", width, width, 1, 0.4)

    def convnext(self, stem, width):
        self.put(stem + ".dwconv.conv.weight", self.normal((width, 1, 7), 0.4))
        self.small(stem + ".dwconv.conv.bias", width)
        self.norm(stem + ".norm.weight", width)
        self.small(stem + ".norm.bias", width)
        for name, out, into in ((".pwconv1", 4 * width, width), (".pwconv2", width, 4 * width)):
            self.put(stem + name + ".weight", self.normal((out, into), into**-0.5))
            self.small(stem + name + ".bias", out)
        self.small(stem + ".gamma", width, 0.1, 0.4)

    def codec_transformer(self, stem, dim, ffn, layers):
        for i in range(layers):
            s = f"{stem}.layers.{i}."
            self.put(s + "attention.wqkv.weight", self.normal((3 * dim, dim), 1.3 * dim**-0.5))
            self.put(s + "attention.wo.weight", self.normal((dim, dim), dim**-0.5))
            self.put(s + "feed_forward.w1.weight", self.normal((ffn, dim), dim**-0.5))
            self.put(s + "feed_forward.w3.weight", self.normal((ffn, dim), dim**-0.5))
            self.put(s + "feed_forward.w2.weight", self.normal((dim, ffn), 1.5 * ffn**-0.5))
            self.norm(s + "ffn_norm.weight", dim)
            self.norm(s + "attention_norm.weight", dim)
            self.small(s + "attention_layer_scale.gamma", dim, 0.1, 0.4)
            self.small(s + "ffn_layer_scale.gamma", dim, 0.1, 0.4)
        self.norm(stem + ".norm.weight", dim)

    def codebook(self, stem, size, gain):
        self.put(stem + ".in_proj.weight", self.normal((CODE, LATENT, 1), LATENT**-0.5))
        self.small(stem + ".in_proj.bias", CODE)
        self.put(stem + ".out_proj.weight", self.normal((LATENT, CODE, 1), gain * CODE**-0.5))
        self.small(stem + ".out_proj.bias", LATENT, 0.02)
        self.put(stem + ".codebook.weight", self.normal((size, CODE), 1.0))
