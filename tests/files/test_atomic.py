"""Files written whole or not at all."""

from __future__ import annotations

import os

import pytest

from s2mlx.files.atomic import write_bytes


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


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        write_bytes(tmp_path / "folder", b"data")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_missing_folder_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_bytes(tmp_path / "no" / "file", b"data")
