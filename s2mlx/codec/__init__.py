"""The causal audio codec: 44.1 kHz mono <-> 10 codes per 2048 samples (sizes by configuration)."""

from .codec import Codec, CodecStream

__all__ = ["Codec", "CodecStream"]
