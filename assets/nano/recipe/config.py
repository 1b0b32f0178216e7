"""Where the work goes and how large each stage is."""

import json
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parent
WORK = Path(os.environ.get("NANO_WORK", "nano-work"))

UTTERANCES = 8000
LONG_UTTERANCES = 1500
VARIED_UTTERANCES = 6000  # mostly of less common words
SHARD = 250
VALIDATION = 100  # the last utterances of the corpus
LEXICON_WORDS = 30000  # the most frequent ones: said right, by a rule or by an entry of their own
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
