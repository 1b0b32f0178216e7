"""Formats libsndfile does not read (m4a, aac, ...): recognised by their first bytes, converted by a tool of the system.

`afconvert` is part of macOS, `ffmpeg` is common elsewhere. Neither is needed for anything else here.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import time
from pathlib import Path

from ..errors import AudioError

TIMEOUT = 120.0  # s; a converter that takes longer on a clip of minutes hangs
_SLOWEST = 64_000  # bytes a second, speech at its own pace: a tool that is slower hangs
MAX_OUTPUT = 2 * 1024**3  # bytes of the converted file
_LOOK = 0.1  # s between two looks at its size
_HEADER = 4096  # bytes; more than what comes before the samples
_USUAL_RATE = 2 * 4 * 96_000  # bytes a second of stereo float


def recognise(head: bytes) -> tuple[str, str] | None:
    """First bytes of a file -> (what people call it, ffmpeg's demuxer), or None."""
    if head[4:8] == b"ftyp":
        return "m4a", "mov"
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        return "aac", "aac"
    if head[:4] == b"\x1aE\xdf\xa3":
        return "webm", "matroska"
    if head[:6] == b"#!AMR\n" or head[:9] == b"#!AMR-WB\n":
        return "amr", "amr"
    if head[:16] == bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c"):
        return "wma", "asf"
    if head[:4] == b"caff":
        return "caf", "caf"
    return None


def convert(path: Path, kind: str, demuxer: str, target: Path, max_seconds: float) -> None:
    """Write `path` as a WAV file `target`. AudioError when no converter is there, when it fails or hangs, and when the
    clip is longer than `max_seconds` - which ffmpeg is told, and others are stopped at."""
    source = path.absolute()
    command = _command(source, demuxer, target, max_seconds)
    if command is None:
        raise AudioError(
            f"cannot read {kind} directly: {path}; install ffmpeg, or convert it yourself, "
            f"on macOS: afconvert -f WAVE -d LEI16 clip.{kind} clip.wav"
        )
    tool = Path(command[0]).name
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except OSError as error:
        raise AudioError(f"{tool} could not be started to convert {path}: {error.strerror}") from None
    with process:
        try:
            said = _watch(process, tool, path, target, max_seconds)
        finally:
            process.kill()  # does nothing to one that has ended
    if process.returncode or not target.exists():
        raise AudioError(f"{tool} cannot convert {path}: {_last_line(said)}")


NO_M4A = ".m4a takes afconvert (part of macOS) or ffmpeg; install one, or use .mp3"


def can_make_m4a() -> bool:
    """Is there a tool that writes AAC?"""
    return bool(shutil.which("afconvert") or shutil.which("ffmpeg"))


def make_m4a(source: Path, target: Path) -> None:
    """A WAV file as M4A (AAC, 64 kbit/s) by afconvert or ffmpeg. Raises AudioError."""
    if afconvert := shutil.which("afconvert"):
        command = [afconvert, "-f", "m4af", "-d", "aac", "-b", "64000", str(source), str(target)]
    elif ffmpeg := shutil.which("ffmpeg"):
        own = ["-nostdin", "-v", "error", "-f", "wav", "-i", f"file:{source}"]
        command = [ffmpeg, *own, "-c:a", "aac", "-b:a", "64k", "-f", "ipod", f"file:{target}"]
    else:  # it went meanwhile
        raise AudioError(NO_M4A)
    tool = Path(command[0]).name
    patience = TIMEOUT + source.stat().st_size / _SLOWEST
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=patience)
    except OSError as error:
        raise AudioError(f"{tool} could not be started to write .m4a: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise AudioError(f"{tool} did not finish writing .m4a in {patience:.0f} s; .mp3 needs no tool") from None
    if done.returncode or not target.exists():
        raise AudioError(f"{tool} cannot write .m4a: {_last_line(done.stderr)}")


def _last_line(said: bytes) -> str:
    """What a tool gives as its reason."""
    lines = said.decode(errors="replace").strip().splitlines() or ["no reason given"]
    return lines[-1][:200]


def too_long(path: Path, max_seconds: float) -> AudioError:
    return AudioError(f"{path} is longer than {max_seconds:g} s; cut out the part that is needed")


def _watch(process, tool: str, path: Path, target: Path, max_seconds: float) -> bytes:
    """Wait for the end of the tool; what it said on stderr. AudioError when it hangs, or writes more than is wanted."""
    began = time.monotonic()
    while True:
        try:
            return process.communicate(timeout=_LOOK)[1]
        except subprocess.TimeoutExpired:
            if target.exists() and target.stat().st_size > _most_bytes(target, max_seconds):
                raise too_long(path, max_seconds) from None
            if time.monotonic() - began > TIMEOUT:
                raise AudioError(f"{tool} did not finish converting {path} in {TIMEOUT:.0f} s") from None


def _most_bytes(target: Path, max_seconds: float) -> float:
    """What a WAV in the making may take, by the bytes per second that its header states when it is there already."""
    with open(target, "rb") as file:
        head = file.read(_HEADER)
    at = head.find(b"fmt ") + 16
    known = 16 <= at <= len(head) - 4
    rate = struct.unpack_from("<I", head, at)[0] if known else _USUAL_RATE
    return min(MAX_OUTPUT, _HEADER + rate * (max_seconds + 1))


def _command(source: Path, demuxer: str, target: Path, max_seconds: float) -> list[str] | None:
    afconvert = shutil.which("afconvert")
    if afconvert and demuxer in ("mov", "aac", "amr", "caf"):
        return [afconvert, "-f", "WAVE", "-d", "LEF32", str(source), str(target)]
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg:
        # The demuxer is fixed and only files may be opened: a playlist in disguise cannot send ffmpeg elsewhere.
        # A second beyond the limit lets the reader see that the clip is too long, rather than hear a part of it.
        return [
            ffmpeg,
            "-nostdin",
            "-v",
            "error",
            "-protocol_whitelist",
            "file",
            "-f",
            demuxer,
            "-i",
            f"file:{source}",
            "-vn",
            "-t",
            str(max_seconds + 1),
            "-c:a",
            "pcm_f32le",
            "-fs",
            str(MAX_OUTPUT),
            "-f",
            "wav",
            str(target),
        ]
    return None
