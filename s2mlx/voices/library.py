"""The folder of saved voices, and the voices that come with the program.

    FOLDER/NAME/voice.s2voice, clip.flac    saved here; complete or absent
    FOLDER/NAME.s2voice, NAME.flac          dropped in by the user; as good as the others
    FOLDER/.trash/TOKEN/...                 removed or replaced, kept for 30 days (`trash`)

Several processes may use one folder: a change happens under a lock, by renames. Knows nothing of models, and of sound
only that `audio` reads and writes clips.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import AudioError, S2Error, VoiceError, reason
from ..files import folders
from ..files.atomic import write_bytes
from ..files.locks import locked
from ..files.private import private_folder
from .listing import VoiceInfo, describe, load_voice
from .names import check_name, key, listed, printable
from .trash import RemovedVoice, Trash
from .voice import SUFFIX, Voice
from .voice_files import CLIP, VOICE, VoiceFiles, clip_beside, clip_of_file, is_bare, is_path, stem

_NEW, _LOCK = ".new-", ".lock"
_NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}  # what is said of a folder that cannot be
_UNFINISHED = 86400.0  # s; a temporary folder older than this was left by a crash


class VoiceLibrary:
    """Voices by name; `folder` defaults to the user's own. Raises `VoiceError` for whatever goes wrong."""

    def __init__(self, folder: str | os.PathLike[str] | None = None):
        self._given = None if folder is None else Path(folder)

    @property
    def folder(self) -> Path:
        """Where voices are saved. `S2Error` for a user without a home, who has the bundled voices."""
        return self._given or folders.voices_dir()

    @property
    def _trash(self) -> Trash:
        return Trash(self.folder)

    # --- looking -------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """All of them, the broken and the built-in ones too, in alphabetical order."""
        return [entry.name for entry in self._entries()]

    def infos(self) -> list[VoiceInfo]:
        """What `info` says of each of `names()`."""
        with self._lock(reading=True):
            return [describe(entry) for entry in self._entries()]

    def info(self, name: str) -> VoiceInfo:
        """What a list shows of a voice. A broken one is described, not raised."""
        with self._lock(reading=True):
            return describe(self._find(name))

    def get(self, name: str) -> Voice:
        with self._lock(reading=True):
            return load_voice(self._find(name))

    def resolve(self, spec: str) -> Voice:
        """The voice that a user means: a path when it has a slash or ends in .s2voice, else a name."""
        if is_path(spec):
            return Voice.load(os.path.expanduser(spec))
        return self.get(spec)

    def identity(self, name: str) -> str:
        """What a voice keeps when it is renamed or moved, by whatever program: a digest of what it is, 16 letters."""
        from hashlib import sha256

        with self._os_errors(f"cannot read voice {name!r}"), self._lock(reading=True):
            return sha256(self._find(name).voice.read_bytes()).hexdigest()[:16]

    def clip(self, name: str) -> tuple[np.ndarray, int] | None:
        """The recording a voice was made from, float32 [n] at the voice's rate; None when it was not kept."""
        from ..audio import read_audio

        with self._lock(reading=True):
            entry = self._find(name)
            if not entry.has_clip:
                return None
            rate = load_voice(entry).sample_rate
            return read_audio(entry.clip, rate), rate

    def clip_of(self, voice: Voice) -> tuple[np.ndarray, int] | None:
        """`clip`, if `voice` is what is saved under its name: one given by a path may share no more than the name."""
        try:
            saved = self.get(voice.name)
        except VoiceError:
            return None
        return self.clip(voice.name) if saved == voice else None

    def removed(self) -> list[RemovedVoice]:
        """What `restore` can bring back (name, token, time of removal), the newest first."""
        try:
            trash = self._trash
        except S2Error:
            return []  # no home, so nothing was removed
        with self._os_errors("cannot read the trash"), self._lock(reading=True):
            return trash.content()

    # --- changing ------------------------------------------------------------------------------------------------

    def add(
        self, name: str, voice: Voice, clip: tuple[np.ndarray, int] | None = None, overwrite: bool = False
    ) -> str | None:
        """Save a voice, with its clip (samples float32 [n], rate). Returns the undo token of what it replaced."""
        name = check_name(name)
        with self._os_errors(f"cannot save voice {name!r}"):
            private_folder(self.folder)
            made = Path(tempfile.mkdtemp(prefix=_NEW, dir=self.folder))
            try:
                write_bytes(made / VOICE, voice.to_bytes(), private=True)
                if clip is not None:
                    _write_clip(made / CLIP, *clip)
                with self._lock():
                    self._sweep()
                    return self._put(made, name, overwrite)
            finally:
                shutil.rmtree(made, ignore_errors=True)

    def _put(self, made: Path, name: str, overwrite: bool) -> str | None:
        """Give a finished folder its name. Whatever fails, the voice that had the name has it again."""
        replaced = None
        for entry in self._taken(name):
            if not overwrite:
                raise VoiceError(f"there is a voice {entry.name!r} already; take another name, or ask to overwrite it")
            replaced = self._trash.put(entry)
        try:
            os.rename(made, self.folder / name)
        except BaseException:
            if replaced and made.exists():
                self._trash.bring_back(replaced, self.folder)
            raise
        return replaced

    def remove(self, name: str) -> str:
        """Move a voice to the trash; the token returned brings it back for 30 days."""
        with self._os_errors(f"cannot remove voice {name!r}"), self._lock():
            entry = self._own(name)
            self._sweep()
            return self._trash.put(entry)

    def restore(self, which: str) -> str:
        """Undo a `remove` or the replacing by an `add`: of a token, or the latest of a name. Returns the name."""
        with self._os_errors("cannot restore the voice"), self._lock():
            voice = self._trash.find(which)
            for entry in self._taken(voice.name):
                raise VoiceError(f"there is a voice {entry.name!r} now; remove or rename it first")
            self._trash.bring_back(voice.token, self.folder)
            return voice.name

    def rename(self, old: str, new: str) -> None:
        new = check_name(new)
        with self._os_errors(f"cannot rename voice {old!r}"), self._lock():
            entry = self._own(old)
            for other in self._taken(new):
                if other != entry:  # a change of case is a rename too
                    raise VoiceError(f"there is a voice {other.name!r} already; take another name")
            entry.move_to(self.folder / (new + SUFFIX if entry.bare else new))

    def import_file(
        self, path: str | os.PathLike[str], name: str | None = None, overwrite: bool = False, clip: bool = False
    ) -> str:
        """Save a copy of a `.s2voice` file; the name is the file's unless given. Returns the name.

        clip: with the recording that was kept with it (see `clip_of_file`)."""
        voice, recording = Voice.load(path), None
        name = check_name(voice.name if name is None else name)
        if clip:
            from ..audio import read_audio

            recording = read_audio(clip_of_file(Path(path)), voice.sample_rate), voice.sample_rate
        self.add(name, voice, recording, overwrite)
        return name

    def export(self, name: str, path: str | os.PathLike[str], overwrite: bool = False, clip: bool = False) -> Path:
        """Write a voice as a `.s2voice` file, into `path` if that is a folder. Returns the file's path.

        clip: with the recording it was made from, as NAME.flac beside it; VoiceError if it was not kept."""
        path = Path(path)
        with self._lock(reading=True):
            entry = self._find(name)
            voice = load_voice(entry)
            if clip and not entry.has_clip:
                raise VoiceError(f"voice {entry.name!r} has no clip: it was not kept")
            recording = entry.clip.read_bytes() if clip else None
        if path.is_dir():
            path = path / (voice.name + SUFFIX)
        for file in (path, clip_beside(path))[: 1 + clip]:
            if file.exists() and not overwrite:
                raise VoiceError(f"{file} exists already; take another name, or ask to overwrite it")
        if recording is not None:
            with self._os_errors("cannot write the clip", clip_beside(path).parent):
                write_bytes(clip_beside(path), recording)
        voice.save(path)
        return path

    # --- inside --------------------------------------------------------------------------------------------------

    def _entries(self) -> list[VoiceFiles]:
        own: dict[str, VoiceFiles] = {}
        dropped = []
        for path in sorted(self._listing()):
            if path.name.startswith("."):
                continue
            if os.path.isdir(path):
                own[key(path.name)] = VoiceFiles.at(path)
            elif is_bare(path):
                dropped.append(path)
        for path in dropped:
            # beside a folder of that name the file keeps its ending, so that neither hides the other
            name = path.name if key(stem(path)) in own else stem(path)
            own[key(name)] = VoiceFiles.at(path, name)
        for path in _builtin():
            if key(path.stem) not in own:
                own[key(path.stem)] = VoiceFiles.at(path, builtin=True)
        return sorted(own.values(), key=lambda entry: key(entry.name))

    def _listing(self) -> list[Path]:
        try:
            return list(self.folder.iterdir())
        except S2Error:
            return []  # no home, so nothing is saved
        except OSError as fault:
            if fault.errno in _NOWHERE and not os.path.exists(self.folder):
                return []  # nothing was saved yet, or can be
            raise VoiceError(f"cannot list the voices in {self.folder}: {reason(fault)}") from fault

    def _find(self, name: str) -> VoiceFiles:
        """The entry of that name. A name is only ever compared with what the folder holds, never joined to a path."""
        entries = {key(entry.name): entry for entry in self._entries()}
        found = entries.get(key(name.strip()))
        if found is None:
            near = difflib.get_close_matches(key(name), entries, n=3)
            known = [entries[k].name for k in near] or [entry.name for entry in entries.values()]
            names = listed(known)
            hint = "none is saved yet" if not known else f"did you mean {names}?" if near else f"there are {names}"
            raise VoiceError(f"there is no voice {printable(name)!r}; {hint}")
        return found

    def _own(self, name: str) -> VoiceFiles:
        entry = self._find(name)
        if entry.builtin:
            raise VoiceError(f"voice {entry.name!r} comes with the program and stays as it is")
        return entry

    def _taken(self, name: str) -> list[VoiceFiles]:
        """The user's own voice of that name, if there is one."""
        return [entry for entry in self._entries() if not entry.builtin and key(entry.name) == key(name)]

    def _sweep(self) -> None:
        """Delete what the trash has kept long enough, and what a crash left half-made."""
        self._trash.sweep()
        for path in self.folder.glob(_NEW + "*"):
            if path.lstat().st_mtime < time.time() - _UNFINISHED:
                shutil.rmtree(path, ignore_errors=True)

    @contextlib.contextmanager
    def _lock(self, reading: bool = False) -> Iterator[None]:
        """Hold off other processes and threads. Reading makes no lock file: without one nobody has written yet, and
        where none may be opened nobody writes."""
        with contextlib.ExitStack() as held:
            try:
                path = self.folder / _LOCK
                there = path.exists() or not reading and self.folder.is_dir()
            except (S2Error, OSError):  # nothing there that could be held
                if not reading:
                    raise
                there = False
            if there:
                try:
                    held.enter_context(locked(path))
                except TimeoutError:
                    raise VoiceError(f"another program holds the voices in {self.folder}; try again later") from None
                except OSError:
                    if not reading:
                        raise
            yield

    @contextlib.contextmanager
    def _os_errors(self, what: str, folder: Path | None = None) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            raise VoiceError(f"{what} in {folder or self.folder}: {reason(fault)}") from fault


def _write_clip(path: Path, samples: np.ndarray, rate: int) -> None:
    """Raises OSError where the system is to blame, which then names the library's folder, not one in the making."""
    from ..audio import write_audio

    try:
        write_audio(path, samples, rate, private=True)
    except AudioError as fault:
        if isinstance(fault.__cause__, OSError):
            raise fault.__cause__ from None
        raise


def _builtin() -> list[Path]:
    assets = folders.assets_dir()
    return sorted((assets / "nano").glob("*" + SUFFIX)) if assets else []
