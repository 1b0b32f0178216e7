"""A recognizer that hears what it is told to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from s2mlx.errors import EarError
from s2mlx.listen import Heard
from s2mlx.listen.heard import shared_out


@dataclass
class FakeEar:
    """Hears `texts` in turn, the last one ever after, spread over the whole sound."""

    texts: list[str] = field(default_factory=lambda: ["Hello."])
    confidence: float = 0.95
    name: str = "fake"
    heard: list = field(default_factory=list)  # (samples, rate, twice)
    closed: bool = False

    def hear(self, samples, rate, language=None, twice=False):
        assert not self.closed
        self.heard.append((len(samples), rate, twice))
        text = self.texts[min(len(self.heard), len(self.texts)) - 1]
        words = tuple(shared_out(text, 0.0, len(samples) / rate))
        return Heard(text, words, language or "en", self.confidence if twice else None)

    def close(self):
        self.closed = True

    @classmethod
    def installed(cls, monkeypatch, *texts, confidence=0.95):
        """The one that everybody finds; `--ear off` and unknown names are refused as ever."""
        import s2mlx.listen
        from s2mlx.listen import ears, transcript

        ear, real = cls(list(texts) or ["Hello."], confidence), ears.find_ear

        monkeypatch.delenv(ears.VARIABLE, raising=False)

        def find(name=None, language=None):
            if name is not None or ears.VARIABLE in os.environ:
                return real(name, language)
            if language not in (None, "en"):
                raise EarError(ears.NO_EAR)
            ear.closed = False
            return ear

        monkeypatch.setattr(s2mlx.listen, "find_ear", find)
        monkeypatch.setattr(transcript, "find_ear", find)
        return ear
