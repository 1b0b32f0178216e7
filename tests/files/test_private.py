"""Who may read what is kept: nobody but its owner, except where the user named the file."""

from __future__ import annotations

import os

import numpy as np
import pytest

from s2mlx.audio import write_audio
from s2mlx.cli import autosave
from s2mlx.files import Draft, private_folder, write_bytes, write_default
from s2mlx.voices import VoiceLibrary
from tests.voices.making import voice


@pytest.fixture
def home(tmp_path, monkeypatch):
    for kind in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "home" / kind))
    before = os.umask(0o022)
    yield tmp_path / "home"
    os.umask(before)


def open_to_others(root) -> list[str]:
    return [str(path.relative_to(root)) for path in root.rglob("*") if path.stat().st_mode & 0o077]


def test_voices_recordings_and_what_was_removed(home):
    samples = np.sin(np.arange(4410) / 30).astype(np.float32)
    library = VoiceLibrary()
    library.add("anna", voice(1), clip=(samples, 44100))
    library.add("bert", voice(2), clip=(samples, 44100))
    library.remove("bert")
    assert autosave.keep("record", samples, 44100).exists()
    files = [path.name for path in home.rglob("*") if path.is_file()]
    assert files.count("voice.s2voice") == files.count("clip.flac") == 2
    assert {name for name in open_to_others(home) if not name.endswith(".lock")} == set()


def test_the_folder_of_settings(home):
    write_default("voice", "clara")
    assert (home / "CONFIG" / "s2mlx").stat().st_mode & 0o777 == 0o700


def test_folders_that_are_there_stay_as_they_are(home):
    home.mkdir()
    home.chmod(0o755)
    private_folder(home / "a" / "b")
    private_folder(home / "a" / "b")
    modes = [path.stat().st_mode & 0o777 for path in (home, home / "a", home / "a" / "b")]
    assert modes == [0o755, 0o700, 0o700]
    (home / "file").write_bytes(b"")
    for path in (home / "file", home / "file" / "below"):
        with pytest.raises(OSError):
            private_folder(path)


def test_a_private_file_is_private_also_where_an_open_one_was(home):
    home.mkdir()
    (home / "text.json").write_bytes(b"before")
    (home / "text.json").chmod(0o644)
    write_bytes(home / "text.json", b"after", private=True)
    assert (home / "text.json").stat().st_mode & 0o777 == 0o600


def test_files_that_the_user_named_are_as_any_other(home):
    home.mkdir()
    write_audio(home / "a.wav", np.zeros(10, np.float32), 44100)
    voice().save(home / "a.s2voice")
    assert {path.stat().st_mode & 0o777 for path in home.iterdir()} == {0o644}


def test_what_is_kept_elsewhere_is_private(home):
    (home / "here").mkdir(parents=True)
    draft = Draft(home / "here" / "a.wav")
    draft.file.write(b"work of hours")
    (home / "here").rename(home / "there")
    kept = draft.keep_elsewhere(home / "STATE" / "autosave")
    assert kept.read_bytes() == b"work of hours" and kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


def test_without_a_place_elsewhere_the_draft_is_what_is_left(home):
    home.mkdir()
    draft = Draft(home / "a.wav")
    draft.file.write(b"work of hours")
    draft.file.flush()
    (home / "a.wav").mkdir()
    assert draft.keep_elsewhere(None) == home / "a-2.wav"
