"""Takes as version 0.1 kept them, samples and notes in a file each: take.npy and take.json, recording.f32 and
recording.json."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from s2mlx.errors import S2Error

from .broken import Damaged
from .json_files import read_bytes, read_table
from .take_file import LARGEST, UnsavedTake, checked

if TYPE_CHECKING:
    import numpy as np

SAMPLES = ("take.npy", "recording.f32")


def older_files(folder: Path) -> list[tuple[Path, Path]]:
    """(samples, notes) of what is there."""
    return [(path, path.with_suffix(".json")) for path in map(folder.joinpath, SAMPLES) if path.exists()]


def read_older(samples: Path, notes: Path) -> UnsavedTake | None:
    """None where nothing was recorded yet. Raises Damaged."""
    table = read_table(notes)
    if table is None:
        raise Damaged(f"{notes.name} is missing")
    return checked(_sound(samples), table, None)


def _sound(path: Path) -> np.ndarray:
    import numpy as np

    if path.suffix != ".npy":
        data = read_bytes(path, LARGEST) or b""
        return np.frombuffer(data, "<f4", len(data) // 4)
    try:
        from s2mlx.files import read_npy

        sound = read_npy(path)
    except S2Error as fault:
        raise Damaged(str(fault)) from None
    if sound.ndim != 1 or sound.dtype != np.float32:
        raise Damaged("it holds no sound")
    return sound
