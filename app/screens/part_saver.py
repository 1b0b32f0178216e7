"""A long text into a file that the user names, or one for each of its chapters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .. import figures
from ..jobs import Job, JobCancelled
from ..paths import typed, writable
from ..speaking.part_export import files_of, write_files
from ..state.reading import PartSound, Reading
from .base import AppScreen
from .form import Field, Form
from .sound_saver import ENDINGS, FILE, suggested_name, tell

SUBTITLES = (".srt", ".vtt")


class PartSaver:
    """Asks for a name and writes from a job; `say(line)` tells of it on `screen`."""

    def __init__(self, screen: AppScreen, say: Callable[[str], None]):
        self._screen, self._say = screen, say
        self._job: Job | None = None  # which writes

    def cancel(self) -> bool:
        """What is being written is not wanted. False: nothing is."""
        if self._job is None:
            return False
        self._job.cancel.set()
        return True

    def save(self, reading: Reading, sounds: dict[int, PartSound]) -> None:
        if self._job:
            self._say("a file is being written still  (esc cancels)")
            return
        count, there = len(reading.parts), dict(sounds)
        fields = [Field("path", FILE, suggested_name(reading.title))]
        if reading.chapters:
            fields.append(Field("chapters", f"a file for each of the {len(reading.chapters)} chapters", False))
        fields += [Field(ending[1:], f"subtitles beside it, as {ending}", False) for ending in SUBTITLES]
        about = "" if len(there) == count else f"{len(there)} of {count} parts are there, and only they are written."

        def files(values: dict) -> tuple[list[tuple[Path, int, int]], list[int]]:
            """Of chapters, those of which something is there; the numbers of the others."""
            every = files_of(reading, typed(values["path"]), bool(values.get("chapters")))
            has = [any(number in there for number in range(first, end)) for _, first, end in every]
            return [one for one, some in zip(every, has) if some], [n for n, some in enumerate(has, 1) if not some]

        def save(values: dict | None) -> None:
            if values is None:
                return
            app, (targets, left), written = self._screen.app, files(values), list[Path]()
            lacks = f"; nothing is there yet of chapter {', '.join(map(str, left))}" if left else ""
            beside = _endings(values)

            def work(job: Job) -> str:
                seconds = write_files(
                    app.studio, app.desk.readings, reading, there, targets, job, beside, written.append
                )
                names = f"{_names([path for path, _, _ in targets])}{''.join(f' and {ending}' for ending in beside)}"
                return f"saved {names}: {figures.seconds(seconds)}" + (f", {about[:-1]}" if about else "") + lacks

            def saved(line: str) -> None:
                self._job = None
                tell(self._screen, self._say, line)

            def failed(error: BaseException) -> None:
                self._job = None
                kept = f"{_names(written)} {'is' if len(written) == 1 else 'are'} whole" if written else ""
                if isinstance(error, JobCancelled):
                    tell(self._screen, self._say, f"cancelled: {kept or 'nothing was written'}")
                else:
                    app.complain(error, "e tries again, under another name if need be.")
                    what = f"only {kept}" if kept else "not saved"
                    tell(self._screen, self._say, f"{what}: {app.explain(error)}")

            self._job = app.jobs.start(
                "save parts", work, done=saved, failed=failed, progressed=lambda share, note: self._progressed(note)
            )

        def more(values: dict) -> list[Path]:
            """What is written beside the file that is named."""
            paths = [path for path, _, _ in files(values)[0]]
            return paths[1:] + [path.with_suffix(ending) for path in paths for ending in _endings(values)]

        self._screen.app.push_screen(Form("Save the whole", fields, "Save", writable(ENDINGS, more), about=about), save)

    def _progressed(self, note: str) -> None:
        if self._screen.is_attached and self._job and not self._job.cancel.is_set():
            self._say(note)


def _names(paths: list[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} to {paths[-1].name}"


def _endings(values: dict) -> list[str]:
    """Of the subtitles that are wanted."""
    return [ending for ending in SUBTITLES if values.get(ending[1:])]
