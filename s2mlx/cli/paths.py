"""Files the commands write: checked before anything slow begins, and written whole or not at all.

Audio files have their own writer (s2mlx.audio); the check serves both.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from ..errors import S2Error, UsageError, reason
from ..files import write_bytes
from .interrupts import uninterrupted
from .terminal import StdoutError, stdout_is_terminal


def is_stream(path: str) -> bool:
    """`-`, or something that exists and is no regular file (a pipe, /dev/null): written through, never replaced."""
    if path == "-":
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def check_output(path: str | None, what: str) -> str:
    """`-o` of a command whose result is binary: given, writable, and no terminal. what: "sound is", "codes are"."""
    if path is None:
        raise UsageError("-o is missing: say where the result goes")
    if path != "-":
        check_writable(path)
    elif sys.stdout is None:
        raise UsageError("there is no stdout to write to; use -o FILE")
    elif stdout_is_terminal():
        raise UsageError(f"{what} not written to a terminal; use -o FILE or a pipe")
    return path


RAW, CODES = (".raw", ".pcm", ".s16", ".s16le", ".bin"), (".npy",)


def check_ending(path: str, endings: tuple[str, ...], what: str) -> None:
    """UsageError if the name's ending tells of something else than what the file will hold; it may have none."""
    ending = os.path.splitext(path)[1].lower()
    if ending and ending not in endings and not is_stream(path):
        raise UsageError(f"{path} would hold {what}, not what its ending says; end it in {' or '.join(endings)}")


def check_sound(path: str | None, raw: bool) -> None:
    """`-o` for sound, of a kind that can be written and under an ending that says so."""
    path = check_output(path, "sound is")
    if raw:
        check_ending(path, RAW, "bare samples")
    elif not is_stream(path):
        from ..audio import check_ending as check_sound_ending

        check_sound_ending(path)


def check_codes(path: str | None) -> None:
    """`-o` for codes."""
    check_ending(check_output(path, "codes are"), CODES, "codes")


def check_writable(path: str) -> None:
    """S2Error if a file `path` cannot be put in place: no such folder, a folder of that name, no permission."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder, name a file in it")
    if path.endswith(os.sep):
        raise S2Error(f"cannot write {path}: there is no such folder; make it first, or name a file")
    if not target.parent.is_dir():
        raise S2Error(f"cannot write {path}: there is no folder {target.parent}")
    if is_stream(path):
        return
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise S2Error(f"cannot write {path}: no permission to write in {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise S2Error(f"cannot write {path}: the file is write-protected")


def write_whole(path: str, data: bytes) -> None:
    """Put bytes into a file, whole or not at all, or through a stream (`-` is stdout)."""
    try:
        if path == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        elif is_stream(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            with uninterrupted():
                write_bytes(path, data)
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise StdoutError(fault) if path == "-" else S2Error(f"cannot write {path}: {reason(fault)}") from fault
