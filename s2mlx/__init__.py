"""Fish Audio S2 Pro text-to-speech on Apple MLX.

    import s2mlx
    tts = s2mlx.load("s2-pro-q6_k.gguf")
    tts.say("Hello.").save("hello.wav")

Importing this package is cheap: MLX and the audio libraries load with the first name that needs them.
"""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036 (this line is for older ones)
    # `python3 -m s2mlx` ends in this one line, without a traceback
    raise (SystemExit if sys.argv[:1] == ["-m"] else ImportError)(
        f"s2mlx needs Python 3.11 or newer, and this is {sys.version.split()[0]} ({sys.executable})"
    )

import lazy_loader

# On chips with matrix units (M5 and later) MLX computes float32 products, convolutions and attention with the 10 bits
# of TF32 unless told otherwise before its first one: a thousand times the error, and other codes for one clip and seed.
os.environ.setdefault("MLX_ENABLE_TF32", "0")

# MLX hands work to the GPU in command buffers of 40 to 50 launches, or 40 to 50 MB of arrays: a frame of S2 Pro takes
# 54 to 146 of them, each with a pause, and so at most 20. It asks once, before its first.
if sys.platform == "darwin":
    os.environ.setdefault("MLX_MAX_OPS_PER_BUFFER", "1000")
    os.environ.setdefault("MLX_MAX_MB_PER_BUFFER", "400")

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
