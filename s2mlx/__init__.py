"""Fish Audio S2 Pro text-to-speech on Apple MLX.

    import s2mlx
    tts = s2mlx.load("s2-pro-q6_k.gguf")
    tts.say("Hello.").save("hello.wav")

Importing this package is cheap: MLX and the audio libraries load with the first name that needs them.
"""

import os
from importlib import import_module

# On chips with matrix units (M5 and later) MLX computes float32 products, convolutions and attention with the 10 bits of
# TF32 unless told otherwise before its first one: a thousand times the error, and other codes for the same clip and seed.
os.environ.setdefault("MLX_ENABLE_TF32", "0")

__version__ = "0.1.0"

# name -> module that defines it
_EXPORTS = {
    "load": "synthesizer", "Synthesizer": "synthesizer",
    "Voice": "voice", "VoiceLibrary": "voice",
    "Options": "options",
    "Audio": "speech", "AudioChunk": "speech", "Stats": "speech", "Pass": "speech",
    "S2Error": "errors", "UsageError": "errors", "ModelError": "errors", "VoiceError": "errors",
    "AudioError": "errors", "DeviceError": "errors", "GenerationError": "errors",
}
__all__ = [*_EXPORTS, "__version__"]


def __getattr__(name):
    if name not in _EXPORTS:
        raise AttributeError(f"module 's2mlx' has no attribute {name!r}")
    return getattr(import_module(f".{_EXPORTS[name]}", __name__), name)


def __dir__():
    return sorted(__all__)
