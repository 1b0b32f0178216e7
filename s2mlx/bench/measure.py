"""Everything the bench has to say about one model, as one dictionary of numbers, strings and dictionaries.

Times are seconds, as {median, low, high, tries}; sizes are bytes; bandwidths are bytes per second.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlx.core as mx

from .. import device
from ..config import SLOW_AR, ModelConfig
from ..errors import UsageError
from ..layers.reached import compiled_kinds
from ..layers.scope import Scope
from ..networks.dual_ar import DualAR
from ..networks.load import Model, load_model
from ..weights import open_checkpoint
from . import buffers, endurance, first_audio, graph, machine, matrices, pretend, speed, synthetic

_FULL_LAYERS = 36  # of S2 Pro's Slow-AR


def measure(
    path: Path,
    *,
    tokenizer=None,
    compat: str | None = None,
    memory_limit: int | None = None,
    frames: int = 8,
    positions: int = 64,
    batches: tuple[int, ...] = (),
    minutes: int = 0,
    progress: Callable[[str], None] = lambda what: None,
) -> dict:
    """Measure the model at `path`: `frames` frames after prompts of `positions` positions, alone and in `batches` of
    several sequences, and a stream of `minutes` of speech. Holds one copy of the model at a time. Raises what loading
    raises, and UsageError when that many positions do not fit."""
    with open_checkpoint(path) as checkpoint:
        check_room(checkpoint.config, positions, frames)
    result: dict[str, Any] = {"path": str(path)}
    progress("time to first audio, in a process of its own")
    result["first_audio"] = first_audio.measure(path, tokenizer=tokenizer, compat=compat, memory_limit=memory_limit)
    if minutes:
        result["stream"] = endurance.measure(
            path, minutes, tokenizer=tokenizer, compat=compat, memory_limit=memory_limit, progress=progress
        )
    if device.kernels_available():
        progress("command buffers")
        result["buffers"] = buffers.measure(
            path,
            frames=frames,
            positions=positions,
            tokenizer=tokenizer,
            compat=compat,
            memory_limit=memory_limit,
        )
    progress("memory bandwidth")
    bandwidth = result["bandwidth"] = machine.measure_bandwidth()
    progress("loading")
    model = load_model(Path(path), tokenizer, compat, memory_limit)
    config, dual_ar, (slow, _) = model.config, model.dual_ar, model.config.transformers
    mx.reset_peak_memory()
    result |= {"name": config.name, "positions": positions, "layers": slow.layers, "way": way(model)}

    progress("prefill")
    result["prefill_position"] = plain(speed.prefill(dual_ar, positions) / positions)
    progress("frames")
    times, synchronisations = speed.frames(dual_ar, positions, frames)
    result["frame"] = plain(times)
    result["parts"] = {name: plain(t) for name, t in speed.parts(dual_ar, positions, frames).items()}
    progress("codec")
    codec = speed.codec(model.codec)
    result["codec"] = {str(size): plain(t) for size, t in codec.items()}
    frame_seconds = model.codec_config.frame_samples / model.codec_config.sample_rate
    result["frame_audio"] = frame_seconds
    steady = codec[max(codec)].median
    result["rtf"] = (times.median + steady) / frame_seconds

    reads = matrices.frame_reads(dual_ar)
    reads["kv"] = dual_ar.kv_bytes(positions)  # of one sequence
    total = sum(reads.values())
    result["reads"] = reads | {"total": total, "bound": total / bandwidth}
    cut = slow.layers < _FULL_LAYERS and slow.dim == SLOW_AR.dim
    if cut:
        result["extrapolated"] = extrapolated(result, steady)
    if batches:
        result["batches"] = {}
        for size in batches:
            progress(f"batch of {size}")
            result["batches"][str(size)] = plain(speed.batch(dual_ar, positions, frames, size))
    result["memory"] = {"peak": mx.get_peak_memory() + model.host_bytes}
    progress("graph")
    result["graph"] = counted(dual_ar, _FULL_LAYERS if cut else slow.layers)
    result["graph"]["synchronisations"] = synchronisations
    return result


def check_room(config: ModelConfig, positions: int, frames: int) -> None:
    """UsageError unless a prompt and the frames after it, with those that warm up, fit into the model's context."""
    needed = positions + frames + speed.WARM_UP
    if needed > config.context_length:
        raise UsageError(
            f"a prompt of {positions} positions and {frames} frames to time take {needed} positions, and "
            f"{config.name} has {config.context_length}: make one of them smaller"
        )


