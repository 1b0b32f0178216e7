"""What a recognizer hears of a model: its words, and how often it skips, doubles or invents some.

The same sentences with the same seeds each time, so that two files of a model, or two versions of this program, can be
set side by side.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..listen import compare, find_ear, wrong
from ..options import Options
from ..results import LENGTH
from ..synthesizer import Synthesizer
from .sentences import SENTENCES

# What is wrong with speech, by the kind of a `Difference`.
FAULTS = {"missing": "skipped", "doubled": "doubled", "added": "invented", "instead": "garbled"}


def measure(tts: Synthesizer, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
    """Speak and hear the sentences. Seconds are wall time unless the name says cpu. Raises `EarError` without a
    recognizer."""
    progress("loading the recognizer")
    began = time.perf_counter()
    ear = find_ear()
    loading = time.perf_counter() - began
    counts: Counter[str] = Counter()
    seconds = hearing = hearing_cpu = 0.0
    rows = []
    try:
        for i, text in enumerate(SENTENCES):
            progress(f"sentence {i + 1} of {len(SENTENCES)}")
            audio = tts.say(text, options=Options(seed=i))
            wall, cpu = time.perf_counter(), time.process_time()
            heard = ear.hear(audio.samples, audio.sample_rate)
            hearing += time.perf_counter() - wall
            hearing_cpu += time.process_time() - cpu
            seconds += audio.seconds
            compared = compare(text, heard.text)
            faults = wrong(compared, text)
            counts.update(words=compared.words, errors=compared.errors, ended_by_limit=audio.finish_reason == LENGTH)
            counts.update({FAULTS[fault.kind] for fault in faults})
            if compared.differences:
                told = [str(difference) for difference in compared.differences]
                rows.append({"text": text, "heard": heard.text, "differences": told, "wrong": bool(faults)})
        name = ear.name
    finally:
        ear.close()
    return {
        "model": tts.name,
        "path": str(Path(tts.path)),
        "ear": name,
        "cores": os.cpu_count() or 1,
        "sentences": len(SENTENCES),
        "words": counts["words"],
        "seconds": seconds,
        "word_error_rate": counts["errors"] / counts["words"],
        **{what: counts[what] for what in FAULTS.values()},
        "ended_by_limit": counts["ended_by_limit"],
        "ear_loading": loading,
        "ear_rtf": hearing / seconds,
        "ear_cpu_rtf": hearing_cpu / seconds,
        "differing": rows,
    }


def text(found: dict[str, Any]) -> str:
    """The same for people."""
    lines = [
        f"{found['model']}: {found['sentences']} sentences, {found['words']} words, {found['seconds']:.0f} s of speech",
        f"word error rate    {found['word_error_rate']:.3f}",
        *(f"{what:<18} {found[what]} sentences" for what in FAULTS.values()),
        f"ended by the limit {found['ended_by_limit']} sentences",
        f"recognizer         {found['ear']}, loaded in {found['ear_loading']:.1f} s; real-time factor "
        f"{found['ear_rtf']:.2f} on {found['cores']} cores, {found['ear_cpu_rtf']:.2f} of CPU time",
    ]
    for row in found["differing"]:
        lines.append(f"{'wrong' if row['wrong'] else 'differs'}: {row['text']}")
        lines += [f"    {difference}" for difference in row["differences"]]
    return "\n".join(lines)
