"""Word errors by an outside recognizer (moonshine-voice, its model is inside the wheel)."""

import os
import re

import numpy as np
from scipy.signal import resample_poly

_transcriber = None


def hear(samples, rate):
    """float samples -> the words recognised."""
    global _transcriber
    if _transcriber is None:
        from moonshine_voice import ModelArch, Transcriber, get_assets_path

        _transcriber = Transcriber(
            model_path=os.path.join(str(get_assets_path()), "tiny-en"), model_arch=ModelArch.TINY
        )
    x = resample_poly(np.asarray(samples, np.float64), 320, rate * 320 // 16000)
    pad = np.zeros(4000)
    x = np.concatenate([pad, x, pad]).astype(np.float32)
    return " ".join(line.text for line in _transcriber.transcribe_without_streaming(x.tolist(), 16000).lines)


_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def words(text):
    """Lower case, without signs, small numbers as words, and the recognizer's spellings that sound like ours."""
    text = re.sub(r"\bto-(day|night|morrow)", r"to\1", text, flags=re.I)
    text = re.sub(r"(\d+):(\d+)", r"\1 \2", text.lower().replace("gray", "grey"))
    text = re.sub(r"\d+", lambda m: _ONES[int(m[0])] if int(m[0]) < 13 else m[0], text).replace("20", "twenty")
    return re.sub(r"[^a-z0-9 ]", " ", text.replace("'", "")).split()


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        last, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            last, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, last + (x != y))
    return row[-1]


def word_error_rate(wanted, heard):
    errors = sum(distance(words(w), words(h)) for w, h in zip(wanted, heard))
    return errors / sum(len(words(w)) for w in wanted)
