"""Settings that hold when neither an option nor a variable says otherwise: list, show, set, remove."""

from __future__ import annotations

import argparse
import json
import os

from ..errors import ModelError, S2Error, UsageError
from ..files import KEYS, check_key, defaults_file, read_defaults, write_default
from . import model
from .parser import Parser
from .terminal import Console, on_stdout, table

_EPILOG = """\
s2mlx config                            what is set, and by what: a variable, the file, or nothing
s2mlx config model s2-pro-q6_k          the model that speaks from now on
s2mlx config model --unset              the bundled voice again

A KEY is the long name of an option of s2mlx say, or ask. An option goes before a variable (S2MLX_MODEL), a variable
before the file. Python's s2mlx.load() takes the file's model too; the app keeps its own settings and takes the model
alone. The file is TOML, made to be edited as well: {file}
"""


def configure(parser: Parser) -> None:
    try:
        parser.epilog = _EPILOG.format(file=defaults_file())
    except S2Error:  # no home
        parser.epilog = _EPILOG.format(file="defaults.toml in the config folder")
    parser.add_argument("key", nargs="?", metavar="KEY", help=", ".join(KEYS))
    parser.add_argument("value", nargs="?", metavar="VALUE", help="what to set it to; without it the value is printed")
    parser.option("--unset", action="store_true", help="remove KEY from the file")
    model.add_manners(parser, json="print one JSON object: {KEY: {value, source}}, source null where nothing is set")


def run(args: argparse.Namespace, console: Console) -> int:
    key, value = args.key, args.value
    if args.unset and (key is None or value is not None):
        raise UsageError("--unset removes one setting: s2mlx config KEY --unset")
    if "json" in args.given and (args.unset or value is not None):
        raise UsageError("--json shows settings, and this changes one; leave it out")
    if args.unset:
        write_default(key, None)
    elif value is not None:
        _set(key, value, console)
    else:
        _show(key, args.json)
    return 0


def _set(key: str, raw: str, console: Console) -> None:
    _known(key)
    meant = _parser(key).read(key, raw)
    if meant is None or "\n" in raw:
        raise UsageError(f"{key} takes one value; --unset removes it")
    if key == "model":
        raw = _model(raw, console)
    if key == "voice":
        raw = _voice(raw)
    if key == "lm" and os.path.isdir(os.path.expanduser(raw)):
        raw = os.path.abspath(os.path.expanduser(raw))
    write_default(key, meant if isinstance(meant, bool) else _number(raw) if isinstance(meant, (int, float)) else raw)
    source = _parser(key).parse([]).sources.get(key.replace("-", "_"))
    if source in os.environ:
        console.note(f"the variable {source} is set and goes before the file")


def _model(spec: str, console: Console) -> str:
    """As it means the same in every folder. Raises `ModelError` for what is no model."""
    from ..weights import DEMO, KNOWN, find_model

    path = os.path.expanduser(spec)
    if os.path.exists(path):
        spec = os.path.abspath(path)
    try:
        find_model(spec)
    except ModelError as fault:
        if spec not in (DEMO, *KNOWN):
            raise
        console.warn(str(fault))
    return spec


def _voice(spec: str) -> str:
    from ..voices import VoiceLibrary, is_path

    VoiceLibrary().resolve(spec)
    return os.path.abspath(os.path.expanduser(spec)) if is_path(spec) else spec


def _number(raw: str) -> int | float:
    try:
        return int(raw)
    except ValueError:
        return float(raw)


def _show(key: str | None, as_json: bool) -> None:
    if key is not None:
        _known(key)
    values = {name: pair for name, pair in _in_force().items() if key in (None, name)}
    if as_json:
        print(json.dumps({name: {"value": value, "source": source} for name, (value, source) in values.items()}))
    elif key is not None:
        value, source = values[key]
        if value is None:
            raise S2Error(f"{key} is not set; s2mlx config {key} VALUE sets it")
        print(on_stdout(value))
    else:
        print(
            table(
                [
                    [name, value or "-", source or ("bundled" if value else "not set")]
                    for name, (value, source) in values.items()
                ]
            )
        )


def _in_force() -> dict[str, tuple[str | None, str | None]]:
    """key -> its value and where that is from, as `s2mlx say` would take them.

    The source is None where nobody has set it, the value too except for the model.
    """
    sources, defaults = {key: _parser(key).parse([]).sources for key in ("model", "lm")}, read_defaults()
    found: dict[str, tuple[str | None, str | None]] = {}
    for key in KEYS:
        own = sources["lm" if key == "lm" else "model"]
        source = own.get(key.replace("-", "_"))  # a variable, or the path of the file
        raw = os.environ.get(source or "", defaults.get(key))
        found[key] = (", ".join(raw.split("\n")), source) if raw and source else (None, None)
    if found["model"] == (None, None):
        from ..weights import DEMO

        found["model"] = DEMO, None
    return found


def _parser(key: str) -> Parser:
    """Of the command whose option it is."""
    from .main import command_parser

    parser: Parser = command_parser("ask" if key == "lm" else "say")[1]
    return parser


def _known(key: str) -> None:
    try:
        check_key(key)
    except S2Error as fault:
        raise UsageError(str(fault)) from None
