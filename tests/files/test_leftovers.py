"""What killed runs leave: swept a day later, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from s2mlx.files import Draft, write_bytes
from s2mlx.files.leftovers import sweep, temporary_beside

OLD = time.time() - 2 * 86400


def aged(path, when=OLD):
    os.utime(path, (when, when))
    return path


def test_the_draft_of_a_killed_run_goes_after_a_day(tmp_path):
    code = f"""
import os
from s2mlx.files import Draft
draft = Draft({str(tmp_path / "a.wav")!r})
draft.file.write(b"half")
draft.file.flush()
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 9
    (left,) = tmp_path.iterdir()
    write_bytes(tmp_path / "b.wav", b"data")
    assert left.exists()  # it may be of today's run
    aged(left)
    write_bytes(tmp_path / "b.wav", b"data")
    assert os.listdir(tmp_path) == ["b.wav"]


def test_a_draft_that_is_being_written_stays_however_old_it_is(tmp_path):
    draft = Draft(tmp_path / "a.wav")
    (temporary,) = tmp_path.iterdir()
    aged(temporary)
    sweep(tmp_path)
    draft.file.write(b"all")
    draft.commit()
    assert (tmp_path / "a.wav").read_bytes() == b"all" and os.listdir(tmp_path) == ["a.wav"]


def test_a_folder_goes_when_nothing_in_it_was_touched_for_a_day(tmp_path):
    folder = temporary_beside(tmp_path / "model")
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"part")
    aged(folder)
    sweep(tmp_path)
    assert folder.exists()
    aged(folder / "model.safetensors")
    sweep(tmp_path)
    assert not folder.exists()


def test_what_others_made_stays(tmp_path):
    for name in (".a.0123abcd", ".bashrc", "a.0123abcd.s2mlx", ".a.0123abcd.s2mlx.old", ".a.s2mlx"):
        aged_file = tmp_path / name
        aged_file.write_bytes(b"")
        aged(aged_file)
    (tmp_path / ".a.01234567.s2mlx").symlink_to(tmp_path)
    before = set(os.listdir(tmp_path))
    sweep(tmp_path)
    assert set(os.listdir(tmp_path)) == before


def test_a_folder_that_is_not_there_is_no_fault(tmp_path):
    sweep(tmp_path / "none")
