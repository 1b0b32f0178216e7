"""The frame-locked vocoder: speech whose excitation is named by a few numbers a frame.

A frame is 1024 samples at 22.05 kHz. Its excitation holds k pulses, k in halves, and a frozen pattern of +-1 noise
pulses. The frame's pitch is k * 21.53 Hz; it glides there from the pitch of the frame before. Since a frame has exactly
k pulse periods, it starts either on a pulse or half a period after one: together with k that start phase says all.
Both parts are shaped, sixteen times a frame, by a minimum-phase filter made from a spectral envelope. So the samples of
a frame are a smooth function of envelope, voicing, pitch and start phase, and a small network can learn them as a
waveform.

Features of a frame: float32 [KNOTS, 2 * BANDS]: at KNOTS moments (each at the end of its quarter of the frame) the
log-amplitude envelope and the aperiodicity at BANDS points of the mel scale. Between moments they are interpolated
linearly, starting from the last moment of the frame before: nothing looks ahead.
"""

import functools

import numpy as np

RATE = 22050
FRAME = 1024
BLOCKS = 16  # filter updates per frame
BLOCK = FRAME // BLOCKS
BANDS = 40
KNOTS = 4
NFFT = 512
TOP_HZ = 7900.0
FLOOR = -8.5  # log amplitudes below are silence
NOISE_PULSES = 128


def mel(hz):
    return 2595 * np.log10(1 + np.asarray(hz) / 700)


def hertz(m):
    return 700 * (10 ** (np.asarray(m) / 2595) - 1)


BAND_MEL = np.linspace(mel(60), mel(TOP_HZ), BANDS)
BAND_HZ = hertz(BAND_MEL)
BIN_HZ = np.arange(NFFT // 2 + 1) * RATE / NFFT
ROLL_OFF = -8.0 * np.clip((BIN_HZ - TOP_HZ) / 600, 0, 1)


def flat_signs(n, tries=4000):
    """The +-1 sequence of length n with the flattest spectrum among random ones."""
    rng = np.random.default_rng(1)
    best, best_ripple = None, np.inf
    for _ in range(tries):
        signs = np.sign(rng.standard_normal(n))
        spectrum = np.abs(np.fft.rfft(signs))[1:-1]
        ripple = spectrum.std() / spectrum.mean()
        if ripple < best_ripple:
            best, best_ripple = signs, ripple
    return best


def pulses(k, before, phase):
    """One frame with k pulse periods of unit mean power; the pitch glides from `before`. phase: 0 or 0.5 periods.

    Pitch k + (before - k) (1 - t) (1 - 3 t) over the frame: `before` at its start, k at its end and on average."""
    t = np.arange(FRAME) / FRAME
    glide = before - k
    passed = phase + k * t + glide * (t - 2 * t**2 + t**3)
    count = np.floor(passed + 1e-6)
    at = np.flatnonzero(np.diff(count, prepend=-1 if phase == 0 else 0) > 0)
    x = np.zeros(FRAME)
    x[at] = np.sqrt(FRAME / (k + glide * (1 - t[at]) * (1 - 3 * t[at])))
    return x


def noise():
    x = np.zeros(FRAME)
    x[np.arange(NOISE_PULSES) * FRAME // NOISE_PULSES] = flat_signs(NOISE_PULSES) * np.sqrt(FRAME / NOISE_PULSES)
    return x


def block_spectra(frame):
    return np.fft.rfft(frame.reshape(-1, BLOCK), NFFT, axis=1).astype(np.complex64)


_NOISE = block_spectra(noise())
_FOLD = np.zeros(NFFT, np.float32)
_FOLD[0] = _FOLD[NFFT // 2] = 1
_FOLD[1 : NFFT // 2] = 2


def warp_matrix(formant):
    """[BANDS, bins]: interpolates band values to FFT bins with all frequencies multiplied by `formant`."""
    where = np.clip(mel(BIN_HZ / formant), BAND_MEL[0], BAND_MEL[-1])
    pos = np.clip((where - BAND_MEL[0]) / (BAND_MEL[1] - BAND_MEL[0]), 0, BANDS - 1.001)
    low, frac = pos.astype(int), pos - pos.astype(int)
    w = np.zeros((BANDS, len(BIN_HZ)), np.float32)
    w[low, np.arange(len(BIN_HZ))] = 1 - frac
    w[low + 1, np.arange(len(BIN_HZ))] += frac
    return w


def between_knots(features):
    """features [F, KNOTS, D] -> [F * BLOCKS, D], interpolated at the blocks' centres."""
    f, knots, d = features.shape
    flat = np.concatenate([features[:1, :1], features.reshape(1, f * knots, d).transpose(1, 0, 2)])[:, 0]
    t = (np.arange(f * BLOCKS) + 0.5) * knots / BLOCKS
    low = t.astype(int)
    w = (t - low)[:, None].astype(np.float32)
    return flat[low] * (1 - w) + flat[low + 1] * w


@functools.cache
def pulse_spectra(k, before, phase):
    return block_spectra(pulses(k, before, phase))


def synthesize(features, k, phase, formant=1.0):
    """features [F, KNOTS, 2*BANDS] -> float32 [F * FRAME]. k [F]: pulse periods of each frame; phase [F]: where each
    starts, in periods (0 or 0.5); formant: factor on all resonances."""
    before = [k[0], *k[:-1]]
    voiced = np.concatenate([pulse_spectra(float(a), float(b), float(p)) for a, b, p in zip(k, before, phase)])
    return shape(features, voiced, np.tile(_NOISE, (len(features), 1)), formant)


def synthesize_free(features, f0, formant, rng):
    """The same with the pitch of f0 [F * BLOCKS] Hz at any phase and with ordinary noise: like a person, not locked."""
    phase = rng.random() + np.cumsum(np.repeat(f0, BLOCK) / RATE)
    excitation = np.zeros(len(phase))
    at = np.flatnonzero(np.diff(np.floor(phase), prepend=np.floor(phase[0])))
    excitation[at] = np.sqrt(RATE / np.repeat(f0, BLOCK)[at])
    noise = rng.standard_normal(len(phase))
    return shape(features, block_spectra(excitation), block_spectra(noise), formant)


def shape(features, voiced, unvoiced, formant):
    """Spectra of excitation blocks [F * BLOCKS, bins] through the features' filters, overlap-added."""
    x = between_knots(np.asarray(features, np.float32))
    w = warp_matrix(formant)
    log_amp = x[:, :BANDS] @ w + ROLL_OFF.astype(np.float32)
    ap = np.clip(x[:, BANDS:], 0, 1) @ w
    cepstrum = np.fft.irfft(log_amp, NFFT, axis=1).astype(np.float32) * _FOLD
    h = np.exp(np.fft.rfft(cepstrum, axis=1)).astype(np.complex64)
    y = np.fft.irfft(h * (voiced * np.sqrt(np.clip(1 - ap**2, 0, 1)) + unvoiced * ap), NFFT, axis=1).astype(np.float32)
    out = np.zeros(len(x) * BLOCK + NFFT, np.float32)
    for start in range(0, NFFT, BLOCK):
        out[start : start + len(x) * BLOCK] += y[:, start : start + BLOCK].reshape(-1)
    return out[: len(x) * BLOCK]
