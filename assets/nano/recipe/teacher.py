"""The teacher, hibari: text -> phones with end times, 16 kHz speech and its pitch -> envelope and aperiodicity.

Hibari (`hibari-tts`, Apache-2.0) is a small network distilled from Kokoro-82M (Apache-2.0). Its durations are given to
symbols of a phoneme string, stress marks and spaces among them; here they become the times of the recipe's own phones.
They are rough (align.py makes them exact).
"""

import functools
import sys
import types

import numpy as np
from scipy.signal import resample_poly

from .vocoder import BAND_HZ, BANDS

try:  # pyworld asks for a module that new setuptools lack
    import pkg_resources  # noqa: F401
except ImportError:
    stub = types.ModuleType("pkg_resources")
    stub.get_distribution = lambda name: types.SimpleNamespace(version="0")
    sys.modules["pkg_resources"] = stub
import pyworld

RATE = 16000
STEP_MS = 5.0
FFT = 1024
GAIN = 1.4  # to the level that the floor of the codes (vocoder.FLOOR) was chosen for
SYMBOL_MS = 25.0  # durations are counted in these
EARLY_MS = 50.0  # sounds begin so much before their symbols
PITCH_MS = 12.5
DURATIONS = "/Clip_output_0"  # the node of the network that rounds them
SILENCE = "pau"
STRESS, BREAKS = "\u02c8\u02cc", ",.;:!?\u2014\u2026"
PHONES = {  # hibari's symbols -> ours
    "A": ["ey"], "I": ["ay"], "O": ["ow"], "Q": ["ow"], "W": ["aw"], "Y": ["oy"],
    "a": ["aa"], "\u0251": ["aa"], "\u0252": ["aa"], "\u0254": ["ao"], "o": ["ao"], "\u00e6": ["ae"], "\u028c": ["ah"],
    "\u0259": ["ax"], "\u0250": ["ax"], "\u1d4a": ["ax"], "\u025a": ["er"], "\u025b": ["eh"], "e": ["eh"],
    "\u025c": ["er"], "\u026a": ["ih"], "\u1d7b": ["ih"], "i": ["iy"], "u": ["uw"], "\u028a": ["uh"],
    "b": ["b"], "d": ["d"], "f": ["f"], "\u0261": ["g"], "h": ["hh"], "j": ["y"], "k": ["k"], "l": ["l"], "m": ["m"],
    "n": ["n"], "\u014b": ["ng"], "p": ["p"], "\u0279": ["r"], "s": ["s"], "t": ["t"], "\u0294": ["t"], "v": ["v"],
    "w": ["w"], "z": ["z"], "\u00f0": ["dh"], "\u03b8": ["th"], "\u0283": ["sh"], "\u0292": ["zh"], "\u02a7": ["ch"],
    "\u02a4": ["jh"], "T": ["d"], "\u027e": ["d"], "x": ["k"], "\u00e7": ["hh"],
}  # fmt: skip
VOWELS = set("aa ae ah ao aw ax ay eh er ey ih iy ow oy uh uw".split())


@functools.cache
def network():
    """-> hibari, and its network with the durations as one more output"""
    import onnx
    import onnxruntime
    from hibari import Hibari

    tts = Hibari()
    graph = onnx.load(tts.model_path)
    graph.graph.output.append(onnx.helper.make_empty_tensor_value_info(DURATIONS))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return tts, onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])


