"""How long a frame takes here and in mlx-audio: the same synthetic weights of S2 Pro's widths, one run, turn by turn.

    python tests/bench/compare_mlx_audio.py            # from a checkout in which s2mlx is installed; a few minutes

Installs mlx-audio from PyPI into a virtual environment of its own (`--venv` keeps it for the next time), writes a model
of few layers into a temporary folder, and lets a process of each engine make frames in turn. Prints a Markdown table.
Two stages, AR and codec, so that neither holds more than half of a model twice. On Linux both use MLX's CPU backend.

mlx-audio computes in the type of its weights; it gets them as float32, in which it is fastest on the CPU backend
(`--peer-dtype bfloat16` is what its own checkpoint has).
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

PROMPT = 32  # positions before the first frame, about what the peer's shortest prompt has


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--venv", type=Path, help="virtual environment of mlx-audio, made if it is not there")
    options.add_argument("--layers", type=int, default=2, help="of the Slow-AR (the real one has 36)")
    options.add_argument("--rounds", type=int, default=3, help="turns that each engine gets")
    options.add_argument("--frames", type=int, default=3, help="frames a turn")
    options.add_argument("--codec-frames", type=int, default=4, help="frames decoded at a time")
    options.add_argument("--peer-dtype", default="float32", choices=["float32", "float16", "bfloat16"])
    options.add_argument("--stages", default="ar,codec", help="ar, codec or both")
    options.add_argument("--s2cpp", type=Path, metavar="PATH", help="s2.cpp's command: a third column, AR and codec")
    args = options.parse_args()
    if args.s2cpp and args.stages != "ar,codec":
        options.error("--s2cpp needs both stages: s2.cpp tells only what they take together")
    with tempfile.TemporaryDirectory(prefix="s2mlx-compare-") as folder:
        peer = peer_python(args.venv or Path(folder) / "venv")
        from s2mlx.bench import synthetic

        model = synthetic.write_model(folder, synthetic.full(args.layers, "f16"))
        rows, notes = [], []
        for stage, works in (
            ("ar", {"ar": (f"AR, {args.layers} Slow-AR + 4 Fast-AR layers", args.frames)}),
            (
                "codec",
                {
                    "whole": (f"codec, {args.codec_frames} frames at once", args.codec_frames),
                    "stream": ("codec, streaming one frame", 1),
                },
            ),
        ):
            if stage not in args.stages.split(","):
                continue
            workers = [
                _Worker(python, side, stage, model, args.peer_dtype)
                for python, side in ((peer, "peer"), (Path(sys.executable), "ours"))
            ]
            for work, (title, frames) in works.items():
                rows.append((title, *_compare(workers, work, frames, args.rounds)))
            notes += [worker.close() for worker in workers]
        third = None
        if args.s2cpp:
            from s2cpp_peer import seconds_a_frame  # beside this file

            from s2mlx.weights.cores import physical_cores

            third = seconds_a_frame(args.s2cpp.resolve(), model, physical_cores(), 4, 4 + 4 * args.frames, args.rounds)
        print(_table(rows, notes, third))


def peer_python(folder: Path) -> Path:
    """The interpreter of an environment that has mlx-audio; installed now if the folder is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        print("installing mlx-audio ...", file=sys.stderr)
        venv.create(folder, with_pip=True)
        backend = ["mlx[cpu]"] if platform.system() == "Linux" else ["mlx"]
        subprocess.run([python, "-m", "pip", "install", "-q", "mlx-audio", *backend], check=True)
    return python


def _compare(workers, work: str, frames: int, rounds: int) -> list[list[tuple[float, float]]]:
    """(wall seconds, CPU seconds) a frame of each worker, turn by turn; the first turn, which warms up, is left out."""
    seconds = [[] for _ in workers]
    for turn in range(rounds + 1):
        for worker, taken in zip(workers, seconds):
            answer = worker.ask(work, frames)
            print(
                f"{work}, turn {turn}: {worker.side} {answer[0]:.3f} s a frame, {answer[1]:.3f} of CPU", file=sys.stderr
            )
            if turn:
                taken.append(answer)
    levels = [worker.level for worker in workers]
    if None not in levels and abs(levels[0] - levels[1]) > 0.01 * levels[0]:
        sys.exit(f"{work}: the same codes and weights gave different sound, of level {levels[0]} and {levels[1]}")
    return seconds


