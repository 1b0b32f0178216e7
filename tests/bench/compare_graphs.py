"""What a frame of mlx-audio and one of ours are made of: both graphs counted by `s2mlx.bench.graph`, in one run.

    python -m tests.bench.compare_graphs [--venv FOLDER]      # from a checkout in which s2mlx is installed

All layers of S2 Pro at tiny widths, seen as a GPU would (`s2mlx.bench.pretend`): nothing is run. mlx-audio comes from
PyPI as in compare_mlx_audio.py, but is imported here, so that one MLX and one counter serve both. Its loop reads a
token back in the middle of a frame and adds to the graph from there; the whole frame is counted, without that wait.
"""

import argparse
import dataclasses
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mlx.core as mx

from s2mlx.bench import graph, pretend, synthetic
from s2mlx.config import ModelConfig
from s2mlx.layers.scope import Scope
from s2mlx.networks.dual_ar import DualAR
from s2mlx.weights import open_checkpoint

from .compare_mlx_audio import PROMPT, peer_python


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--venv", type=Path, help="virtual environment of mlx-audio, made if it is not there")
    options.add_argument("--type", default="q8_0", help="type of our matrices; mlx-audio's are dense")
    options.add_argument("--repeat", type=int, default=40, help="frames built for the host time")
    args = options.parse_args()
    shape = synthetic.skeleton(dataclasses.replace(ModelConfig(), codec=None), args.type)
    print("| frame of 36 + 9 x 4 layers | nodes | of them work | launches | host time |\n|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="s2mlx-compare-") as folder:
        with pretend.gpu(kernels=False) as made:
            _row("mlx-audio", _peer(args.venv or Path(folder) / "venv", shape.config), made, args.repeat)
        model = synthetic.write_model(folder, shape)
        for title, kernels in (("s2mlx, plain MLX", False), ("s2mlx, kernels", True)):
            with pretend.gpu(kernels) as made, open_checkpoint(model) as checkpoint:
                build = graph.frame_builder(DualAR(Scope(checkpoint.tensors), checkpoint.config, end_id=256))
                _row(f"{title} ({args.type})", lambda: _ours(build), made, args.repeat)


def _row(title, build, made, repeat) -> None:
    """build() -> the frame's arrays, unevaluated; `made` from `pretend`."""
    seconds = []
    for _ in range(repeat):
        began = time.thread_time()
        build()
        seconds.append(time.thread_time() - began)
    made.clear()
    found = graph.count(build(), made)
    print(
        f"| {title} | {found.nodes:,} | {found.work:,} | {found.launches:,} | "
        f"{1e3 * statistics.median(seconds):.1f} ms |",
        flush=True,
    )


def _ours(build) -> list[mx.array]:
    state, cache = build()
    return [*state.arrays, *graph.cache_arrays(cache)]


def _peer(venv: Path, config: ModelConfig):
    """-> build()."""
    find = "import sysconfig; print(sysconfig.get_path('purelib'))"
    sys.path.append(subprocess.check_output([peer_python(venv), "-c", find], text=True).strip())
    from mlx_audio.tts.models.fish_qwen3_omni import config as settings
    from mlx_audio.tts.models.fish_qwen3_omni import fish_speech

    slow = config.slow
    widths = dict(
        dim=slow.dim,
        intermediate_size=slow.ffn_dim,
        n_head=slow.heads,
        n_local_heads=slow.kv_heads,
        head_dim=slow.head_dim,
    )
    whole = settings.ModelConfig(
        text_config=settings.FishTextConfig(n_layer=slow.layers, **widths),
        audio_decoder_config=settings.FishAudioDecoderConfig(n_layer=config.fast.layers, text_dim=slow.dim, **widths),
    )
    net = fish_speech.Model(whole).model
    bias, begin = mx.zeros((1, whole.text_config.vocab_size)), whole.semantic_start_token_id
    mx.eval(net.parameters(), bias)

    mx.disable_compile()  # as in `graph.frame_builder`
    cache = net.make_cache()
    prompt = net(mx.zeros((1, 1 + net.num_codebooks, PROMPT), mx.int32), cache=cache)
    logits, hidden = prompt.logits[:, -1], prompt.hidden_states[:, -1]
    mx.eval(logits, hidden, [c.state for c in cache])
    mx.enable_compile()
    past = [(c.keys, c.values, c.offset) for c in cache]

    def draw(logits, temperature, top_p):
        return fish_speech._sample_logits(logits, temperature=temperature, top_p=top_p, top_k=30)

    def build():
        mx.random.seed(0)  # its generator would carry the graphs of all frames before
        for c, (keys, values, c.offset) in zip(cache, past):  # writing to a cache changes the array it holds
            c.keys, c.values = keys.reshape(keys.shape), values.reshape(values.shape)
        normal, hot = (draw(logits + bias, *how) for how in ((0.8, 0.8), (1.0, 0.9)))
        code = mx.clip((normal - begin).astype(mx.int32), 0, whole.audio_decoder_config.vocab_size - 1)
        codes, fast_cache = code[:, None], net.make_fast_cache()
        prefill = net.fast_forward_cached(hidden, fast_cache)
        x = net.fast_embeddings(code)
        for _ in range(net.num_codebooks - 1):
            code = draw(net.fast_forward_cached(x, fast_cache), 0.8, 0.8)
            codes = mx.concatenate([codes, code[:, None]], axis=1)
            x = net.fast_embeddings(code)
        column = mx.concatenate([normal[:, None].astype(mx.int32), codes], axis=1)
        following = net(column[:, :, None], cache=cache)
        return [
            following.logits[:, -1],
            following.hidden_states[:, -1],
            codes,
            hot,
            prefill,
            *(a for c in cache for a in (c.keys, c.values)),
        ]

    return build


if __name__ == "__main__":
    main()
