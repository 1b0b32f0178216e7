"""Keeps what training needs to go on, small enough for the repository, and puts it back into a fresh work folder.

    python -m recipe.checkpoint save | restore

Weights are kept as float16, without the optimizer's state. After `restore`, raise a stage's STEPS and run it: corpus
and codes are made again from the teacher (the books and durations are the kept ones, so the codes stay the same).
"""

import gzip
import shutil
import sys

import numpy as np
import torch

from . import config

FOLDER = config.SHIPPED / "checkpoint"
NETWORKS = ("decoder.pt", "encoder.pt", "ar.pt")
TABLES = ("durations.json", "lexicon.json", "figures.json")


def halved(value):
    if isinstance(value, torch.Tensor):
        return value.half() if value.dtype == torch.float32 else value
    return {k: halved(v) for k, v in value.items()} if isinstance(value, dict) else value


def whole(value):
    if isinstance(value, torch.Tensor):
        return value.float() if value.dtype == torch.float16 else value
    return {k: whole(v) for k, v in value.items()} if isinstance(value, dict) else value


def save():
    FOLDER.mkdir(exist_ok=True)
    for name in NETWORKS:
        state = torch.load(config.work(name), weights_only=False)
        for passing in ("optimizer", "before"):
            state.pop(passing, None)
        torch.save(halved(state), FOLDER / name)
    books = np.load(config.work("books.npz"))
    np.savez_compressed(
        FOLDER / "books.npz",
        semantic=books["semantic"].astype(np.float16),
        details=books["details"].astype(np.float16),
        groups=books["groups"],
    )
    for name in TABLES:
        with open(config.work(name), "rb") as source, gzip.GzipFile(FOLDER / (name + ".gz"), "wb", mtime=0) as target:
            shutil.copyfileobj(source, target)


def restore():
    for name in NETWORKS:
        torch.save(whole(torch.load(FOLDER / name, weights_only=False)), config.work(name))
    books = np.load(FOLDER / "books.npz")
    np.savez(
        config.work("books.npz"),
        semantic=books["semantic"].astype(np.float32),
        details=books["details"].astype(np.float32),
        groups=books["groups"],
    )
    for name in TABLES:
        with gzip.open(FOLDER / (name + ".gz")) as source, open(config.work(name), "wb") as target:
            shutil.copyfileobj(source, target)


if __name__ == "__main__":
    {"save": save, "restore": restore}[sys.argv[1]]()
