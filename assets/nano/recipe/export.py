"""Stage `export`: the trained networks as one GGUF file in the S2 layout: Q8_0 and f16."""

from dataclasses import replace

import gguf
import numpy as np
import torch

from . import config, own_keys, speakers
from .make_tokenizer import CONTROL, SEMANTIC, SPARE, vocabulary
from .nets.codec import Codec, CodecSizes
from .nets.dual_ar import ARSizes, DualAR

QUANTIZED = (
    "wqkv.weight",
    "wo.weight",
    "w1.weight",
    "w2.weight",
    "w3.weight",
    "fast_output.weight",
    "embeddings.weight",
)


def metadata(w, ar, codec):
    vocab = vocabulary()
    u, f, b, i32 = w.add_uint32, w.add_float32, w.add_bool, w.add_int32
    w.add_name("S2-nano")
    w.add_basename("s2-nano")
    w.add_license("Apache-2.0")
    w.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    p = "fish-speech."
    for name, value in dict(
        context_length=ar.context,
        embedding_length=ar.dim,
        feed_forward_length=ar.ffn,
        block_count=ar.layers,
        vocab_size=ar.vocab,
    ).items():
        u(p + name, value)
    u(p + "attention.head_count", ar.heads)
    u(p + "attention.head_count_kv", ar.kv_heads)
    f(p + "rope.freq_base", ar.rope_base)
    f(p + "attention.layer_norm_rms_epsilon", ar.eps)
    p = "fish_speech."
    w.add_string(p + "model_type", "dual_ar")
    for name, value in dict(
        codebook_size=ar.codebook_size,
        num_codebooks=ar.codebooks,
        semantic_begin_id=ar.semantic_begin,
        semantic_end_id=ar.semantic_end,
        audio_pad_token_id=vocab["<|audio_pad|>"],
        fast_context_length=ar.codebooks + 1,
        fast_embedding_length=ar.fast_dim,
        fast_feed_forward_length=ar.fast_ffn,
        fast_block_count=ar.fast_layers,
        fast_head_count=ar.fast_heads,
        fast_head_count_kv=ar.fast_kv_heads,
        fast_head_dim=ar.fast_head_dim,
    ).items():
        u(p + name, value)
    for name, value in dict(
        scale_codebook_embeddings=True,
        norm_fastlayer_input=True,
        tie_word_embeddings=True,
        attention_qk_norm=True,
        fast_tie_word_embeddings=False,
        fast_attention_qk_norm=False,
        fast_attention_qkv_bias=False,
        fast_attention_o_bias=False,
        fast_project_in=ar.fast_project_in,
    ).items():
        b(p + name, value)
    f(p + "fast_rope_freq_base", ar.rope_base)
    f(p + "fast_layer_norm_rms_eps", ar.eps)
    c = p + "codec."
    for name, value in dict(
        sample_rate=codec.sample_rate,
        hop_length=codec.hop,
        frame_length=codec.hop,
        encoder_dim=codec.encoder_dim,
        decoder_dim=codec.decoder_dim,
        latent_dim=codec.latent,
        quantizer_input_dim=codec.latent,
        quantizer_codebook_dim=codec.code_dim,
        quantizer_residual_codebooks=codec.books,
        quantizer_residual_codebook_size=codec.residual,
        quantizer_semantic_codebook_size=codec.semantic,
    ).items():
        u(c + name, value)
    w.add_array(c + "encoder_rates", list(codec.encoder_rates))
    w.add_array(c + "decoder_rates", list(codec.decoder_rates))
    w.add_array(c + "encoder_transformer_layers", list(codec.encoder_layers))
    w.add_array(c + "decoder_transformer_layers", [0] * len(codec.decoder_rates))
    w.add_array(c + "quantizer_downsample_factor", list(codec.downsample))
    w.add_string(c + "quantizer_type", "downsample_residual_vector_quantize")
    t = c + "transformer."
    u(t + "block_size", 8192)
    i32(t + "n_local_heads", -1)
    u(t + "head_dim", codec.head_dim)
    f(t + "rope_freq_base", 1e4)
    f(t + "layer_norm_rms_eps", 1e-5)
    r = c + "rvq_transformer."
    for name, value in dict(
        window_size=codec.window,
        block_size=2048,
        n_layer=codec.layers,
        n_head=codec.latent // codec.head_dim,
        head_dim=codec.head_dim,
        dim=codec.latent,
        feed_forward_length=codec.ffn,
    ).items():
        u(r + name, value)
    i32(r + "n_local_heads", -1)
    f(r + "rope_freq_base", 1e4)
    f(r + "layer_norm_rms_eps", 1e-5)
    own_keys.add(w)


