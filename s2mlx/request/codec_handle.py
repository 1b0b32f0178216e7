"""A loaded model's codec for callers on any thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from ..errors import AudioError, GenerationError, UsageError
from ..worker import KeepGoing, Worker

if TYPE_CHECKING:
    from ..networks.load import Model


class CodecHandle:
    """The model's codec, run on its thread."""

    def __init__(self, worker: Worker, model: Model):
        self._worker, self._model = worker, model

    def encode(self, samples: np.ndarray, cancel: threading.Event | None = None) -> np.ndarray:
        """samples float32 [n], n > 0, mono at the model's rate -> codes int32 [num_codebooks, frames]."""
        codec, samples = self._model.codec, np.asarray(samples, np.float32)
        if samples.ndim != 1 or not len(samples):
            raise AudioError(f"expected samples of shape [n], n > 0, not {list(samples.shape)}")
        if not np.isfinite(samples).all():
            raise AudioError("the samples hold values that are not numbers (NaN or infinity)")
        found: np.ndarray = self._worker.call(
            lambda keep_going: _finished(codec.encode(samples, keep_going), keep_going), cancel
        )
        return found

    def decode(self, codes: np.ndarray, chunk: int | None = None, cancel: threading.Event | None = None) -> np.ndarray:
        """codes int32 [num_codebooks, frames] -> samples float32 [frames * frame_samples]. `chunk` frames at a time,
        with the same result; codes outside a codebook are clamped to it."""
        codec, books, codes = self._model.codec, self._model.codec_config.num_codebooks, np.asarray(codes)
        if codes.ndim != 2 or codes.shape[0] != books or codes.dtype.kind not in "iu":
            raise UsageError(
                f"expected integer codes of shape [{books}, frames], not {codes.dtype} {list(codes.shape)}"
            )
        if chunk is not None and chunk < 1:
            raise UsageError(f"chunk must be at least 1 frame, not {chunk}")
        codes = np.clip(codes, -1, 2**31 - 1).astype(np.int32)
        found: np.ndarray = self._worker.call(
            lambda keep_going: _finished(codec.decode(codes, chunk, keep_going), keep_going), cancel
        )
        return found


def _finished(result: np.ndarray, keep_going: KeepGoing) -> np.ndarray:
    if not keep_going():
        raise GenerationError("cancelled")
    return result
