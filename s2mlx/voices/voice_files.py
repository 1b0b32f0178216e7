"""What one voice consists of on disk, and how it is moved as a whole: a folder, or a file with its clip beside it."""

from __future__ import annotations

import filecmp
import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import VoiceError
from ..files.atomic import write_bytes
from .names import printable
from .voice import SUFFIX

VOICE, CLIP = "voice.s2voice", "clip.flac"  # in the voice's folder


@dataclass(frozen=True)
class VoiceFiles:
    """root: what stands for the voice in a listing, its folder or the bare file itself. The clip need not exist."""

    name: str  # as shown
    root: Path
    voice: Path
    clip: Path
    builtin: bool = False

    @classmethod
    def at(cls, root: Path, name: str | None = None, builtin: bool = False) -> VoiceFiles:
        """The voice whose root that is; its name is the root's, without the ending, unless given."""
        if os.path.isdir(root):
            return cls(printable(root.name if name is None else name), root, root / VOICE, root / CLIP, builtin)
        return cls(printable(stem(root) if name is None else name), root, root, clip_beside(root), builtin)

    @property
    def bare(self) -> bool:
        """A file of its own, as users drop them in, rather than a folder."""
        return self.root == self.voice

    @property
    def has_clip(self) -> bool:
        return os.path.isfile(self.clip)

    def move_to(self, root: Path) -> None:
        """Give the voice another root, in any folder of the same disk, a bare file's clip with it.

        The clip is at both places before the voice moves: after a crash in between each voice still has its own.
        VoiceError where a clip lies already that would become this voice's; OSError as renaming has it.
        """
        if root == self.root:
            return
        if not self.bare:
            os.rename(self.root, root)
            return
        clip = clip_beside(root)
        there, has_clip = os.path.lexists(clip), self.has_clip
        if there and not (has_clip and _same(self.clip, clip)):
            raise VoiceError(f"{clip} is in the way, a clip without a voice; move it elsewhere first")
        try:
            if has_clip and not there:
                _duplicate(self.clip, clip)
            os.rename(self.root, root)
        except BaseException:
            if has_clip and not there and os.path.lexists(self.root):
                clip.unlink(missing_ok=True)
            raise
        if has_clip:
            os.rename(self.clip, clip)  # on disks that take Anna and anna for one, this changes the case
            if self.clip.name in os.listdir(self.clip.parent):
                self.clip.unlink()  # two names of one file: renaming has left both


def is_bare(path: Path) -> bool:
    """Does the file's name say that it is a voice?"""
    return path.name.lower().endswith(SUFFIX)


def stem(path: Path) -> str:
    """The name without the ending .s2voice, whatever its case."""
    return path.name[: -len(SUFFIX)] if is_bare(path) else path.name


def clip_beside(voice: Path) -> Path:
    """Where the clip of a bare .s2voice file lies, if it has one."""
    return voice.with_name(stem(voice) + ".flac")


def clip_of_file(voice: Path) -> Path:
    """Where the recording of any .s2voice file lies, if it was kept: in a library's folder, or beside the bare file."""
    if voice.name == VOICE and os.path.isfile(voice.with_name(CLIP)):
        return voice.with_name(CLIP)
    return clip_beside(voice)


def _same(one: Path, other: Path) -> bool:
    return os.path.isfile(other) and (os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False))


def _duplicate(source: Path, target: Path) -> None:
    """A second name for a file; a copy on disks that know no links."""
    try:
        os.link(source, target)
    except OSError:
        write_bytes(target, source.read_bytes(), private=True)


def is_path(spec: str) -> bool:
    """Does a user mean a file, rather than the name of a saved voice?"""
    return os.sep in spec or spec.endswith(SUFFIX)
