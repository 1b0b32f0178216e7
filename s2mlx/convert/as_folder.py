"""A model -> a folder in MLX's layout: config.json, model.safetensors, codec.safetensors, tokenizer.json.

Matrices are packed as `mx.quantized_matmul` reads them: integers in uint32 words, a float16 scale and bias for each
group of 32. They are those of ggml's blocks Q8_0, Q5_1 and Q4_1, so the same model as a GGUF file has the same weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import mlx.core as mx
import numpy as np
from gguf.constants import GGMLQuantizationType

from ..errors import ModelError, UsageError
from ..weights import affine
from ..weights.facts import is_s2_pro
from ..weights.official import MAX_JSON, config_json
from ..weights.packed import OWN
from . import Converted
from .encode import Pieces, Progress, workers
from .output import Output, synced
from .safetensors_writer import header
from .source import PAPERS, Source
from .types import Plan, TensorPlan, check_worth, plan

_T = GGMLQuantizationType
PACKED = (_T.Q8_0, _T.Q5_1, _T.Q4_1)
TYPES = ("f32", "f16", "bf16", *(kind.name.lower() for kind in PACKED))
MODEL, CODEC, CONFIG, TOKENIZER = "model.safetensors", "codec.safetensors", "config.json", "tokenizer.json"
NAMES = (MODEL, CODEC, CONFIG, TOKENIZER, *PAPERS)  # all that a folder made of any source can hold


def write_folder(source: Source, target: Path, type: str, force: bool, on_plan, on_progress, hold) -> Converted:
    """See `convert`."""
    if type not in TYPES:
        raise UsageError(
            f"an MLX folder holds {', '.join(TYPES)}, not {type}; a name that ends in .gguf makes a GGUF "
            "file of any type"
        )
    made = plan(source.checkpoint, type, fits=lambda kind: kind in PACKED)
    if not source.gguf:
        check_worth(source, made)
    tokenizer, made = source.tokenizer(made)
    small = source.papers() | tokenizer
    small[CONFIG] = _json(source, _config(source, made))
    output = Output(target, source=source.path, files=NAMES, force=force)
    files = {
        name: tensors
        for name, tensors in (
            (MODEL, [planned for planned in made.tensors if not _of_codec(planned)]),
            (CODEC, [planned for planned in made.tensors if _of_codec(planned)]),
        )
        if tensors
    }
    heads = {name: header(part for planned in tensors for part in _parts(planned)) for name, tensors in files.items()}
    total = sum(len(head) + size for head, size in heads.values()) + sum(map(len, small.values()))
    output.check_space(total)
    on_plan(made)
    progress = Progress(made.source_bytes, on_progress)
    with output, workers() as pool:
        for name, tensors in files.items():
            with open(output.folder / name, "xb") as file:
                file.write(heads[name][0])
                pieces = Pieces(tensors, pool)
                for planned in tensors:
                    _write(file, planned, pieces.of(planned), progress)
                assert file.tell() == len(heads[name][0]) + heads[name][1], name
                synced(file)
        for name, data in small.items():
            with open(output.folder / name, "xb") as file:
                file.write(data)
                synced(file)
        with hold():
            output.commit()
    return Converted(target, total, made, is_s2_pro(source.config))


def _of_codec(planned: TensorPlan) -> bool:
    return planned.name.startswith("c.")


def _module(planned: TensorPlan) -> str:
    """Its place in MLX's tree of modules."""
    return planned.name.removeprefix("c.") if _of_codec(planned) else "model." + planned.name


def _parts(planned: TensorPlan) -> list[tuple[str, str, tuple[int, ...]]]:
    """Name, type and shape of the tensors that a planned becomes."""
    name, shape = _module(planned), planned.tensor.shape
    if planned.kind not in PACKED:
        return [(name, planned.kind.name, shape)]
    stem, (rows, columns) = name.removesuffix(".weight"), shape
    groups = rows, columns // affine.GROUP
    return [
        (stem + ".weight", "U32", (rows, columns * affine.BITS[planned.kind] // 32)),
        (stem + ".scales", "F16", groups),
        (stem + ".biases", "F16", groups),
    ]


def _write(file, planned: TensorPlan, pieces: Iterator, progress) -> None:
    """A packed tensor's words as they come; its scales and biases, an eighth of it or less, when they are all there."""
    scales, biases = [], []
    for part, read in pieces:
        if planned.kind in PACKED:
            words, scale, offset = affine.pack(mx.array(part), planned.kind)
            scales.append(np.array(scale).astype(np.float16))
            biases.append(np.array(offset).astype(np.float16))
            part = np.array(words)
        file.write(np.ascontiguousarray(part))
        progress.add(read)
    for part in scales + biases:
        file.write(part)


def _config(source: Source, made: Plan) -> dict:
    """The source's config.json, if it has one; the sizes; how the matrices are packed."""
    ours = config_json(source.plain_keys())
    config = source.config_json()
    slow, _ = source.config.transformers
    ours["text_config"]["head_dim"] = slow.head_dim
    ours["audio_decoder_config"] |= {"max_seq_len": source.config.num_codebooks + 1, "text_dim": slow.dim}
    for key, x in ours.items():
        both = isinstance(x, dict) and isinstance(config.get(key), dict) and key != OWN
        config[key] = config[key] | x if both else x
    bits = {
        _module(planned).removesuffix(".weight"): affine.BITS[planned.kind]
        for planned in made.tensors
        if planned.kind in PACKED
    }
    if bits:
        packing = lambda n: {"group_size": affine.GROUP, "bits": n}
        usual = max(set(bits.values()), key=list(bits.values()).count)
        others = {name: packing(n) for name, n in bits.items() if n != usual}
        config["quantization"] = packing(usual) | others
        config[OWN]["symmetric"] = True  # the biases of 8 bits are -128 scales: readers need not look
    return config


def _json(source: Source, config: dict) -> bytes:
    """A config.json that can be read again."""
    try:
        text = json.dumps(config, indent=2).encode()
    except RecursionError:
        raise ModelError(f"{source.path}: its config.json is nested too deeply") from None
    if len(text) > MAX_JSON:
        raise ModelError(f"{source.path}: its metadata take {len(text) >> 20} MiB as config.json, more than is read")
    return text
