"""Results that appear whole or not at all, and never over something else."""

import errno
import os
import shutil
from collections import namedtuple

import pytest

from s2mlx.convert import convert
from s2mlx.convert.place import add_folder, replace_folder
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
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(S2Error, match=r"cannot write \S*made.gguf: the disk is full; nothing was kept"):
        convert(small(), folder / "made.gguf")
    assert names(folder) == ["source.gguf"]


def test_too_little_space_is_said_before(small, folder, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("Usage", "total used free")(1, 1, 1000))
    with pytest.raises(S2Error, match=r"would take \d.* [kM]B, and 1.0 kB are free"):
        convert(small(), folder / "made.gguf", on_progress=None)
    assert names(folder) == ["source.gguf"]


def test_progress_ends_at_the_whole(small, folder):
    seen = []
    convert(small(), folder / "made.gguf", on_progress=lambda *args: seen.append(args))
    assert seen == sorted(seen) and seen[-1][0] == seen[-1][1]


def test_the_source_is_never_the_target(small, folder):
    """A second name of one file is what a disk that does not tell cases apart gives."""
    source = small()
    (folder / "link.gguf").symlink_to(source)
    (folder / "SOURCE.gguf").hardlink_to(source)
    for target in (source, folder / "link.gguf", folder / "SOURCE.gguf", folder / ".." / "models" / "source.gguf"):
        with pytest.raises(UsageError, match="the source itself"):
            convert(source, target, force=True)


def test_folders_in_each_other(official, small, folder):
    source = official()
    before = names(source)
    (folder / "link.gguf").symlink_to(source / "model.safetensors")
    with pytest.raises(UsageError, match="the source itself"):
        convert(source, folder / "link.gguf", force=True)
    with pytest.raises(UsageError, match="lies in the source"):
        convert(source, source / "mlx", "f16", force=True)
    assert names(source) == before
    with pytest.raises(UsageError, match="holds the source"):
        convert(source, folder, "f16", force=True)
    with pytest.raises(UsageError, match="holds the source"):
        convert(small(), folder, force=True)
    convert(source, source / "made.gguf", "q4_0")
    convert(source, source / "made.gguf", "q8_0", force=True)


# --- what comes into the way while the work is done -----------------------------------------------------------------


@pytest.fixture(params=["links", "no links"])
def disk(request, monkeypatch):
    """A disk, and one like exFAT."""
    if request.param == "no links":

        def link(*_):
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

        monkeypatch.setattr(os, "link", link)


def test_a_file_that_comes_meanwhile(disk, small, folder):
    def meanwhile(done, total):
        (folder / "made.gguf").write_bytes(b"somebody's")

    with pytest.raises(S2Error, match="made.gguf exists; --force"):
        convert(small(), folder / "made.gguf", on_progress=meanwhile)
    assert (folder / "made.gguf").read_bytes() == b"somebody's" and ".made" not in "".join(names(folder))


def test_two_conversions_to_one_place(disk, small, folder):
    """The second begins within the first, and ends before it."""
    source, first = small(), []

    def meanwhile(done, total):
        if not first:
            first.append(convert(source, folder / "made.gguf", "q4_0"))

    with pytest.raises(S2Error, match="made.gguf exists"):
        convert(source, folder / "made.gguf", "q8_0", on_progress=meanwhile)
    assert (folder / "made.gguf").stat().st_size == first[0].nbytes
    assert names(folder) == ["made.gguf", "source.gguf", "tokenizer.json"]


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_that_comes_meanwhile(small, folder, force):
    def meanwhile(done, total):
        (folder / "mlx").mkdir(exist_ok=True)
        (folder / "mlx" / "thesis.txt").write_text("Years of work.")

    with pytest.raises(S2Error, match="holds thesis.txt" if force else "mlx exists; --force"):
        convert(small(), folder / "mlx", on_progress=meanwhile, force=force)
    assert names(folder) == ["mlx", "source.gguf"] and names(folder / "mlx") == ["thesis.txt"]


def test_a_folder_that_comes_at_the_last_moment(tmp_path):
    for name, path in (("new", "ours"), ("made", "thesis.txt"), ("empty", ".DS_Store")):
        (tmp_path / name).mkdir()
        (tmp_path / name / path).write_text("")
    with pytest.raises(FileExistsError):
        add_folder(tmp_path / "new", tmp_path / "made", [".DS_Store"])
    assert names(tmp_path / "made") == ["thesis.txt"]
    add_folder(tmp_path / "new", tmp_path / "empty", [".DS_Store"])
    assert names(tmp_path / "empty") == ["ours"]


def test_only_known_names_are_removed(tmp_path):
    for name, path in (("new", "config.json"), ("made", "config.json"), ("made", "thesis.txt")):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / path).write_text(name)
    with pytest.raises(S2Error, match="what came into the former one meanwhile is in .*new.old"):
        replace_folder(tmp_path / "new", tmp_path / "made", lambda name: name == "config.json")
    assert (tmp_path / "made" / "config.json").read_text() == "new"
    assert names(tmp_path / "new.old") == ["thesis.txt"]


def test_a_folder_comes_back_when_it_cannot_be_replaced(tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "config.json").write_text("")
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "nothing", tmp_path / "made", lambda name: True)
    assert names(tmp_path) == ["made"] and names(tmp_path / "made") == ["config.json"]


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


@pytest.mark.parametrize("force", [False, True])
def test_the_tokenizer_of_another_model_is_never_replaced(small, folder, tmp_path, force):
    source, other = small(), tmp_path / "other"
    other.mkdir()
    (other / "tokenizer.json").write_text("{}")
    with pytest.raises(S2Error, match="other/tokenizer.json is another one.*choose another folder"):
        convert(source, other / "made.gguf", force=force)
    assert names(other) == ["tokenizer.json"] and (other / "tokenizer.json").read_text() == "{}"


def test_another_tokenizer_that_comes_meanwhile(small, folder):
    def meanwhile(done, total):
        (folder / "tokenizer.json").write_text("{}")

    with pytest.raises(S2Error, match="tokenizer.json is another one"):
        convert(small(), folder / "made.gguf", on_progress=meanwhile, force=True)
    assert names(folder) == ["source.gguf", "tokenizer.json"] and (folder / "tokenizer.json").read_text() == "{}"


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
    monkeypatch.setattr(
        Region,
        "release",
        lambda region, begin=0, end=None: released.append(
            (region.begin + begin, region.end if end is None else region.begin + end)
        ),
    )
    convert(source, folder / "two.gguf")
    assert (folder / "one.gguf").read_bytes() == (folder / "two.gguf").read_bytes()
    table = next(r for r in released if r[1] - r[0] == 2560 * 256 * 2)  # the codebook embeddings, f16
    parts = [r for r in released if r != table and table[0] <= r[0] < table[1]]
    assert len(parts) > 3 and all(a[1] == b[0] for a, b in zip(parts, parts[1:])) and parts[0][0] == table[0]
