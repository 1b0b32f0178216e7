"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os

import pytest

from s2mlx.files import Draft, write_bytes


def test_new_files_have_the_permissions_of_any_other(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_bytes(tmp_path / "new", b"data")
    assert (tmp_path / "new").read_bytes() == b"data"
    assert os.stat(tmp_path / "new").st_mode == os.stat(tmp_path / "plain").st_mode
    assert len(os.listdir(tmp_path)) == 2


def test_an_overwritten_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "old"
    path.write_bytes(b"before")
    os.chmod(path, 0o640)
    write_bytes(path, b"after")
    assert path.read_bytes() == b"after" and os.stat(path).st_mode & 0o777 == 0o640


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    write_bytes(tmp_path / "link", b"data")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "file").read_bytes() == b"data"


def test_a_fault_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def full(*_):
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, full)
            with pytest.raises(OSError, match="No space"):
                write_bytes(path, b"after")
        assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "under a file"])
def test_what_is_no_file_is_not_replaced(tmp_path, kind):
    path = tmp_path / "there"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.write_bytes(b"")
    before = os.lstat(path)
    with pytest.raises(OSError):
        write_bytes(path / "file" if kind == "under a file" else path, b"data")
    assert os.listdir(tmp_path) == ["there"] and os.lstat(path).st_mode == before.st_mode


def test_a_missing_folder_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder .*/no"):
        write_bytes(tmp_path / "no" / "file", b"data")


def test_a_write_protected_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    os.chmod(path, 0o400)
    monkeypatch.setattr(os, "access", lambda *_: False)  # who is root may write everything
    with pytest.raises(PermissionError, match="write-protected"):
        write_bytes(path, b"after")
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["file"]


# --- a file written piece by piece -----------------------------------------------------------------------------


def test_a_draft_is_nothing_until_it_is_committed(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    draft = Draft(path)
    draft.file.write(b"af")
    draft.file.flush()
    assert path.read_bytes() == b"before"
    draft.file.write(b"ter")
    draft.commit()
    assert path.read_bytes() == b"after" and os.listdir(tmp_path) == ["file"]
    draft.discard()
    draft.commit()
    assert path.read_bytes() == b"after"


def test_a_draft_that_is_discarded_or_fails_leaves_nothing(tmp_path):
    Draft(tmp_path / "file").discard()
    with pytest.raises(KeyboardInterrupt), Draft(tmp_path / "file") as draft:
        draft.file.write(b"data")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == [] and draft.file.closed


@pytest.fixture(params=["links", "no links"])
def disk(request, monkeypatch):
    """A disk, and one like exFAT."""
    if request.param == "no links":

        def link(*_):
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

        monkeypatch.setattr(os, "link", link)


def test_a_file_for_a_free_name_replaces_none(disk, tmp_path):
    """Also one that comes at the last moment: only the step itself can notice."""
    path = tmp_path / "file"
    with pytest.raises(FileExistsError), Draft(path, replace=False) as draft:
        draft.file.write(b"ours")
        path.write_bytes(b"somebody's")
    assert path.read_bytes() == b"somebody's" and os.listdir(tmp_path) == ["file"]
    with Draft(tmp_path / "free", replace=False) as draft:
        draft.file.write(b"ours")
    assert (tmp_path / "free").read_bytes() == b"ours" and sorted(os.listdir(tmp_path)) == ["file", "free"]


@pytest.mark.parametrize("gone", [False, True])
def test_a_finished_file_whose_name_was_taken_is_kept_elsewhere(disk, tmp_path, gone):
    folder = tmp_path / "here"
    folder.mkdir()
    draft = Draft(folder / "a.txt")
    draft.file.write(b"work of hours")
    (folder / "a.txt").mkdir()
    (folder / "a-2.txt").write_bytes(b"another's")
    with pytest.raises(OSError):
        draft.commit()
    if gone:
        folder.rename(tmp_path / "moved")
    kept = draft.keep_elsewhere(tmp_path / "autosave")
    assert kept.read_bytes() == b"work of hours" and kept.name in ("a.txt", "a-3.txt") and draft.file.closed
    assert not [path for path in tmp_path.rglob(".*") if not gone]
