"""An empty library."""

import pytest

from s2mlx.files import folders
from s2mlx.voices import VoiceLibrary


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Without the voices that come with the program."""
    monkeypatch.setattr(folders, "assets_dir", lambda: None)
    return VoiceLibrary(tmp_path / "voices")
