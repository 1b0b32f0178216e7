"""Figures of cloning: clips of four voices at four lengths, and what the model then says in that voice."""

import numpy as np

from . import align, asr, config, durations, flite, grid, melody, teacher, vocoder
from .held_out import EVERYDAY, REFERENCE

VOICES = ("slt", "rms", "awb", "kal16")  # flite's, at their own pitch and tempo
SENTENCES = (1, 2, 4, 6)  # of REFERENCE: about 3, 6, 13 and 18 seconds
COMMON = set(
    "the a an and of to in on for is it was were be he she we i you my our his her they this that at by with under up "
    "before every each behind over beside".split()
)


def leaked(reference, wanted, heard):
    """The words heard that only the reference has."""
    return (set(asr.words(heard)) & set(asr.words(reference))) - COMMON - set(asr.words(wanted))


def pitch_deviation(samples, rate):
    """Standard deviation of the pitch where voiced, in semitones, without the outer hundredths (wrong octaves)."""
    f0 = teacher.measure(samples, rate)
    semitones = 12 * np.log2(f0[f0 > 0])
    low, high = np.quantile(semitones, (0.01, 0.99))
    return float(semitones[(semitones >= low) & (semitones <= high)].std())


def cell(tts, voice, count, texts):
    """One voice with a clip of `count` sentences -> figures"""
    reference = " ".join(REFERENCE[:count])
    clip = flite.speak(reference, voice).astype(np.float32)
    made = tts.clone((clip, flite.RATE), reference)
    heard, ends = [], 0
    for i, text in enumerate(texts):
        audio = tts.say(text, voice=made, seed=1 + i, max_frames=400)
        heard.append(asr.hear(audio.samples, audio.sample_rate))
        ends += audio.finish_reason == "stop"
    leaks = [words for text, h in zip(texts, heard) if (words := leaked(reference, text, h))]
    return dict(
        reference=voice,
        seconds=round(len(clip) / flite.RATE, 1),
        wer=round(asr.word_error_rate(texts, heard), 3),
        leaks=len(leaks),
        leaked=sorted(set().union(*leaks)),
        stopped=ends,
        texts=len(texts),
    )


def clones(tts, report, count, voices=VOICES):
    texts = EVERYDAY[25 : 25 + count]
    for voice in voices:
        for sentences in SENTENCES:
            report("clones", **cell(tts, voice, sentences, texts))


def empty(tts, report):
    """Texts without words: how long the model speaks, and how loud; or that the product does not even ask it."""
    from s2mlx import UsageError

    for text in ("...", "[laugh]", "\u2014", "?!"):
        try:
            audio = tts.say(text, seed=1)
        except UsageError as fault:
            report("empty", text=text, refused=str(fault))
            continue
        level = float(np.sqrt(np.mean(np.square(audio.samples)))) if len(audio.samples) else 0.0
        report("empty", text=text, seconds=round(audio.seconds, 2), level=round(level, 4), end=audio.finish_reason)


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
    moved, alike, times, lengths = [], [], align.load(), durations.Durations.load()
    for text in EVERYDAY[:20]:
        audio = tts.say(text, seed=1)
        moved.append(pitch_deviation(audio.samples, audio.sample_rate))
        f0 = teacher.measure(audio.samples, audio.sample_rate)
        spoken = in_frames(melody.melody(f0), audio.sample_rate)
        wanted = grid.utterance(text, times, config.TEMPO, lengths)[3]
        at = np.linspace(0, len(wanted) - 1, len(spoken))
        alike.append(np.corrcoef(spoken, np.interp(at, np.arange(len(wanted)), wanted))[0, 1])
    report("pitch", semitones=round(float(np.median(moved)), 2), like_teacher=round(float(np.median(alike)), 2))
