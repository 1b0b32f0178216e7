"""Recognizers that compute with MLX, where they are installed: parakeet-mlx and mlx-whisper.

What they need of models is fetched into the Hugging Face cache with their first use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..audio.rates import resample
from ..errors import EarError, S2Error
from ..worker import KeepGoing, Worker
from .heard import Heard, HeardWord
from .pieces import pieces

RATE = 16000


class _OnItsThread:
    """MLX's streams belong to a thread: model and work stay on one of their own."""

    name = ""

    def __init__(self, model: str):
        self._model, self._worker = model, Worker()
        self._loaded: Any = None
        try:
            self._loaded = self._worker.call(lambda keep_going: self._load())
        except BaseException as fault:
            self._worker.close()
            raise self._told(fault, "load") from fault

    def hear(self, samples: np.ndarray, rate: int, language: str | None = None, twice: bool = False) -> Heard:
        """See `Ear`. These say themselves how sure they are."""
        samples = resample(np.asarray(samples, np.float32).reshape(-1), rate, RATE)
        if not samples.any():
            return Heard("", (), language or "en", 0.0)

        def work(keep_going: KeepGoing) -> Heard:
            return self._hear(samples, language)

        try:
            heard: Heard = self._worker.call(work)
        except Exception as fault:
            raise self._told(fault, "listen with") from fault
        return heard

    def close(self) -> None:
        self._worker.close(last=self._release)

    def _told(self, fault: BaseException, what: str) -> BaseException:
        if isinstance(fault, S2Error) or not isinstance(fault, Exception):
            return fault
        return EarError(f"{self.name} could not {what} {self._model}: {fault or type(fault).__name__}")

    def _load(self) -> Any: ...

    def _hear(self, samples: np.ndarray, language: str | None) -> Heard:
        raise NotImplementedError

    def _release(self) -> None:
        self._loaded = None


class ParakeetEar(_OnItsThread):
    """parakeet-mlx: 25 languages of Europe, which it finds by itself."""

    name = "parakeet"

    def __init__(self, model: str = "mlx-community/parakeet-tdt-0.6b-v3"):
        super().__init__(model)

    def _load(self) -> Any:
        from parakeet_mlx import from_pretrained

        return from_pretrained(self._model)

    def _hear(self, samples: np.ndarray, language: str | None) -> Heard:
        import mlx.core as mx
        from parakeet_mlx.audio import get_logmel

        tokens = []
        for start, piece in pieces(samples, RATE):
            sound = mx.array(piece).astype(mx.bfloat16)
            result = self._loaded.generate(get_logmel(sound, self._loaded.preprocessor_config))[0]
            tokens += [(t.text, start / RATE + t.start, start / RATE + t.end, t.confidence) for t in result.tokens]
        words: list[HeardWord] = []
        for text, begin, end, _ in tokens:
            if words and not text.startswith(" "):
                words[-1] = HeardWord(words[-1].text + text, words[-1].start, end, exact=True)
            else:
                words.append(HeardWord(text.strip(), begin, end, exact=True))
        words = [word for word in words if word.text]
        sure = float(np.mean([token[3] for token in tokens])) if tokens else 0.0
        return Heard(" ".join(word.text for word in words), tuple(words), language or "en", sure)


class WhisperEar(_OnItsThread):
    """mlx-whisper: a hundred languages; it finds out which, or is told."""

    name = "whisper"

    def __init__(self, model: str = "mlx-community/whisper-large-v3-turbo"):
        super().__init__(model)

    def _load(self) -> Any:
        import mlx.core as mx
        from mlx_whisper.transcribe import ModelHolder

        return ModelHolder.get_model(self._model, mx.float16)

    def _hear(self, samples: np.ndarray, language: str | None) -> Heard:
        from mlx_whisper import transcribe

        result = transcribe(
            samples,
            path_or_hf_repo=self._model,
            verbose=None,
            language=language,
            word_timestamps=True,
            condition_on_previous_text=False,
        )
        said = [word for segment in result["segments"] for word in segment.get("words", [])]
        words = tuple(HeardWord(w["word"].strip(), float(w["start"]), float(w["end"]), exact=True) for w in said)
        sure = float(np.mean([word["probability"] for word in said])) if said else 0.0
        return Heard(" ".join(result["text"].split()), words, result["language"], sure)

    def _release(self) -> None:
        from mlx_whisper.transcribe import ModelHolder

        ModelHolder.model = ModelHolder.model_path = self._loaded = None
