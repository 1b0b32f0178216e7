"""Long texts: the desk at which their parts are made, and the way to it from the main screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from s2mlx.errors import AudioError

from .. import figures
from ..jobs import Job
from ..speaking.part_export import free_path, write_files
from ..speaking.reading_desk import ReadingDesk, Sounds
from ..speaking.spoken_audio import Script
from ..speaking.text_parts import with_speaker
from ..state.history import HistoryEntry, distinct_options
from ..state.reading import Reading
from ..state.readings import Readings
from .casting import script_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import S2App

FILE = ".flac"  # what a folder gets of each text
IN_HISTORY = 20 * 60.0  # seconds; a longer whole stays among the long texts only
_OPENING = ("open parts", "readings", "plan")  # the jobs of it, one after the other
_HEADING = re.compile(r"^ {0,3}#{1,6} \S", re.MULTILINE)


def make_desk(app: S2App, folder: Path) -> ReadingDesk:
    """The one of this app; what `folder` holds is read when it is asked for."""

    def finished(reading: Reading, sounds: Sounds, job: Job) -> str:
        _into_history(app, readings, reading, sounds)
        if reading.folder is None:
            return f"“{reading.title}” is made: {figures.seconds(_seconds(sounds))}"
        from pathlib import Path

        path = free_path(Path(reading.folder), reading.title, FILE)
        seconds = write_files(app.studio, readings, reading, sounds, [(path, 0, len(reading.parts))], job)
        return f"“{reading.title}” is made and written: {path}, {figures.seconds(seconds)}"

    def tell(line: str) -> None:
        """Where the eye is: a notice would hide rows of these screens."""
        from .parts import PartsScreen
        from .queue import QueueScreen

        screen = app.screen
        if isinstance(screen, (PartsScreen, QueueScreen)):
            screen.say(line)
        else:
            app.notify(line)

    readings = Readings(folder, app.studio.write_audio, app.studio.read_audio)
    desk = ReadingDesk(readings, app.studio, app.jobs, app.loader, app.voices, finished, tell, app.explain)
    desk.watchers.append(app.tell_of_damage)
    return desk


def _seconds(sounds: Sounds) -> float:
    return sum(sound.take.seconds for sound in sounds.values() if sound.take)


def _into_history(app: S2App, readings: Readings, reading: Reading, sounds: Sounds) -> None:
    """On a job's thread."""
    import numpy as np

    seconds, takes = _seconds(sounds), [sound.take for sound in sounds.values() if sound.take]
    if seconds > IN_HISTORY or not takes:
        return
    settings = app.settings
    entry = HistoryEntry(
        reading.text,
        reading.voices,
        reading.seed,
        distinct_options(reading.speech_options()),
        settings.model,
        reading.model_name,
        settings.compat,
        settings.tokenizer,
        reading.when,
        seconds,
        sum(take.frames for take in takes),
    )
    try:
        whole = np.concatenate(list(readings.whole(reading, sounds, 0, len(reading.parts))))
        app.history.add(entry, whole, reading.rate)
    except (OSError, AudioError) as error:
        app.call_from_thread(app.complain, error)


def words_and_chapters(text: str) -> tuple[str, list[int]]:
    """What is said of a text, and where chapters begin in it that the words do not show: Markdown's signs are not
    read aloud."""
    if not _HEADING.search(text):
        return text, []
    from s2mlx.text import read_chapters

    return read_chapters(text)


def open_parts(app: S2App) -> None:
    """The parts of what is selected, or of the whole text: those that there are already, or new ones."""
    from s2mlx.text import has_words

    main = app.main
    whole, span = main.editor.text, main.editor.selected
    text = with_speaker(whole, span)[0] if span[1] > span[0] else whole
    if not has_words(text):
        main.say("nothing to say yet: type some text")
    elif any(job.what in _OPENING for job in app.jobs.running):
        main.say("the text is being cut into parts")
    elif (script := script_of(main, text)) is not None:
        main.speech.silence()
        main.say("cutting the text into parts")
        app.jobs.start(
            _OPENING[0],
            lambda job: words_and_chapters(text),
            done=lambda found: app.desk.load(lambda: _open(app, script, *found)),
        )


def _open(app: S2App, script: Script, words: str, chapters: Sequence[int]) -> None:
    options = distinct_options(script.options)
    seed, engine = script.options.seed, app.loader.engine
    for reading in reversed(app.desk.queue):
        same = (reading.text, reading.voices, reading.options) == (words, script.names, options)
        fits = engine is None or reading.model_name in ("", engine.name)
        if same and fits and seed in (None, reading.seed):
            _show_first(app, reading)
            return
    if engine is None:
        app.main.say("the model is not loaded yet")
        return
    app.desk.plan(words, script.names, script.options, lambda reading: _show_first(app, reading), chapters=chapters)


def _show_first(app: S2App, reading: Reading) -> None:
    """Unless the user went elsewhere meanwhile."""
    app.main.say("")
    if app.screen is app.main:
        show_parts(app, reading)
    else:
        app.notify(f"the parts of “{reading.title}” are there: F6 shows them")


def show_parts(app: S2App, reading: Reading) -> None:
    from .parts import PartsScreen

    if not app.is_open(PartsScreen):
        app.push_screen(PartsScreen(reading))