def _table(rows, notes, third=None) -> str:
    """third: s2.cpp's (wall, CPU) seconds a frame, AR and codec together; ours are the sums of two rows."""
    more = " s2.cpp | s2mlx / s2.cpp | of CPU time |" if third else ""
    lines = [
        f"| seconds a frame | mlx-audio {notes[0]['version']} | s2mlx | ratio | of CPU time |{more}",
        "|---|--:|--:|--:|--:|" + ("--:|--:|--:|" if third else ""),
    ]
    sums = [[0.0, 0.0], [0.0, 0.0]]
    for title, *both in rows:
        (peer, peer_cpu), (ours, our_cpu) = ([[turn[i] for turn in turns] for i in (0, 1)] for turns in both)
        middle = statistics.median
        cells = [f"{middle(s):.3f} ({min(s):.3f} to {max(s):.3f})" for s in (peer, ours)]
        ratios = middle(ours) / middle(peer), middle(our_cpu) / middle(peer_cpu)
        blank = " - | - | - |" if third else ""
        lines.append(f"| {title} | {cells[0]} | {cells[1]} | {ratios[0]:.3f} | {ratios[1]:.3f} |{blank}")
        if len(lines) <= 4:  # the AR, the codec at once
            sums = [[a + middle(b) for a, b in zip(*pair)] for pair in zip(sums, ((peer, peer_cpu), (ours, our_cpu)))]
    if third:
        (peer, peer_cpu), (ours, our_cpu) = sums
        wall, cpu = ([turn[i] for turn in third] for i in (0, 1))
        lines.append(
            f"| AR and codec | {peer:.3f} | {ours:.3f} | {ours / peer:.3f} | {our_cpu / peer_cpu:.3f} "
            f"| {middle(wall):.3f} ({min(wall):.3f} to {max(wall):.3f}) "
            f"| {ours / middle(wall):.3f} | {our_cpu / middle(cpu):.3f} |"
        )
    memory = ", ".join(f"{n['side']} {n['stage']} {n['memory'] / 1e9:.1f} GB" for n in notes)
    machine = f"MLX {notes[0]['mlx']} on {platform.machine()}, {os.cpu_count()} cores"
    return "\n".join([*lines, "", f"{machine}; peak memory: {memory}."])


class _Worker:
    """A process of one engine that makes frames when asked to."""

    def __init__(self, python: Path, side: str, stage: str, model: Path, dtype: str):
        self.side, self.level = side, None
        command = [str(python), __file__, "--worker", side, stage, str(model), dtype]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()

    def ask(self, work: str, frames: int) -> tuple[float, float]:
        """Wall and CPU seconds a frame."""
        self._tell({"work": work, "frames": frames})
        answer = self._answer()
        self.level = answer["level"]
        return answer["seconds"] / frames, answer["cpu"] / frames

    def close(self) -> dict:
        self._tell({"work": "end"})
        note = self._answer()
        self._process.wait()
        return note

    def _tell(self, message: dict) -> None:
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"the process of {self.side} ended (exit code {self._process.wait()})")
        return json.loads(line)


