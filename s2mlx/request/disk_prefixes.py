"""Prefilled voices on the disk: keys and values of a prompt's beginning, for the next process that speaks so.

A key is made of all that the numbers follow from: the model's file, the prompt's columns (so the voice and what the
tokenizer makes of its words), our version and MLX's, compat, and the way that is computed here. 147 KB a position for
S2 Pro in half precision.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

from .. import __version__, device
from ..errors import S2Error
from ..files import KeptFiles, kept_prefixes
from ..layers.cache import KVCache
from ..networks.load import Model
from ..text.tokenizer import find_tokenizer
from ..weights import compiled, cores, parts_of
from ..weights.storage import machine_memory

FORMAT = 2
LEAST = 64  # positions; fewer are read faster than a file
_DTYPES = {"float16": (mx.float16, np.float16), "float32": (mx.float32, np.float32)}
_PIECES, _PIECE = 64, 1 << 16  # of a large file, spread over it: reading all of 5 GB would take longer than a prefill


class DiskPrefixes:
    """kept: the folder. model: of all that is the same for every prompt."""

    def __init__(self, kept: KeptFiles, model: str, layers: int, kv_heads: int, head_dim: int, dtype: mx.Dtype):
        self._kept, self._model = kept, model
        self._layers, self._kv_heads, self._head_dim = layers, kv_heads, head_dim
        self._name = next(name for name, (ours, _) in _DTYPES.items() if ours == dtype)

    def read(self, columns: bytes) -> KVCache | None:
        """The cache that has read these columns of a prompt, if it was kept."""
        found = self._kept.read(self._key(columns))
        if found is None:
            return None
        about, body = found
        dtype, here = _DTYPES[self._name]
        positions = about.get("positions")
        if not isinstance(positions, int) or positions < 1:
            return None
        shape = self._layers, 2, 1, self._kv_heads, positions, self._head_dim
        if math.prod(shape) * dtype.size != len(body):
            return None
        arrays = body.view(here).reshape(shape)
        pairs = [(mx.array(keys), mx.array(values)) for keys, values in arrays]
        mx.eval(pairs)
        return KVCache.of_pairs(pairs)

    def write(self, columns: bytes, cache: KVCache, about: dict[str, Any]) -> bool:
        """Keep it; whether that was worth the while, and worked."""
        if cache.offset < LEAST or cache.dtype != _DTYPES[self._name][0]:
            return False
        pairs = cache.pairs()
        mx.eval(pairs)
        body = [np.array(each) for pair in pairs for each in pair]
        return self._kept.write(self._key(columns), {**about, "positions": cache.offset}, body)

    def _key(self, columns: bytes) -> str:
        return hashlib.sha256(self._model.encode() + columns).hexdigest()


def disk_prefixes(
    model: Model, tokenizer: Path | None, compat: str | None, memory_limit: int | None
) -> DiskPrefixes | None:
    """Of a loaded model; None where there is nothing to prefill, or nowhere to keep it."""
    sizes = model.config.slow
    if sizes is None:
        return None
    try:
        kept = kept_prefixes()
        facts = [
            FORMAT, __version__, version("mlx"), platform.machine(), compat, memory_limit, machine_memory(),
            device.on_gpu(), device.kernels_available(), str(model.dual_ar.cache_dtype),
            cores.setting() == "off", compiled.way(), os.environ.get("MLX_ENABLE_TF32"),
            list(fingerprint(model.path)), list(fingerprint(tokenizer or find_tokenizer(model.path))),
        ]  # fmt: skip
    except (OSError, S2Error):
        return None
    return DiskPrefixes(
        kept, json.dumps(facts), sizes.layers, sizes.kv_heads, sizes.head_dim, model.dual_ar.cache_dtype
    )


def fingerprint(path: Path) -> Iterator[tuple[str, int, int, str]]:
    """(name, size, time of the last change in ns, SHA-256 of pieces) of a file, of all of its parts, or of a folder's
    files. Raises OSError."""
    files = sorted(each for each in path.iterdir() if each.is_file()) if path.is_dir() else parts_of(path)
    for file in files:
        status, digest = file.stat(), hashlib.sha256()
        with open(file, "rb") as opened:
            for i in range(_PIECES):
                opened.seek(max(0, status.st_size - _PIECE) * i // (_PIECES - 1))
                digest.update(opened.read(_PIECE))
        yield file.name, status.st_size, status.st_mtime_ns, digest.hexdigest()
