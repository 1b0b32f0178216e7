"""Options of a command, each with a variable that stands in for it, some with a default in the user's file too.

One rule names the variable of every option: S2MLX, the command, the option. `say --max-frames` is S2MLX_SAY_MAX_FRAMES,
`voice add --text` S2MLX_VOICE_ADD_TEXT. What means the same in every command that has it is `shared`, and its variable
may leave the command out: S2MLX_MAX_FRAMES; the longer name wins.
The command line wins over the variables, these over the defaults file (`files.defaults`, for what is `shared`), that
over the default. A variable also gives way to an option it would contradict (`yields_to`), so that S2MLX_VOICE in a
profile does not forbid `--ref`; the file likewise. A repeatable option takes one value per line of its variable.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import UsageError
from ..files import KEYS, defaults_file, read_defaults

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


@dataclass(frozen=True)
class _Setting:
    dest: str
    flags: str  # as typed: "-m/--model"
    own: str  # the variable with the command's name
    variable: str  # the one that help shows: the shorter, if it has one
    key: str | None  # in the defaults file
    kind: str  # "value", "list" or "flag"
    convert: Callable[[str], Any]
    choices: tuple[str, ...] | None
    default: object
    yields_to: tuple[str, ...]
    only: tuple[Callable[[argparse.Namespace], bool], str] | None  # when it means something, and that in words


class Parser(argparse.ArgumentParser):
    """argparse with environment variables, errors as `UsageError`, and options allowed between positional words."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **{"formatter_class": _Help, "allow_abbrev": False, **kwargs})
        self._settings: list[_Setting] = []
        self.elsewhere: dict[str, str] = {}  # options that people know from other programs -> what to do here
        self.takes_defaults = True  # False where the defaults file has no say: in what keeps settings of its own

    @property
    def settings(self) -> tuple[_Setting, ...]:
        """The options declared so far that have a variable."""
        return tuple(self._settings)

    def read(self, key: str, raw: str) -> Any:
        """What a text means as the value of the shared option with this long name. Raises `UsageError`."""
        return _read(next(s for s in self._settings if s.key == key), raw, key)

    @property
    def actions(self) -> dict[str, Parser]:
        """The parsers of a command that has actions, by name."""
        return dict(self._subparsers._group_actions[0].choices or {}) if self._subparsers else {}

    def option(self, *flags: str, **kwargs: Any) -> None:
        """Declare an option of this command alone: no variable of it holds for other commands."""
        self._declare(False, *flags, **kwargs)

    def shared(self, *flags: str, **kwargs: Any) -> None:
        """Declare an option that means the same in every command. `default` applies when nothing gives it."""
        self._declare(True, *flags, **kwargs)

    def _declare(
        self,
        shared: bool,
        *flags: str,
        help: str,
        default: Any = None,
        yields_to: Sequence[str] = (),
        only: tuple[Callable[[argparse.Namespace], bool], str] | None = None,
        **kwargs: Any,
    ) -> None:
        action = kwargs.get("action", "store")
        kind = {"store": "value", "append": "list"}.get(action, "flag")
        argument = self.add_argument(*flags, default=None, help=argparse.SUPPRESS, **kwargs)
        long_name = next(flag for flag in flags if flag.startswith("--"))
        own = _variable(*self.prog.split()[1:], long_name[2:])
        variable = _variable(long_name[2:]) if shared else own
        argument.help = f"{help} [{variable}]"
        self._settings.append(
            _Setting(
                argument.dest,
                "/".join(flags),
                own,
                variable,
                None if not shared else long_name[2:],
                kind,
                kwargs.get("type", str),
                tuple(kwargs["choices"]) if "choices" in kwargs else None,
                False if kind == "flag" and default is None else default,
                tuple(yields_to),
                only,
            )
        )

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """The options in force; `.given` names those typed on the command line, `.sources` tells of each that somebody
        has set what did: its flags, its variable or the path of the defaults file."""
        argv = _protect(argv)
        if self._subparsers is None:
            args, unknown = self.parse_known_intermixed_args(argv)
        else:
            self._refuse_action(argv)
            args, unknown = self.parse_known_args(argv)
        _unprotect(args)
        parser = getattr(args, "parser", self)
        parser._refuse_unknown(unknown)
        parser._refuse_empty(args)
        return parser._fill(args)

    def _refuse_action(self, argv: list[str]) -> None:
        """A misspelt action or an option in its place: argparse would list all actions, or miss one."""
        if argv and argv[0].startswith("-") and argv[0] not in self._option_string_actions:
            self._refuse_unknown(argv[:1])
        if argv and not argv[0].startswith("-") and argv[0] not in self.actions:
            self.error(f"there is no action {argv[0]!r}; {known_or_near(argv[0], self.actions)}")

    def _refuse_unknown(self, words: list[str]) -> None:
        words = [word.removeprefix(_WORD) for word in words]
        for word in words:
            flag = word.split("=")[0]
            if flag in self.elsewhere:
                self.error(f"there is no option {flag}: {self.elsewhere[flag]}")
            if flag.startswith("-") and flag not in self._option_string_actions:
                near = near_words(flag, self._option_string_actions)
                self.error(f"there is no option {flag}" + (f"; did you mean {near[0]}?" if near else ""))
        if words:
            self.error(f"too many words: {' '.join(words)}")

    def _refuse_empty(self, args: argparse.Namespace) -> None:
        """No file, model, voice or device has an empty name: an unset variable of the shell leaves one. Among the words
        of a text it may stand."""
        for action in self._actions:
            value = getattr(args, action.dest, None)
            if value == "" or isinstance(value, list) and "" in value and action.nargs != "*":
                raise UsageError(
                    f"{'/'.join(action.option_strings) or action.metavar} is empty; give a value or leave it out"
                )

    def _fill(self, args: argparse.Namespace) -> argparse.Namespace:
        args.given = frozenset(s.dest for s in self._settings if getattr(args, s.dest) is not None)
        args.sources = {s.dest: s.flags for s in self._settings if s.dest in args.given}
        for setting in self._open(args, args.given):
            name = setting.own if os.environ.get(setting.own, "").strip() else setting.variable
            self._take(args, setting, os.environ.get(name, ""), name, name)
        still_open = [s for s in self._open(args, frozenset(args.sources)) if s.key in KEYS]
        if self.takes_defaults and still_open and (defaults := read_defaults()):
            path = str(defaults_file())
            for setting in still_open:
                self._take(args, setting, defaults.get(setting.key or "", ""), f"{path}: {setting.key}", path)
        for setting in self._settings:
            if setting.dest not in args.sources:
                setattr(args, setting.dest, setting.default)
        self._refuse_idle(args)
        return args

    def _refuse_idle(self, args: argparse.Namespace) -> None:
        """An option that means nothing beside the others was a misunderstanding: none is ignored. Variables and the
        defaults file, which are for many commands, are left aside where they do not apply."""
        for setting in self._settings:
            if setting.dest in args.given and setting.only and not setting.only[0](args):
                self.error(f"{setting.flags} {setting.only[1]}; leave it out, or add what it needs")

    def _open(self, args: argparse.Namespace, chosen: frozenset[str]) -> list[_Setting]:
        """The settings that a weaker source may still give: neither chosen themselves, nor against one that is."""
        return [s for s in self._settings if s.dest not in args.sources and not chosen.intersection(s.yields_to)]

    def _take(self, args: argparse.Namespace, setting: _Setting, raw: str, name: str, source: str) -> None:
        value = _read(setting, raw, name)
        if value is not None:
            setattr(args, setting.dest, value)
            args.sources[setting.dest] = source

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """argparse swallows what goes wrong here; --help into a full disk is a failure like another."""
        file = file or sys.stderr
        if message and file is not None:
            file.write(message)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def words(raw: str) -> str:
    """`type` of an option that holds words: where the system takes the command line for ASCII, UTF-8 arrives as
    surrogates. Names of files must stay so; what is no UTF-8 stays too, for whoever reads it to refuse."""
    try:
        return os.fsencode(raw).decode()
    except UnicodeError:
        return raw