def serve(side: str, stage: str, model: str, dtype: str) -> None:
    """What a worker runs: loads its stage, then answers {work, frames} with {seconds, cpu, level of the sound}."""
    import resource

    replies, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not get among the answers
    reply = lambda message: print(json.dumps(message), file=replies, flush=True)
    load = {"peer": {"ar": peer_ar, "codec": peer_codec}, "ours": {"ar": our_ar, "codec": our_codec}}[side][stage]
    works = load(model, dtype)
    reply({"ready": True})
    while (message := json.loads(sys.stdin.readline()))["work"] != "end":
        began, cpu = time.perf_counter(), time.process_time()
        level = works[message["work"]](message["frames"])
        reply({"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu, "level": level})
    from importlib.metadata import version

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    reply(
        {
            "side": side,
            "stage": stage,
            "memory": peak,
            "mlx": version("mlx"),
            "version": version("mlx-audio" if side == "peer" else "s2mlx"),
        }
    )


def our_ar(model: str, dtype: str) -> dict:
    from s2mlx.bench.speed import prompt
    from s2mlx.layers.scope import Scope
    from s2mlx.networks.dual_ar import DualAR
    from s2mlx.networks.generate import Generation, generate
    from s2mlx.options import Sampling
    from s2mlx.weights import open_checkpoint

    with open_checkpoint(model) as checkpoint:
        dual_ar = DualAR(Scope(checkpoint.tensors), checkpoint.config, end_id=256)
    request = Generation(prompt(dual_ar, PROMPT), seed=1, max_frames=4096, min_frames=4096)
    frames = generate(dual_ar, request, Sampling(0.8, 0.8, 30))

    def ar(count):
        for _ in range(count):
            next(frames)

    return {"ar": ar}


def our_codec(model: str, dtype: str) -> dict:
    from s2mlx.codec import Codec
    from s2mlx.layers.scope import Scope
    from s2mlx.weights import open_checkpoint

    with open_checkpoint(model) as checkpoint:
        codec = Codec(Scope(checkpoint.tensors).within("c"), checkpoint.config.codec)
    stream = codec.stream()
    return {
        "whole": lambda count: _level(codec.decode(_codes(count))),
        "stream": lambda count: _level(stream.decode(_codes(count))),
    }


def peer_ar(model: str, dtype: str) -> dict:
    import mlx.core as mx
    from mlx_audio.tts.models.fish_qwen3_omni.config import FishTextConfig, ModelConfig
    from mlx_audio.tts.models.fish_qwen3_omni.fish_speech import Model
    from mlx_audio.tts.models.fish_qwen3_omni.prompt import Conversation

    weights = {
        f"model.{k}": v.astype(getattr(mx, dtype))
        for k, v in mx.load(model, format="gguf").items()
        if not k.startswith("c.")
    }
    layers = len([k for k in weights if k.startswith("model.layers.") and k.endswith("wo.weight")])
    config = ModelConfig(text_config=FishTextConfig(n_layer=layers))
    peer = Model(config)
    peer.load_weights(list(weights.items()), strict=True)
    mx.eval(peer.parameters())

    class Bytes:
        """Stands in for the tokenizer: a token per byte."""

        def encode(self, text):
            return list(text.encode())

        def get_token_id(self, name):
            return config.eos_token_id

    peer.tokenizer = Bytes()
    bias = mx.full((1, config.text_config.vocab_size), -1e9)
    bias[:, config.semantic_start_token_id : config.semantic_end_token_id + 1] = 0.0  # and the end is never drawn
    peer.semantic_logit_bias = bias
    frames = peer._iter_codes_for_batch(
        conversation=Conversation([]), batch_text="x" * 400, max_new_tokens=4096, top_p=0.8, top_k=30, temperature=0.8
    )

    def ar(count):
        for _ in range(count):
            mx.eval(next(frames))

    return {"ar": ar}


def peer_codec(model: str, dtype: str) -> dict:
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_audio.codec.models.fish_s1_dac import build_ae
    from mlx_audio.codec.models.fish_s1_dac.fish_s1_dac import _normalize_weight

    codec = build_ae()
    known, weights = dict(tree_flatten(codec.parameters())), {}
    for name, value in mx.load(model, format="gguf").items():
        if not name.startswith("c."):
            continue
        name, value = name[2:], value.astype(getattr(mx, dtype))
        stem = name.removesuffix(".weight").removesuffix(".bias").removesuffix(".conv")
        if f"{stem}.weight_v" not in known:
            weights[name] = value
        elif name.endswith(".bias"):
            weights[f"{stem}.bias"] = value
        else:  # weight norm of a kernel with its own norm is that kernel
            weights[f"{stem}.weight_v"], weights[f"{stem}.weight_g"] = value, _normalize_weight(value, except_dim=0)
    if unknown := set(weights) - set(known):
        sys.exit(f"mlx-audio's codec does not know {sorted(unknown)[:3]} ...")
    codec.load_weights(list(weights.items()), strict=False)
    mx.eval(codec.parameters())
    codec.fold_weight_norm()
    codec.reset_streaming_state()

    return {
        "whole": lambda count: _level(codec.decode(mx.array(_codes(count))[None], mx.array([count]))[0]),
        "stream": lambda count: _level(codec.streaming_step(mx.array(_codes(count))[None])),
    }


def _level(samples) -> float:
    """Root mean square; taking it waits for the samples."""
    import numpy as np

    return float(np.sqrt(np.mean(np.array(samples, np.float32) ** 2)))


def _codes(frames: int):
    import numpy as np

    return np.random.default_rng(1).integers(0, 1024, (10, frames)).astype(np.int32)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        serve(*sys.argv[2:])
    else:
        main()
