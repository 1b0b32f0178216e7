"""Results that appear whole or not at all, and never over something else."""

import os
import shutil
from collections import namedtuple

import pytest

from s2mlx.convert import convert
from s2mlx.errors import S2Error, UsageError

from .conftest import TOKENIZER


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_nothing_is_written_over_without_force(small, folder):
    source, target = small(), folder / "made.gguf"
    target.write_bytes(b"something")
    with pytest.raises(S2Error, match="made.gguf exists; --force"):
        convert(source, target)
    assert target.read_bytes() == b"something"
    convert(source, target, force=True)
    assert target.read_bytes()[:4] == b"GGUF" and names(folder) == ["made.gguf", "source.gguf", "tokenizer.json"]


def test_an_interrupt_leaves_nothing(small, folder):
    def interrupt(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    source = small()
    with pytest.raises(KeyboardInterrupt):
        convert(source, folder / "made.gguf", "q4_k", on_progress=interrupt)
    assert names(folder) == ["source.gguf"]


def test_a_disk_that_fills_up_leaves_nothing(small, folder, monkeypatch):
    from s2mlx.convert import as_gguf

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(as_gguf, "synced", full)
    with pytest.raises(OSError):
        convert(small(), folder / "made.gguf")
    assert names(folder) == ["source.gguf"]


def test_too_little_space_is_said_before(small, folder, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("Usage", "total used free")(1, 1, 1000))
    with pytest.raises(S2Error, match="0.0 GB are free"):
        convert(small(), folder / "made.gguf", on_progress=None)
    assert names(folder) == ["source.gguf"]


def test_progress_ends_at_the_whole(small, folder):
    seen = []
    convert(small(), folder / "made.gguf", on_progress=lambda *args: seen.append(args))
    assert seen == sorted(seen) and seen[-1][0] == seen[-1][1]


def test_the_source_is_never_the_target(small, folder):
    source = small()
    (folder / "link.gguf").symlink_to(source)
    for target in (source, folder / "link.gguf", folder / ".." / "models" / "source.gguf"):
        with pytest.raises(UsageError, match="the source itself"):
            convert(source, target, force=True)


def test_places_where_nothing_can_be_written(small, folder):
    source = small()
    (folder / "there.gguf").mkdir()
    with pytest.raises(S2Error, match="there is no folder"):
        convert(source, folder / "nowhere" / "made.gguf")
    with pytest.raises(UsageError, match="it is a folder"):
        convert(source, folder / "there.gguf", force=True)
    os.mkfifo(folder / "pipe.gguf")
    with pytest.raises(UsageError, match="no ordinary file"):
        convert(source, folder / "pipe.gguf", force=True)


def test_the_tokenizer_of_another_model_is_not_replaced(small, folder, tmp_path):
    source, other = small(), tmp_path / "other"
    other.mkdir()
    (other / "tokenizer.json").write_text("{}")
    with pytest.raises(S2Error, match="tokenizer.json exists and is another one"):
        convert(source, other / "made.gguf")
    assert names(other) == ["tokenizer.json"]
    convert(source, other / "made.gguf", force=True)
    assert (other / "tokenizer.json").read_bytes() == TOKENIZER.read_bytes()


def test_the_tokenizer_that_is_there_already(small, folder):
    (folder / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    before = (folder / "tokenizer.json").stat().st_mtime_ns
    convert(small(), folder / "made.gguf")
    assert (folder / "tokenizer.json").stat().st_mtime_ns == before


def test_memory_is_let_go_while_a_tensor_is_read(small, folder, monkeypatch):
    """What was read of a large tensor does not stay until its end; its bytes are the same."""
    from s2mlx.convert import encode
    from s2mlx.weights.mapped import Region

    source = small()
    convert(source, folder / "one.gguf")
    released = []
    monkeypatch.setattr(encode, "PIECE", 1 << 12)
    monkeypatch.setattr(encode, "HELD", 1 << 15)
    monkeypatch.setattr(Region, "release", lambda region: released.append((region.begin, region.end)))
    convert(source, folder / "two.gguf")
    assert (folder / "one.gguf").read_bytes() == (folder / "two.gguf").read_bytes()
    table = next(r for r in released if r[1] - r[0] == 2560 * 256 * 2)  # the codebook embeddings, f16
    parts = [r for r in released if r != table and table[0] <= r[0] < table[1]]
    assert len(parts) > 3 and all(a[1] == b[0] for a, b in zip(parts, parts[1:])) and parts[0][0] == table[0]
