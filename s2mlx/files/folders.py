"""The folders this program reads and writes outside the current one. Nothing is created here: who writes creates.

XDG variables count on every system; without them Linux has the XDG defaults and macOS its Library folders.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from ..errors import S2Error

_NAME = "s2mlx"


def config_dir() -> Path:
    """Settings."""
    return _folder("XDG_CONFIG_HOME", "user_config_path")


def voices_dir() -> Path:
    """Saved voices."""
    return _folder("XDG_DATA_HOME", "user_data_path") / "voices"


def state_dir() -> Path:
    """What may be lost without harm to settings or voices: history, logs."""
    return _folder("XDG_STATE_HOME", "user_state_path")


def cache_dir() -> Path:
    """What can be made again from other files."""
    return _folder("XDG_CACHE_HOME", "user_cache_path")


def autosave_dir() -> Path:
    """Audio kept because the place it was meant for failed."""
    return state_dir() / "autosave"


def assets_dir() -> Path | None:
    """What comes with the program (the bundled model and voices); None when it was left out."""
    spec = find_spec("s2mlx.assets")
    places = [Path(p) for p in spec.submodule_search_locations or ()] if spec else []
    places.append(Path(__file__).parents[2] / "assets")  # a checkout that was not installed
    return next((p for p in places if p.is_dir()), None)


def _folder(variable: str, default: str) -> Path:
    chosen = os.environ.get(variable, "")
    if os.path.isabs(chosen):  # the XDG specification has relative values ignored
        return Path(chosen) / _NAME
    import platformdirs

    try:
        path: Path = getattr(platformdirs, default)(_NAME, appauthor=False)
    except RuntimeError:  # a user without a home, as in a container; older versions give a path that begins with ~
        path = Path("~")
    if not path.is_absolute():
        raise S2Error(f"this user has no home folder: set HOME or {variable} to the folder to use")
    return path
