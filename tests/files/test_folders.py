"""The folders that are read and written outside the current one."""

import pytest

from s2mlx.errors import S2Error
from s2mlx.files import folders
from s2mlx.voices import VoiceLibrary
from s2mlx.weights import catalog


def test_xdg_folders(tmp_path, monkeypatch):
    for variable in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(tmp_path / variable))
    assert folders.config_dir() == tmp_path / "CONFIG" / "s2mlx"
    assert folders.voices_dir() == tmp_path / "DATA" / "s2mlx" / "voices" == VoiceLibrary().folder
    assert folders.autosave_dir() == tmp_path / "STATE" / "s2mlx" / "autosave"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [None, "", "relative/path"])
def test_defaults_without_xdg(tmp_path, monkeypatch, value):
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
        if value is not None:
            monkeypatch.setenv(variable, value)
    for folder in (folders.config_dir(), folders.voices_dir(), folders.state_dir()):
        assert folder.is_absolute() and folder.is_relative_to(tmp_path) and "s2mlx" in folder.parts
    assert list(tmp_path.iterdir()) == []


def test_assets_folder_is_there_or_none():
    assets = folders.assets_dir()
    assert assets is None or assets.is_dir()


def test_a_user_without_a_home(monkeypatch):
    """As in a container that runs under a number of its own: the bundled voice works, folders are asked for."""
    import pwd

    def unknown(number):
        raise KeyError(number)

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    ways = {"CONFIG": folders.config_dir, "DATA": folders.voices_dir, "STATE": folders.state_dir}
    for variable, folder in ways.items():
        with pytest.raises(S2Error, match=f"HOME or XDG_{variable}_HOME"):
            folder()
    assert catalog.configured() is None