def _variable(*words: str) -> str:
    return "_".join(("S2MLX", *words)).replace("-", "_").upper()


def near_words(word: str, known: Iterable[str]) -> list[str]:
    """The one known word that a misspelt one may stand for, if any."""
    return difflib.get_close_matches(word, list(known), 1)


def known_or_near(word: str, known: Iterable[str]) -> str:
    """What an error says after a name that does not exist."""
    near = near_words(word, known)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"


# Between options and words argparse loses `--` in some versions. A NUL, which no command line can hold, marks the words
# after it as words.
_WORD = "\0"


def _protect(argv: Sequence[str]) -> list[str]:
    argv = list(argv)
    if "--" not in argv:
        return argv
    at = argv.index("--")
    return argv[:at] + [_WORD + word for word in argv[at + 1 :]]


def _unprotect(args: argparse.Namespace) -> None:
    for name, value in vars(args).items():
        if isinstance(value, str):
            setattr(args, name, value.removeprefix(_WORD))
        elif isinstance(value, list):
            setattr(args, name, [word.removeprefix(_WORD) for word in value])


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str):
        super().__init__(prog, max_help_position=30, width=_width())


def _width() -> int:
    try:
        return max(60, min(120, os.get_terminal_size().columns - 2))
    except (OSError, ValueError, AttributeError):  # no terminal, or no stdout at all
        return 100


def _read(setting: _Setting, raw: str, name: str) -> Any:
    """What `raw` means as the value of a setting, None for nothing; `name` is what an error calls it."""
    if not raw.strip():
        return None
    if setting.kind == "flag":
        word = raw.strip().lower()
        if word not in _TRUE | _FALSE:
            raise UsageError(f"{name} must be 1 or 0, not {raw!r}")
        return word in _TRUE
    values = [line for line in raw.splitlines() if line.strip()] if setting.kind == "list" else [raw]
    values = [_convert(setting, value, name) for value in values]
    return values if setting.kind == "list" else values[0]


def _convert(setting: _Setting, raw: str, name: str) -> Any:
    try:
        value = setting.convert(raw)
    except argparse.ArgumentTypeError as fault:
        raise UsageError(f"{name} {fault}") from fault
    except ValueError as fault:
        raise UsageError(f"{name}: {raw!r} is not a valid {_name(setting.convert)}") from fault
    if setting.choices and value not in setting.choices:
        raise UsageError(f"{name} must be one of {', '.join(setting.choices)}, not {raw!r}")
    return value


def _name(convert: Callable[[str], Any]) -> str:
    return "whole number" if convert is int else "number" if convert is float else "value"
