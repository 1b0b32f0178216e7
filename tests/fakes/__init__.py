"""What stands in for the model and for sound, in the tests of the command, the server and the app alike."""

from .gate import Gate
from .recognizer import FakeEar
from .sound import FakePlayer, FakeRecorder, Loudspeakers, Microphones
from .synthesizer import BOOKS, FRAME, RATE, FakeSynthesizer

__all__ = [
    "BOOKS",
    "FRAME",
    "RATE",
    "FakeEar",
    "FakePlayer",
    "FakeRecorder",
    "FakeSynthesizer",
    "Gate",
    "Loudspeakers",
    "Microphones",
]