def write(path, ar, codec):
    """ar: DualAR, codec: Codec, both trained."""
    w = gguf.GGUFWriter(str(path), "fish-speech")
    metadata(w, ar.sizes, codec.sizes)
    for name, tensor in ar.state_dict().items():
        x = tensor.float().numpy()
        if name.endswith(QUANTIZED):
            kind = gguf.GGMLQuantizationType.Q8_0
            w.add_tensor(name, gguf.quants.quantize(x, kind), raw_dtype=kind)
        else:
            w.add_tensor(name, x.astype(np.float16))
    for name, tensor in codec.state_dict().items():
        w.add_tensor("c." + name, tensor.float().numpy().astype(np.float16))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def load():
    """The latest checkpoints -> (DualAR, Codec); the encoder's if it has been trained."""
    state = torch.load(config.work("ar.pt"), weights_only=False)
    ar = DualAR(ARSizes(**state["sizes"]))
    ar.load_state_dict(state["model"])
    parts = torch.load(config.work("decoder.pt"), weights_only=False)
    weights = parts["codec"]
    if config.work("encoder.pt").exists():
        listening = torch.load(config.work("encoder.pt"), weights_only=False)
        weights = {**weights, **listening["parts"]}
    codec = Codec(CodecSizes(**parts["sizes"]))
    codec.load_state_dict(weights, strict=False)
    voices = codec.quantizer.books()[1].codebook.weight  # equal rows: the search finds the first, a speaker's own
    voices.data.copy_(voices.data[torch.arange(len(voices)) % speakers.COUNT])
    return ar.eval(), codec.eval()


def more(rows, last):
    """rows [n, D] -> [n + SPARE, D], all new ones like `last`"""
    return torch.cat([rows, last.expand(SPARE, -1)])


@torch.no_grad()
def with_spare(ar, codec):
    """The same networks with SPARE codes more, which are never chosen: their logits are those of a token that was never
    right, and the encoder's search finds the entry they repeat before them."""
    sizes, state = ar.sizes, ar.state_dict()
    larger = DualAR(replace(sizes, vocab=sizes.vocab + SPARE, codebook_size=SEMANTIC + SPARE))
    for name in ("fast_embeddings.weight", "fast_output.weight"):
        state[name] = more(state[name], state[name][-1])
    state["embeddings.weight"] = more(state["embeddings.weight"], state["embeddings.weight"][CONTROL.index("<|pad|>")])
    books = state["codebook_embeddings.weight"].split(SEMANTIC)
    state["codebook_embeddings.weight"] = torch.cat([more(book, book[-1]) for book in books])
    larger.load_state_dict(state)

    state = codec.state_dict()
    listener = Codec(replace(codec.sizes, semantic=SEMANTIC + SPARE))
    name = "quantizer.semantic_quantizer.quantizers.0.codebook.weight"
    state[name] = more(state[name], state[name][0])
    listener.load_state_dict(state)
    return larger.eval(), listener.eval()


def run():
    path = config.work("s2-nano.gguf")
    write(path, *with_spare(*load()))
    config.note("export", bytes=path.stat().st_size)


if __name__ == "__main__":
    run()
