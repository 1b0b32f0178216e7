"""Makes a checkpoint and a tokenizer into networks, once: the parts know nothing of each other, this file fits them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mlx.core as mx

from .. import device
from ..codec import Codec
from ..config import CodecConfig, ModelConfig
from ..errors import ModelError, UsageError
from ..layers.reached import compiled_kinds, host_bytes
from ..layers.scope import Scope
from ..text.tokenizer import Tokenizer, find_tokenizer, load_tokenizer
from ..weights import compiled, open_checkpoint
from ..worker import Closed
from .dual_ar import DualAR

COMPAT = (None, "s2cpp")
_CACHE_BYTES = 512 << 20  # freed buffers that MLX may keep for reuse


class Model:
    """dual_ar and tokenizer are None in a codec-only file, codec in a file without one: asking for it is an error.

    packed_bytes: of the weights in the file; host_bytes: of those in memory that MLX does not count."""

    def __init__(
        self,
        path: Path,
        config: ModelConfig,
        tokenizer: Tokenizer | None,
        dual_ar: DualAR | None,
        codec: Codec | None,
        packed_bytes: int,
    ):
        self.path, self.config, self.packed_bytes = path, config, packed_bytes
        self._tokenizer, self._dual_ar, self._codec = tokenizer, dual_ar, codec
        self.host_bytes = host_bytes([dual_ar, codec])

    @property
    def tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            raise self._cannot_speak()
        return self._tokenizer

    @property
    def dual_ar(self) -> DualAR:
        if self.config.slow is None:
            raise self._cannot_speak()
        if self._dual_ar is None:
            raise Closed("the synthesizer is closed")
        return self._dual_ar

    @property
    def codec(self) -> Codec:
        _ = self.codec_config  # says what is absent
        if self._codec is None:
            raise Closed("the synthesizer is closed")
        return self._codec

    @property
    def codec_config(self) -> CodecConfig:
        if self.config.codec is None:
            raise ModelError(f"{self.path.name} holds no codec: it cannot make or read sound")
        return self.config.codec

    def _cannot_speak(self) -> ModelError:
        return ModelError(f"{self.path.name} holds only a codec: it can encode and decode, not speak")

    def build(self, keep_going: Callable[[], bool]) -> None:
        """Have the CPU's machine code made, as far as products of this model may ask for it."""
        compiled.prepare(compiled_kinds([self._dual_ar, self._codec]), keep_going)

    def release(self) -> None:
        """Let go of the weights; the sizes stay known."""
        self._dual_ar = self._codec = None
        self.host_bytes = 0


def load_model(
    path: Path,
    tokenizer_path: Path | None = None,
    compat: str | None = None,
    memory_limit: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Model:
    """Build the networks of the file at `path`. Call on the thread that will run them (MLX streams are thread-local).

    compat "s2cpp": fp32 RoPE tables, clips padded to 512 samples, the first semantic token in the repetition window.
    on_progress(bytes taken, bytes in all): it may raise to end the loading.
    """
    if compat not in COMPAT:
        raise UsageError(f"compat must be s2cpp or nothing, not {compat!r}")
    if memory_limit is not None and memory_limit < 1:
        raise UsageError(f"the memory limit must be above 0, not {memory_limit}")
    s2cpp = compat == "s2cpp"
    rope_dtype = mx.float32 if s2cpp else mx.bfloat16
    limit_memory(memory_limit)
    with open_checkpoint(path, memory_limit=memory_limit) as checkpoint, ThreadPoolExecutor(1) as beside:
        progress = _Progress(checkpoint.packed_bytes, on_progress)
        config, scope = checkpoint.config, Scope(checkpoint.tensors, on_use=progress.take)
        tokenizer = dual_ar = codec = None
        if config.slow is not None:  # read while the codec is built
            reading = beside.submit(load_tokenizer, tokenizer_path or find_tokenizer(path), config)
        if config.codec is not None:
            codec = Codec(scope.within("c"), config.codec, rope_dtype=rope_dtype, pad_to_hop=s2cpp, name=config.name)
        if config.slow is not None:
            tokenizer = reading.result()
            # the attention kernel reads half precision as it is; plain MLX would convert the whole past at each step
            cache_dtype = mx.float16 if device.kernels_available() else mx.float32
            dual_ar = DualAR(
                scope,
                config,
                tokenizer.special("<|im_end|>"),
                rope_dtype=rope_dtype,
                cache_dtype=cache_dtype,
                first_in_window=s2cpp,
            )
        progress.finish()
        return Model(Path(path), config, tokenizer, dual_ar, codec, checkpoint.packed_bytes)


_usual_limit: int | None = None  # MLX's limit is the process's: what it was before a model came with one of its own


def limit_memory(limit: int | None) -> None:
    """Keep MLX within `limit` bytes, or within its usual limit again if there is none; on a GPU keep the weights
    resident, as mlx-lm does."""
    global _usual_limit
    if limit is not None:
        before = mx.set_memory_limit(limit)
        _usual_limit = before if _usual_limit is None else _usual_limit
    elif _usual_limit is not None:
        mx.set_memory_limit(_usual_limit)
        _usual_limit = None
    if mx.metal.is_available() and device.on_gpu():
        resident = int(mx.device_info(mx.gpu)["max_recommended_working_set_size"])
        mx.set_wired_limit(resident if limit is None else min(limit, resident))
        mx.set_cache_limit(_CACHE_BYTES)


class _Progress:
    """Hears of each tensor that is taken while the model is loaded, and of none later."""

    def __init__(self, total: int, report: Callable[[int, int], None] | None):
        self.done, self.total, self.report = 0, total, report

    def take(self, tensor) -> None:
        if self.report is not None:
            self.done += tensor.nbytes
            self.report(self.done, self.total)

    def finish(self) -> None:
        """What is read later, or never (the encoder waits for the first clip), is no part of the loading."""
        if self.report is not None and self.done < self.total:
            self.report(self.total, self.total)
        self.report = None
