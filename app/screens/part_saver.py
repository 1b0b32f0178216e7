"""A long text into a file that the user names, or one for each of its chapters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .. import figures
from ..jobs import Job
from ..paths import typed, writable
from ..speaking.part_export import files_of, write_files
from ..state.reading import PartSound, Reading
from .base import AppScreen
from .form import Field, Form
from .sound_saver import ENDINGS, FILE, suggested_name, tell


class PartSaver:
    """Asks for a name and writes from a job; `say(line)` tells of it on `screen`."""

    def __init__(self, screen: AppScreen, say: Callable[[str], None]):
        self._screen, self._say = screen, say

    def save(self, reading: Reading, sounds: dict[int, PartSound]) -> None:
        count, there = len(reading.parts), dict(sounds)
        fields = [Field("path", FILE, suggested_name(reading.title))]
        if reading.chapters:
            fields.append(Field("chapters", f"a file for each of the {len(reading.chapters)} chapters", False))
        about = "" if len(there) == count else f"{len(there)} of {count} parts are there, and only they are written."

        def files(values: dict) -> list[tuple[Path, int, int]]:
            """Of chapters, those of which something is there."""
            found = files_of(reading, typed(values["path"]), bool(values.get("chapters")))
            return [one for one in found if any(number in there for number in range(*one[1:]))]

        def save(values: dict | None) -> None:
            if values is None:
                return
            app, targets = self._screen.app, files(values)
            written = {first for _, first, _ in targets}
            every = files_of(reading, typed(values["path"]), bool(values.get("chapters")))
            left = [str(number) for number, (_, first, _) in enumerate(every, 1) if first not in written]
            lacks = f"; nothing is there yet of chapter {', '.join(left)}" if left else ""

            def work(job: Job) -> str:
                seconds = write_files(app.studio, app.desk.readings, reading, there, targets, job)
                names = str(targets[0][0]) if len(targets) == 1 else f"{targets[0][0]} to {targets[-1][0].name}"
                return f"saved {names}: {figures.seconds(seconds)}" + (f", {about[:-1]}" if about else "") + lacks

            saved = lambda line: tell(self._screen, self._say, line)
            app.jobs.start("save parts", work, done=saved, progressed=lambda share, note: self._progressed(note))

        beside = lambda values: [path for path, _, _ in files(values)[1:]]
        self._screen.app.push_screen(
            Form("Save the whole", fields, "Save", writable(ENDINGS, beside), about=about), save
        )

    def _progressed(self, note: str) -> None:
        if self._screen.is_attached:
            self._say(note)
