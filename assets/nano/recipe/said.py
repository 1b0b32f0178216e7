"""A sentence as the teacher says it, laid on the frame grid by what was learned from the corpus."""

import functools

from . import align, config, durations, grid, teacher
from .melody import melody


@functools.cache
def tables():
    return align.load(), durations.Durations.load()


@functools.cache
def utterance(text, own=grid.OWN):
    """-> names, lengths, features, melody (grid.lay). own: how much of their own lengths the phones keep"""
    times, lengths = tables()
    phones, samples, pitch = teacher.speak(text)
    analysis = teacher.analyse(samples, pitch)
    return grid.lay(align.times(times, phones, analysis), analysis, melody(pitch), config.TEMPO, lengths, own)
