"""Where the work goes and how large each stage is. NANO_REHEARSAL=1 makes all of it small: every stage runs, in
minutes, and what comes out is noise and stays in a folder of its own."""

import json
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = Path(os.environ.get("NANO_WORK", "nano-work"))
SHIPPED = HERE.parent
REHEARSAL = os.environ.get("NANO_REHEARSAL") == "1"
if REHEARSAL:
    WORK /= "rehearsal"
    SHIPPED = WORK / "shipped"
CORES = 2  # the decoder's batch grows with them


def size(whole, rehearsed):
    return rehearsed if REHEARSAL else whole


UTTERANCES = size(8000, 300)
LONG_UTTERANCES = size(1500, 60)
VARIED_UTTERANCES = size(6000, 140)  # mostly of less common words
SHARD = 250
VALIDATION = 100  # the last utterances of the corpus
LEXICON_WORDS = size(30000, 2000)  # the most frequent ones: said right, by a rule or by an entry of their own
TEMPO = 1.1
SHARDS = (UTTERANCES + LONG_UTTERANCES + VARIED_UTTERANCES) // SHARD
BOOK_SHARDS = 20  # shards that durations and codebooks are learned from


def work(name):
    path = WORK / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def note(stage, **figures):
    """Print a stage's figures and keep them in figures.json."""
    path = work("figures.json")
    kept = json.loads(path.read_text()) if path.exists() else {}
    kept.setdefault(stage, {}).update(figures)
    path.write_text(json.dumps(kept, indent=1, sort_keys=True))
    print(stage, json.dumps(figures), flush=True)
