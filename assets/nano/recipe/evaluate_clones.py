"""Figures of cloning: clips of four voices at four lengths, and what the model then says in that voice."""

import numpy as np

from . import asr, flite
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
