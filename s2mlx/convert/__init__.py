"""Model files of another type or kind. `convert` is the door.

    source        what is converted: its tensors, its keys, its companions
    types         which type each tensor gets
    encode        a tensor's bytes in that type, piece by piece; kquants the K-quants, fitting their search
    as_gguf       the result as a GGUF file, gguf_writer the container
    as_folder     the result as a folder in MLX's layout, safetensors_writer the container
    output        results that appear whole or not at all; place the steps that put them there

Tensors are read from the mapped file and written one after the other: a model of any size takes little memory.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Plan as Plan

ENDING = ".gguf"


_OTHER_FILES = (".bin", ".ckpt", ".ggml", ".npz", ".onnx", ".pt", ".pth", ".safetensors", ".zip")


@dataclass(frozen=True)
class Converted:
    """path: the result; nbytes: its size; plan: see `types`. is_s2_pro: whether the weights have S2 Pro's licence."""

    path: Path
    nbytes: int
    plan: Plan
    is_s2_pro: bool


def convert(
    source,
    target,
    type: str = "q8_0",
    *,
    force: bool = False,
    on_plan: Callable = lambda plan: None,
    on_progress: Callable = lambda done, total: None,
    hold: Callable = nullcontext,
) -> Converted:
    """Write the model at `source` (GGUF file or checkpoint folder) to `target`: a name that ends in .gguf makes a GGUF
    file, any other a folder in MLX's layout.

    on_plan: hears what will be done before anything is written. on_progress(bytes read, bytes in all): it may raise to
    end the work; then nothing is left behind. hold: a context in which signals wait, for putting the result in place.
    Raises `S2Error` with one line for whatever cannot be done.
    """
    from ..errors import UsageError
    from .as_folder import write_folder
    from .as_gguf import write_gguf
    from .source import Source
    from .types import check_type

    check_type(type)
    target = Path(target)
    if _is_mistaken(target.suffix.lower()):
        raise UsageError(f"{target}: the name of a GGUF file ends in {ENDING}, that of a folder in nothing")
    write = write_gguf if target.suffix.lower() == ENDING else write_folder
    return write(Source(source), target, type, force, on_plan, on_progress, hold)


def _is_mistaken(ending: str) -> bool:
    """Whether it says that a file was meant: another kind's, or .gguf misspelt. Folders' names may have dots."""
    return ending in _OTHER_FILES or ending != ENDING and difflib.SequenceMatcher(None, ending, ENDING).ratio() > 0.75
