"""Keeps what training needs to go on, small enough for the repository, and puts it back into a fresh work folder.

    python -m recipe.checkpoint save | restore

Weights are kept as float16, without the optimizer's state. The corpus is kept as its codes. After `restore`, raise a
stage's STEPS and run it by its name (`references` before `cloning`). `align`, `books`, `codes` and `encoder` need the
corpus itself, which the teacher makes again (`corpus`).
"""

import gzip
import io
import lzma
import shutil
import sys

import numpy as np
import torch

from . import config

FOLDER = config.SHIPPED / "checkpoint"
NETWORKS = ("decoder.pt", "encoder.pt", "ar.pt")
TABLES = ("align.npz", "durations.json", "lexicon.json", "figures.json")
LINES = ("text", "phones", "lengths")  # of codes.npz, one an utterance
MELODY = 128  # steps an octave


def halved(value):
    if isinstance(value, torch.Tensor):
        return value.half() if value.dtype == torch.float32 else value
    return {k: halved(v) for k, v in value.items()} if isinstance(value, dict) else value


def whole(value):
    if isinstance(value, torch.Tensor):
        return value.float() if value.dtype == torch.float16 else value
    return {k: whole(v) for k, v in value.items()} if isinstance(value, dict) else value


def pack_codes():
    """codes.npz in the smallest numbers that hold it; the melody to a tenth of a semitone."""
    z, packed = np.load(config.work("codes.npz")), io.BytesIO()
    np.savez(
        packed,
        semantic=z["codes"][0].astype(np.uint16),
        details=z["codes"][1:].astype(np.uint8),
        melody=np.round(z["melody"].astype(np.float32) * MELODY).astype(np.int8),
        end=z["end"].astype(np.int32),
        **{name: np.frombuffer("\n".join(z[name]).encode(), np.uint8) for name in LINES},
    )
    with lzma.open(FOLDER / "codes.npz.xz", "wb") as target:
        target.write(packed.getvalue())


def unpack_codes():
    with lzma.open(FOLDER / "codes.npz.xz") as source:
        z = np.load(io.BytesIO(source.read()))
    np.savez(
        config.work("codes.npz"),
        codes=np.concatenate([z["semantic"][None].astype(np.int16), z["details"].astype(np.int16)]),
        melody=(z["melody"] / np.float32(MELODY)).astype(np.float16),
        end=z["end"].astype(np.int64),
        **{name: np.array(z[name].tobytes().decode().split("\n")) for name in LINES},
    )


def save():
    FOLDER.mkdir(exist_ok=True)
    for name in NETWORKS:
        state = torch.load(config.work(name), weights_only=False)
        state.pop("optimizer", None)
        torch.save(halved(state), FOLDER / name)
    books = np.load(config.work("books.npz"))
    np.savez_compressed(
        FOLDER / "books.npz",
        semantic=books["semantic"].astype(np.float16),
        details=books["details"].astype(np.float16),
        groups=books["groups"],
    )
    pack_codes()
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
    unpack_codes()
    shutil.copy(config.SHIPPED / "tokenizer.json", config.work("tokenizer.json"))
    for name in TABLES:
        with gzip.open(FOLDER / (name + ".gz")) as source, open(config.work(name), "wb") as target:
            shutil.copyfileobj(source, target)


if __name__ == "__main__":
    {"save": save, "restore": restore}[sys.argv[1]]()
