"""The codec as a whole: samples -> codes, codes -> samples, and the stream that decodes frame by frame.

Everything is causal, so work is done in pieces of bounded size: memory does not grow with the length of the clip, and a
decode in pieces has the samples of one decode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import mlx.core as mx
import numpy as np

from .. import device
from ..config import CodecConfig
from ..errors import NotFiniteError
from ..kernels.metal import rehearsal
from ..layers.causal_conv import StreamState
from ..layers.scope import Scope
from .decoder import Decoder
from .encoder import Encoder
from .quantizer import Codebooks, Downsampler, Upsampler

_PIECE = 32  # frames computed at a time, ~1.5 s of sound


class CodecStream:
    """One stream of frames being decoded. Several may run side by side over the same `Codec`."""

    def __init__(self, codec: Codec):
        self._codec, self._state = codec, StreamState()

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """The next frames, int32 [num_codebooks, F], F >= 0 -> their samples float32 [F * frame_samples]. Raises
        `NotFiniteError`."""
        made = self._codec._decode(mx.array(np.ascontiguousarray(codes)), self._state)
        mx.eval(made, self._state.arrays)
        samples = np.array(made)
        if not np.isfinite(samples).all():
            raise NotFiniteError(self._codec.name)
        return samples


class Codec:
    def __init__(
        self,
        scope: Scope,
        config: CodecConfig,
        *,
        rope_dtype: mx.Dtype = mx.bfloat16,
        pad_to_hop: bool = False,
        name: str = "the codec",
    ):
        """`name`: of the model, for errors.

        `pad_to_hop`: pad clips to whole latents only (512 samples), as s2.cpp does; the official code pads them to
        whole frames (2048).

        The encoding half is built when a clip is first encoded: speaking with a saved voice never needs it. `scope`
        must stay readable until then."""
        self.config, self.pad_to_hop, self.name = config, pad_to_hop, name
        quantizer = scope.within("quantizer")
        self.codebooks = Codebooks(quantizer, config)
        self.upsampler = Upsampler(quantizer, config, rope_dtype)
        self.decoder = Decoder(scope.within("decoder"), config)
        self._build_encoder = lambda: (
            Encoder(scope.within("encoder"), config, rope_dtype),
            Downsampler(quantizer, config, rope_dtype),
        )

    @cached_property
    def _encoding(self) -> tuple[Encoder, Downsampler]:
        return self._build_encoder()

    def stream(self) -> CodecStream:
        return CodecStream(self)

    def rehearse(self, sizes: Iterable[int]) -> None:
        """Have every kernel tried that a stream of pieces of so many frames needs: see `metal.rehearsal`."""
        if not device.kernels_available():
            return
        with rehearsal():
            for frames in sizes:
                state = StreamState()
                for _ in range(2):  # a stream's beginning, and what follows it
                    self._decode(mx.zeros((self.config.num_codebooks, frames), mx.int32), state)

    def decode(
        self, codes: np.ndarray, chunk: int | None = None, keep_going: Callable[[], bool] = lambda: True
    ) -> np.ndarray:
        """codes int32 [num_codebooks, F] -> samples float32 [F * frame_samples]. Codes are clamped to their codebook.

        `chunk`: frames at a time, at most _PIECE; the result does not depend on it. `keep_going` is asked between them.
        """
        stream, step = self.stream(), min(chunk or _PIECE, _PIECE)
        pieces = []
        for i in range(0, codes.shape[1], step):
            if not keep_going():
                break
            pieces.append(stream.decode(codes[:, i : i + step]))
        return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)

    def encode(self, samples: np.ndarray, keep_going: Callable[[], bool] = lambda: True) -> np.ndarray:
        """samples float32 [n] mono at `sample_rate` -> codes int32 [num_codebooks, ceil(n / frame_samples)]."""
        frame, hop = self.config.frame_samples, self.config.hop
        frames = -(-len(samples) // frame)
        audible = -(-len(samples) // hop) if self.pad_to_hop else frames * frame // hop  # latents that are encoded
        padded = np.zeros(frames * frame, np.float32)
        padded[: len(samples)] = samples
        encoder, downsample = self._encoding
        state, pieces = StreamState(), []
        for begin in range(0, frames, _PIECE):
            if not keep_going():
                break
            end = min(begin + _PIECE, frames)
            piece = padded[begin * frame : min(end * frame, audible * hop), None]
            codes = self.codebooks.encode(downsample(encoder(mx.array(piece), state), state))
            mx.eval(codes, state.arrays)
            pieces.append(np.array(codes))
            if pieces[-1].min() < 0:
                raise NotFiniteError(self.name)
        return np.concatenate(pieces, axis=1) if pieces else np.zeros((self.config.num_codebooks, 0), np.int32)

    def _decode(self, codes: mx.array, state: StreamState) -> mx.array:
        if codes.shape[1] == 0:
            return mx.zeros((0,))
        return self.decoder(self.upsampler(self.codebooks.decode(codes), state), state)[:, 0]
