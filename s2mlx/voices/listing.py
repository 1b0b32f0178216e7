"""What a list shows of a saved voice, the broken ones too, and the voice that its files hold."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import VoiceError
from .voice import Voice
from .voice_files import VOICE, VoiceFiles


@dataclass(frozen=True)
class VoiceInfo:
    """A voice in a list. `problem` says why one cannot be used; its other figures are then 0."""

    name: str
    path: Path  # the .s2voice file
    builtin: bool
    has_clip: bool
    frames: int = 0
    seconds: float = 0.0
    codebooks: int = 0
    codebook_size: int = 0
    sample_rate: int = 0
    transcript: str = ""
    modified: float = 0.0  # s since 1970
    problem: str | None = None


def describe(files: VoiceFiles) -> VoiceInfo:
    """A voice that cannot be read is described, not raised."""
    info = VoiceInfo(files.name, files.voice, files.builtin, files.has_clip)
    try:
        voice = load_voice(files)
        modified = files.voice.stat().st_mtime
    except (VoiceError, OSError) as fault:
        return dataclasses.replace(info, problem=str(fault))
    return dataclasses.replace(
        info,
        frames=voice.frames,
        seconds=voice.seconds,
        codebooks=voice.codes.shape[0],
        codebook_size=voice.codebook_size,
        sample_rate=voice.sample_rate,
        transcript=voice.transcript,
        modified=modified,
    )


def load_voice(files: VoiceFiles) -> Voice:
    """Under the name that it is listed by. Raises `VoiceError`."""
    if not os.path.exists(files.voice) and os.path.isdir(files.root):
        raise VoiceError(f"voice {files.name!r} is broken: its folder holds no {VOICE}")
    return dataclasses.replace(Voice.load(files.voice), name=files.name)
