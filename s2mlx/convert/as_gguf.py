"""A model -> one GGUF file in s2.cpp's layout, its tokenizer beside it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from gguf.constants import GGML_QUANT_VERSION, GGMLQuantizationType, LlamaFileType

from ..errors import ModelError, UsageError
from ..weights.block_formats import FLOATS
from ..weights.facts import is_s2_pro
from ..weights.gguf_file import MAX_HEADER
from . import Converted
from .encode import Pieces, Progress, workers
from .gguf_writer import header, padding, value
from .output import Output
from .source import Source
from .types import Plan, check_worth, plan

_L = LlamaFileType
_FILE_TYPES = {"f32": _L.ALL_F32, "q3_k": _L.MOSTLY_Q3_K_S, "q4_k": _L.MOSTLY_Q4_K_S, "q5_k": _L.MOSTLY_Q5_K_S}


def write_gguf(source: Source, target: Path, type: str, force: bool, on_plan, on_progress, hold) -> Converted:
    """See `convert`."""
    made = plan(source.checkpoint, type)
    if source.gguf:
        check_worth(source, made)
    tokenizer, made = source.tokenizer(made)
    if source.is_part(target):
        raise UsageError(f"{target} is a part of the source; choose another name")
    output = Output(target, source=source.path, force=force, beside=tokenizer)
    head = _header(source, made)
    total = len(head) + sum(planned.nbytes + padding(planned.nbytes) for planned in made.tensors)
    output.check_space(total)
    on_plan(made)
    with output, workers() as pool:
        output.file.write(head)
        _write_tensors(output.file, made, pool, on_progress)
        output.sync()
        with hold():
            output.commit()
    return Converted(target, total, made, is_s2_pro(source.config))


def _header(source: Source, made: Plan) -> bytes:
    """Everything before the data, in a form that can be read again."""
    tensors = [(planned.name, planned.tensor.shape, planned.kind, planned.nbytes) for planned in made.tensors]
    try:
        head = header(keys(source, made), tensors)
    except (struct.error, OverflowError, UnicodeEncodeError) as fault:
        raise ModelError(f"{source.path}: its metadata have no place in a GGUF file: {fault}") from None
    if len(head) > MAX_HEADER:
        raise ModelError(f"{source.path}: its metadata take {len(head) >> 20} MiB, more than a GGUF file is read with")
    return head


def keys(source: Source, made: Plan) -> dict[str, bytes]:
    """The source's metadata, and what tells the types of the file."""
    return source.keys() | type_keys(made.type, (planned.kind for planned in made.tensors))


def type_keys(type: str, kinds: Iterable[GGMLQuantizationType]) -> dict[str, bytes]:
    """What tells the types of a file whose tensors are of `kinds`."""
    found = {"general.file_type": value(int(file_type(type)))}
    if any(kind not in FLOATS for kind in kinds):
        found["general.quantization_version"] = value(GGML_QUANT_VERSION)
    return found


def file_type(type: str) -> LlamaFileType:
    """What files of one type, or one mix, call themselves."""
    return _FILE_TYPES[type] if type in _FILE_TYPES else LlamaFileType["MOSTLY_" + type.upper()]


def _write_tensors(file, made: Plan, pool, on_progress) -> None:
    progress = Progress(made.source_bytes, on_progress)
    pieces = Pieces(made.tensors, pool)
    for planned in made.tensors:
        written = 0
        for part, read in pieces.of(planned):
            written += file.write(part)
            progress.add(read)
        assert written == planned.nbytes, (planned.name, written)
        file.write(bytes(padding(written)))
