"""A tokenizer's normalizer, run a stretch at a time: what its replacements make of a text has a bound."""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelError

# A sign may become several words ("1000" " one thousand "); three replacements of 1000 characters each make 10^9.
_MOST_GROWTH, _FREE = 64, 4096


class Normalizer:
    """The steps of a checked tokenizer file, in the library's own forms. A stretch ends with a step that makes the text
    longer, so that the length is looked at before the next one does."""

    def __init__(self, steps: list[dict], path: Path):
        from tokenizers import normalizers

        self._path = path
        self._stretches: list = []
        stretch = []
        for number, step in enumerate(steps, 1):
            stretch.append(_built(step))
            if _grows(step) or number == len(steps):
                self._stretches.append(normalizers.Sequence(stretch))
                stretch = []

    def __call__(self, text: str) -> str:
        """Raises `ModelError` where the text becomes far longer than it is."""
        most = _MOST_GROWTH * len(text) + _FREE
        for stretch in self._stretches:
            text = stretch.normalize_str(text)
            if len(text) > most:
                raise ModelError(
                    f"{self._path} is not a tokenizer file that can be used: its normalizer makes texts more than "
                    f"{_MOST_GROWTH} times as long"
                )
        return text


def _built(step: dict):
    from tokenizers import Regex, normalizers

    if step["type"] != "Replace":
        return getattr(normalizers, step["type"])()
    [(kind, pattern)] = step["pattern"].items()
    return normalizers.Replace(Regex(pattern) if kind == "Regex" else pattern, step["content"])


def _grows(step: dict) -> bool:
    """Whether it can make a text longer; of a regular expression, which may match one character or none, as soon as it
    puts one in."""
    if step["type"] != "Replace":
        return True
    [(kind, pattern)] = step["pattern"].items()
    return len(step["content"]) > (len(pattern) if kind == "String" else 0)
