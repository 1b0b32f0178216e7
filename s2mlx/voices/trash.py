"""The trash of a folder of voices: FOLDER/.trash/TOKEN holds what was removed or replaced, for 30 days.

Knows nothing of the voices outside of it, and takes no lock: the library does.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from ..errors import VoiceError
from ..files.private import private_folder
from .names import key, listed, printable
from .voice_files import VoiceFiles, is_bare

KEPT = 30 * 86400.0  # s
_TOKEN = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class RemovedVoice:
    """A voice in the trash. `token` brings back this one; its `name` brings back the newest of that name."""

    name: str
    token: str
    removed: float  # s since 1970


class Trash:
    def __init__(self, folder: Path):
        self._trash = folder / ".trash"

    def put(self, files: VoiceFiles) -> str:
        """Move a voice here; the token that brings it back."""
        token = secrets.token_hex(8)
        place = self._trash / token
        private_folder(place)
        try:
            files.move_to(place / files.root.name)
        except BaseException:
            with contextlib.suppress(OSError):
                place.rmdir()
            raise
        return token

    def content(self) -> list[RemovedVoice]:
        """All that can be brought back, the newest first."""
        found = []
        for place in self._trash.iterdir() if os.path.isdir(self._trash) else ():
            if (files := self._files(place.name)) is not None:
                found.append(RemovedVoice(files.name, place.name, place.stat().st_mtime))
        return sorted(found, key=lambda voice: (-voice.removed, voice.token))

    def find(self, which: str) -> RemovedVoice:
        """The voice of that token, else the one of that name that was removed last. Never joined to a path."""
        content = self.content()
        for voice in content:
            if voice.token == which:
                return voice
        for voice in content:
            if key(voice.name) == key(which.strip()):
                return voice
        names = listed(dict.fromkeys(voice.name for voice in content)) or "nothing"
        raise VoiceError(f"there is no voice {printable(which)!r} in the trash; it holds {names}")

    def bring_back(self, token: str, folder: Path) -> None:
        """Move a voice from here into `folder`, under the name it had there."""
        files = self._files(token)
        if files is None:
            raise VoiceError(f"there is no voice {token} in the trash any more")
        files.move_to(folder / files.root.name)
        shutil.rmtree(self._trash / token, ignore_errors=True)

    def sweep(self) -> None:
        """Delete what was kept long enough."""
        for place in self._trash.iterdir() if os.path.isdir(self._trash) else ():
            if place.lstat().st_mtime < time.time() - KEPT:
                shutil.rmtree(place, ignore_errors=True)

    def _files(self, token: str) -> VoiceFiles | None:
        """What lies under a token; None if there is no voice (a crash can leave a clip alone, or an empty folder)."""
        place = self._trash / token
        if not _TOKEN.fullmatch(token) or not place.is_dir():
            return None
        for path in place.iterdir():
            if not path.name.startswith(".") and (os.path.isdir(path) or is_bare(path)):
                return VoiceFiles.at(path)
        return None
