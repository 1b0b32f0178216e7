"""A GGUF model in several files, as `llama-gguf-split` makes them: NAME-00001-of-00003.gguf and so on, read as one.

The first part has the model's keys; every part has `split.no` (from 0), `split.count` and `split.tensors.count` (of all
parts together), and some of the tensors, perhaps none.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelError
from .gguf_file import GGUFFile
from .part_names import MOST_PARTS, parts_of
from .tensor import Tensor

_NO, _COUNT, _TENSORS = _KEYS = ("split.no", "split.count", "split.tensors.count")


class SplitGGUF:
    """The parts of one model with the face of one `GGUFFile`: metadata, raw_keys (without the split's), tensors."""

    def __init__(self, parts: list[GGUFFile]):
        first = parts[0]
        self.file, self.version = first.file, first.version
        self.metadata = {key: value for key, value in first.metadata.items() if key not in _KEYS}
        self.raw_keys = {key: raw for key, raw in first.raw_keys.items() if key not in _KEYS}
        self.tensors: dict[str, Tensor] = {}
        for part in parts:
            for name, tensor in part.tensors.items():
                if name in self.tensors:
                    raise ModelError(f"{part.file.path}: tensor {name!r} is in another part as well")
                self.tensors[name] = tensor
        announced = first.metadata.get(_TENSORS, len(self.tensors))
        if announced != len(self.tensors):
            raise ModelError(
                f"{first.file.path}: its parts hold {len(self.tensors)} tensors, {announced!r:.20} are announced; "
                "download them again"
            )


def read_gguf(path) -> GGUFFile | SplitGGUF:
    """The file at `path`; of a part (any of them) the whole model, whose parts lie beside each other. Raises
    `ModelError`, which names a part that is missing."""
    file = GGUFFile(path)
    count = file.metadata.get(_COUNT, 0)
    if type(count) is not int or not 0 <= count <= MOST_PARTS:
        raise ModelError(f"{path}: key {_COUNT!r} is {count!r:.40}; 0 to {MOST_PARTS} is possible")
    if count < 2:  # merged again, or never split
        return file
    paths = parts_of(path)
    if len(paths) != count:
        raise ModelError(
            f"{path}: one of {count} parts of a model, but its name does not end in -00001-of-{count:05}.gguf or "
            "another part's number; give all parts their names back"
        )
    return SplitGGUF([_part(part, number, count, paths) for number, part in enumerate(paths)])


def _part(path: Path, number: int, count: int, paths: list[Path]) -> GGUFFile:
    missing = [p.name for p in paths if not p.exists()]
    if missing:
        others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise ModelError(f"{path.parent}: part {missing[0]}{others} of the model is missing; put it beside the others")
    part = GGUFFile(path)
    if (part.metadata.get(_NO), part.metadata.get(_COUNT)) != (number, count):
        raise ModelError(f"{path}: not part {number + 1} of {count}, as its name says; download it again")
    return part
