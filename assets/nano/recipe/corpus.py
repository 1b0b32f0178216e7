"""Stage `corpus`: the teacher speaks the corpus. Each shard holds texts, phones with rough end times, and the
5 ms analysis and pitch."""

import multiprocessing
import sys
import time

import numpy as np

from . import config, teacher, text


def one(sentence):
    phones, samples, pitch = teacher.speak(sentence)
    analysis = teacher.analyse(samples, pitch)
    return [p for p, _ in phones], [e for _, e in phones], analysis.astype(np.float16), pitch.astype(np.float16)


def shard_path(index):
    return config.work(f"corpus/{index:03d}.npz")


def make(index):
    if shard_path(index).exists():
        return 0.0
    begun = time.time()
    texts = text.corpus(config.UTTERANCES, config.LONG_UTTERANCES, config.VARIED_UTTERANCES)
    texts = texts[index * config.SHARD : (index + 1) * config.SHARD]
    spoken = [one(t) for t in texts]
    np.savez(
        shard_path(index).with_suffix(".tmp.npz"),
        text=np.array(texts),
        phones=np.array([" ".join(s[0]) for s in spoken]),
        phone_end=np.array([len(s[0]) for s in spoken]).cumsum(),
        ends=np.concatenate([s[1] for s in spoken]).astype(np.float32),
        analysis_end=np.array([len(s[2]) for s in spoken]).cumsum(),
        analysis=np.concatenate([s[2] for s in spoken]),
        pitch=np.concatenate([s[3] for s in spoken]),
    )
    shard_path(index).with_suffix(".tmp.npz").rename(shard_path(index))
    return time.time() - begun


def run(processes=config.CORES):
    count = config.SHARDS
    with multiprocessing.Pool(processes) as pool:
        for i, seconds in enumerate(pool.imap(make, range(count))):
            print(f"shard {i + 1}/{count} {seconds:.0f} s", flush=True)
    config.note("corpus", utterances=config.SHARDS * config.SHARD)


def load(indices=None):
    """-> list of (text, phones [(name, end)], analysis [T, 2 * BANDS], pitch [T]) of the shards that exist."""
    out = []
    for index in range(config.SHARDS) if indices is None else indices:
        if not shard_path(index).exists():
            continue
        z = np.load(shard_path(index))
        phone_at = np.concatenate([[0], z["phone_end"]])
        analysis_at = np.concatenate([[0], z["analysis_end"]])
        analysis, pitch, ends = z["analysis"], z["pitch"], z["ends"]
        for i, (sentence, names) in enumerate(zip(z["text"], z["phones"])):
            phones = list(zip(names.split(), ends[phone_at[i] : phone_at[i + 1]].tolist()))
            part = slice(analysis_at[i], analysis_at[i + 1])
            out.append((str(sentence), phones, analysis[part], pitch[part]))
    return out


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
