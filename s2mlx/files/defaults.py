"""The defaults file: settings that hold where neither an option nor a variable says otherwise.

`defaults.toml` in the config folder, one `key = value` a line; a key is the long name of an option of `s2mlx say`,
or of `s2mlx ask`.
Before 0.2 there was a file `model` with one line, the model's name: it is read where `defaults.toml` names no model.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path
from typing import Any

from ..errors import ModelError, S2Error, reason
from .atomic import write_bytes
from .folders import config_dir
from .locks import locked
from .plain_text import read_text_file
from .regular import open_regular

KEYS = (
    "model", "memory-limit", "voice", "device", "temperature", "top-p", "top-k", "rate", "max-frames", "pause-ms",
    "batch", "trim", "normalize", "check", "takes", "lm",
)  # fmt: skip
_LARGEST = 1_000_000  # bytes
_HEAD = "# What s2mlx takes where neither an option nor a variable says otherwise: see `s2mlx config --help`.\n"


def defaults_file() -> Path:
    """Where it is, or would be. Raises `S2Error` for a user without a home."""
    return config_dir() / "defaults.toml"


def read_defaults() -> dict[str, str]:
    """Every setting of the file, as the variable of its option would have it: a list has one line for each value.

    Raises `S2Error` for a file that is no TOML, holds an unknown key, or a value that is no text, number or truth.
    """
    try:
        path = defaults_file()
    except S2Error:  # no home, so nothing is set
        return {}
    defaults = {}
    for key, value in _load(path).items():
        if key not in KEYS:
            raise S2Error(f"{path}: there is no setting {key!r}; {_near(key)}")
        defaults[key] = _words(value, f"{path}: {key}")
    if "model" not in defaults and (model := _old_model()):
        defaults["model"] = model
    return {key: value for key, value in defaults.items() if value.strip()}


def check_key(key: str) -> None:
    """Raises `S2Error` for what is no setting."""
    if key not in KEYS:
        raise S2Error(f"there is no setting {key!r}; {_near(key)}")


def write_default(key: str, value: str | int | float | bool | None) -> None:
    """Set `key`; None removes it. What else the file holds stays, comments too. Raises `S2Error`."""
    path = defaults_file()
    if value is not None or key in _load(path):
        try:
            with locked(path.with_name(path.name + ".lock")):  # two commands at once lose nothing of each other's
                _rewrite(path, key, value)
        except OSError as fault:
            raise S2Error(f"cannot write {path}: {reason(fault)}") from fault
    elif not (key == "model" and _old_model()):
        check_key(key)
    if key == "model":
        _old_model_file().unlink(missing_ok=True)


def _rewrite(path: Path, key: str, value: str | int | float | bool | None) -> None:
    import tomlkit

    document = tomlkit.parse(read_text_file(path, _LARGEST, pipes=False) if os.path.exists(path) else _HEAD)
    if value is None:
        document.pop(key, None)
    else:
        check_key(key)
        document[key] = value
    write_bytes(path, tomlkit.dumps(document).encode())


def _load(path: Path) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    try:
        return tomllib.loads(read_text_file(path, _LARGEST, pipes=False))
    except tomllib.TOMLDecodeError as fault:
        raise S2Error(f"{path} is not TOML: {fault}") from None


def _words(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list):
        return "\n".join(_words(each, name) for each in value)
    raise S2Error(f"{name} must be a text, a number, true or false")


def _near(key: str) -> str:
    near = difflib.get_close_matches(key, KEYS, 1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(KEYS)}"


def _old_model_file() -> Path:
    return config_dir() / "model"


def _old_model() -> str | None:
    try:
        with open_regular(_old_model_file()) as file:
            return file.read(_LARGEST).decode().strip() or None
    except OSError:  # no such file
        return None
    except UnicodeDecodeError:
        raise ModelError(f"{_old_model_file()} is not UTF-8 text: it names the model to use, in one line") from None
