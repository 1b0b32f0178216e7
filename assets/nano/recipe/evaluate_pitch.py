"""Figures of the pitch: what the model's speech does with it, and how exactly the codec keeps it."""

import numpy as np

from . import codes, melody, speakers, teacher, vocoder, voices
from .held_out import EVERYDAY
from .said import utterance

TEXTS = EVERYDAY[:20]


def pitch_deviation(samples, rate):
    """Standard deviation of the pitch where voiced, in semitones, without the outer hundredths (wrong octaves)."""
    f0 = teacher.measure(samples, rate)
    semitones = 12 * np.log2(f0[f0 > 0])
    low, high = np.quantile(semitones, (0.01, 0.99))
    return float(semitones[(semitones >= low) & (semitones <= high)].std())


def in_frames(octaves, rate):
    """A melody of 5 ms steps -> its middle in every frame."""
    step, frame = teacher.STEP_MS / 1000, vocoder.FRAME / rate
    return np.array(
        [
            np.median(octaves[int(i * frame / step) :][: int(frame / step)])
            for i in range(int(len(octaves) * step / frame))
        ]
    )


def pitch(tts, report):
    """How far the pitch moves within a sentence, and how like the teacher's on the frame grid.

    Both have nearly the same frames: stretched to one length, the same words lie together."""
    moved, alike = [], []
    for text in TEXTS:
        audio = tts.say(text, seed=1)
        moved.append(pitch_deviation(audio.samples, audio.sample_rate))
        f0 = teacher.measure(audio.samples, audio.sample_rate)
        spoken = in_frames(melody.melody(f0), audio.sample_rate)
        wanted = utterance(text)[3]
        at = np.linspace(0, len(wanted) - 1, len(spoken))
        alike.append(np.corrcoef(spoken, np.interp(at, np.arange(len(wanted)), wanted))[0, 1])
    report("pitch", semitones=round(float(np.median(moved)), 2), like_teacher=round(float(np.median(alike)), 2))


def contour(tts, report):
    """The teacher's codes through the decoder: how far the sound's pitch is from the teacher's, in semitones, in frames
    with a voice all through. The rounding to half periods is in it.

    Half an octave and more apart is another octave, measured or spoken: such frames are counted, and left out."""
    books = codes.Books.load()
    for who in ("clara", "marcus"):
        speaker, apart = speakers.SHIPPED[who], []
        for text in TEXTS:
            laid = utterance(text)
            samples = tts.codec.decode(voices.coded(laid, speaker, books).astype(np.int32))
            f0 = teacher.measure(np.asarray(samples).reshape(-1), tts.sample_rate)
            named = in_frames(np.where(f0 > 0, np.log2(np.maximum(f0, 1)), np.nan), tts.sample_rate)
            apart.append(12 * (named[: len(laid[3])] - np.log2(speaker.hertz) - laid[3][: len(named)]))
        apart = np.concatenate(apart)
        apart = apart[~np.isnan(apart)]
        kept = apart[np.abs(apart) < 6]
        report(
            "contour",
            speaker=who,
            frames=len(apart),
            another_octave=len(apart) - len(kept),
            rmse_semitones=round(float(np.sqrt(np.mean(kept**2))), 2),
        )