def phones_of(symbols, seconds):
    """Symbols of one sentence with their seconds, the padding at both ends included -> phones [(name, end)].

    A stress mark's time is the vowel's after it; a space's is shared by its neighbours."""
    found, owed = [[SILENCE, seconds[0]]], 0.0
    for symbol, length in zip(symbols, seconds[1:-1]):
        length += owed
        owed = 0.0
        if symbol in STRESS:
            owed = length
        elif symbol == " ":
            owed = length / 2
            found[-1][1] += length / 2
        elif symbol in BREAKS:
            if found[-1][0] == SILENCE:
                found[-1][1] += length
            else:
                found.append([SILENCE, length])
        elif symbol in PHONES:
            found += [[name, length] for name in PHONES[symbol]]
        else:
            owed = length
    if found[-1][0] != SILENCE:
        found.append([SILENCE, 0.0])
    found[-1][1] += owed + seconds[-1]
    whole = []
    for i, (name, length) in enumerate(found):  # a vowel and r are one phone, unless a vowel follows
        before = whole[-1] if whole else None
        follows = found[i + 1][0] if i + 1 < len(found) else SILENCE
        if name == "r" and before and (before[0] == "er" or (before[0] == "ax" and follows not in VOWELS)):
            before[0] = "er"
            before[1] += length
        else:
            whole.append([name, length])
    ends = np.cumsum([length for _, length in whole])
    ends[:-1] = np.maximum(ends[:-1] - EARLY_MS / 1000, 0.001 * np.arange(1, len(ends)))
    return [(name, float(end)) for (name, _), end in zip(whole, ends)]


def speak(text):
    """-> phones [(name, end seconds)], samples float64 at 16 kHz, pitch in Hz every STEP_MS (0: no voice)."""
    from hibari import dsp

    tts, session = network()
    (symbols,) = tts.phonemize(text)
    symbols = [s for s in symbols if s in tts.vocab]
    ids = np.array([[0, *(tts.vocab[s] for s in symbols), 0]], np.int64)
    names = ["lh", "theta", "ln", "lr", "phi", "f0", DURATIONS]
    *parts, f0, durations = (
        y[0] if y.ndim > 1 else y for y in session.run(names, {"ids": ids, "speed": np.ones(1, np.float32)})
    )
    wave = dsp.synth(*parts, f0, np.random.default_rng(0)).astype(np.float64)
    samples = resample_poly(wave, 2, 3) * GAIN
    times = np.arange(int(len(samples) / RATE * 1000 / STEP_MS) + 1) * STEP_MS
    at = np.arange(len(f0)) * PITCH_MS + PITCH_MS / 2
    voiced = f0 > 60
    pitch = np.interp(times, at[voiced], f0[voiced]) if voiced.any() else np.zeros(len(times))
    pitch = pitch * voiced[np.minimum((times / PITCH_MS).astype(int), len(f0) - 1)]
    return phones_of(symbols, np.ravel(durations) * SYMBOL_MS / 1000), samples, pitch


def _band_weights():
    """[BANDS, FFT // 2 + 1] triangular averages around each mel point."""
    hz = np.arange(FFT // 2 + 1) * RATE / FFT
    edges = np.concatenate([[0], BAND_HZ, [RATE / 2]])
    w = np.zeros((BANDS, len(hz)))
    for i in range(BANDS):
        low, mid, high = edges[i : i + 3]
        w[i] = np.clip(np.minimum((hz - low) / max(mid - low, 1), (high - hz) / max(high - mid, 1)), 0, None)
        if w[i].sum() < 1e-6:
            w[i] = np.maximum(0, 1 - np.abs(hz - mid) * FFT / RATE)
        w[i] /= w[i].sum()
    return w


_WEIGHTS = _band_weights()


def analyse(samples, pitch):
    """-> float32 [T, 2 * BANDS] (log-amplitude envelope, aperiodicity) every STEP_MS. pitch as `speak` gives it."""
    t = np.arange(len(pitch)) * STEP_MS / 1000
    f0 = np.ascontiguousarray(pitch, np.float64)
    power = pyworld.cheaptrick(samples, f0, t, RATE, fft_size=FFT)
    aperiodicity = pyworld.d4c(samples, f0, t, RATE, fft_size=FFT)
    envelope = 0.5 * np.log(power + 1e-10) @ _WEIGHTS.T
    return np.concatenate([envelope, np.clip(aperiodicity @ _WEIGHTS.T, 0, 1)], 1).astype(np.float32)


def measure(samples, rate=RATE, low=60, high=320):
    """-> the pitch of any speech in Hz every STEP_MS, 0 where there is no voice"""
    samples = np.asarray(samples, np.float64)
    f0, at = pyworld.dio(samples, rate, f0_floor=low, f0_ceil=high, frame_period=STEP_MS)
    return pyworld.stonemask(samples, f0, at, rate)
