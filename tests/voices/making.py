"""Voices for tests of the library."""

import shutil

import numpy as np

from s2mlx.audio import write_audio
from s2mlx.voices import Voice
from tests.goldens import GOLDEN


def voice(seed=0, transcript="Some words.", frames=5):
    return Voice(np.random.default_rng(seed).integers(0, 256, (10, frames)), transcript, codebook_size=256)


def tree(folder):
    """What a user would see of a folder, relative, hidden things left out."""
    paths = [p.relative_to(folder) for p in folder.rglob("*")]
    return sorted(str(p) for p in paths if not any(part.startswith(".") for part in p.parts))


def drop(library, name):
    """What a user drops in: a voice and its clip."""
    library.folder.mkdir(exist_ok=True)
    shutil.copy(GOLDEN / "tiny.s2voice", library.folder / f"{name}.s2voice")
    write_audio(library.folder / f"{name}.flac", np.zeros(4410, np.float32), 44100)