def plain(times: speed.Times) -> dict:
    return dataclasses.asdict(times)


def way(model: Model) -> dict:
    """Which way the engine takes here: device, kernels or plain MLX, form of the matrices."""
    gpu = device.on_gpu()
    info = mx.device_info() if gpu else {}
    if device.kernels_available():
        why = "Metal kernels"
    elif not device.kernels_wanted():
        why = "plain MLX: S2MLX_KERNELS is off"
    else:
        why = "machine code for blocks" if compiled_kinds(model.dual_ar) else "plain MLX"
        why += ": no Metal" if not mx.metal.is_available() else ": the CPU is the device in use"
    return {
        "device": "gpu" if gpu else "cpu",
        "device_name": info.get("device_name", "CPU"),
        "mlx": version("mlx"),
        "kernels": device.kernels_available(),
        "path": why,
        "forms": {"slow": matrices.forms(model.dual_ar.slow), "fast": matrices.forms(model.dual_ar.fast)},
    }


def extrapolated(result: dict, codec: float) -> dict:
    """What a Slow-AR of all 36 layers would take, if every layer takes what each of these takes: the same bytes from
    memory, none from caches, and everything outside the layers as measured."""
    more = _FULL_LAYERS / result["layers"]
    layers = result["parts"]["slow"]["median"] * (more - 1)
    frame = result["frame"]["median"] + layers
    reads = result["reads"]["total"] + (result["reads"]["slow"] + result["reads"]["kv"]) * (more - 1)
    return {
        "layers": _FULL_LAYERS,
        "frame": frame,
        "reads": reads,
        "bound": reads / result["bandwidth"],
        "rtf": (frame + codec) / result["frame_audio"],
    }


def counted(model: DualAR, layers: int) -> dict:
    """Nodes, launches and host seconds of a frame's graph: of this model on a GPU; elsewhere of a skeleton of it with
    so many layers in the Slow-AR, at tiny widths, as a GPU would get it, without and with kernels."""
    if device.on_gpu():
        return {"of": "this model", ("kernels" if device.kernels_available() else "plain"): _describe(model, None)}
    with tempfile.TemporaryDirectory() as folder:
        slow, fast = model.config.transformers
        config = dataclasses.replace(model.config, slow=dataclasses.replace(slow, layers=layers), codec=None)
        path = synthetic.write_model(folder, synthetic.skeleton(config))
        result: dict[str, Any] = {"of": f"a skeleton: {layers} + {fast.layers} layers, tiny widths, q8_0, as on a GPU"}
        for name, with_kernels in (("plain", False), ("kernels", True)):
            with pretend.gpu(with_kernels) as made, open_checkpoint(path) as checkpoint:
                cache_dtype = mx.float16 if with_kernels else mx.float32  # as `load_model` chooses
                result[name] = _describe(
                    DualAR(Scope(checkpoint.tensors), checkpoint.config, end_id=256, cache_dtype=cache_dtype), made
                )
    return result


def _describe(model: DualAR, made) -> dict:
    found = graph.frame(model, names=made)
    host = speed.Times.of(graph.host_seconds(model))
    return {
        "nodes": found.nodes,
        "work": found.work,
        "launches": found.launches,
        "host": plain(host),
        "kinds": dict(found.kinds.most_common()),
    }
