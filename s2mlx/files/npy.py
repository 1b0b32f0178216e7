"""Frames as a file: .npy, int32 [num_codebooks, frames]."""

from __future__ import annotations

import io

import numpy as np


def npy_bytes(codes) -> bytes:
    """The bytes of the file."""
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(codes, dtype=np.int32), allow_pickle=False)
    return file.getvalue()
