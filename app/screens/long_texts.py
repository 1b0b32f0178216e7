"""Long texts: the desk at which their parts are made, and the way to it from the main screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2mlx.errors import AudioError

from .. import figures
from ..jobs import Job
from ..speaking.part_export import free_path, write_files
from ..speaking.part_plan import words_and_chapters
from ..speaking.reading_desk import ReadingDesk, Sounds
from ..speaking.spoken_audio import Script
from ..speaking.text_parts import with_speaker
from ..state.history import HistoryEntry, distinct_options
from ..state.reading import Reading
from ..state.readings import Readings
from .casting import script_of
from .heard_reading import HeardPart

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import S2App

FILE = ".flac"  # what a folder gets of each text
IN_HISTORY = 20 * 60.0  # seconds; a longer whole stays among the long texts only
_OPENING = ("open parts", "readings", "plan")  # the jobs of it, one after the other


def make_desk(app: S2App, folder: Path) -> ReadingDesk:
    """The one of this app; what `folder` holds is read when it is asked for."""

    def remember(reading: Reading, sounds: Sounds) -> None:
        _into_history(app, readings, reading, sounds)

    def deliver(reading: Reading, sounds: Sounds, job: Job) -> str:
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

    def complain(error: BaseException, way_on: str) -> None:
        from .parts import PartsScreen
        from .queue import QueueScreen

        if isinstance(screen := app.screen, (PartsScreen, QueueScreen)):
            screen.say(f"{app.explain(error)}. {way_on}")
            app.main.say(app.explain(error), "failed")
        else:
            app.complain(error, way_on)

    readings = Readings(folder, app.studio.write_audio, app.studio.read_audio)
    desk = ReadingDesk(
        readings, app.studio, app.jobs, app.loader, app.voices, remember, deliver, tell, complain, app.explain
    )
    desk.watchers += [app.tell_of_damage, app.main.speech.reading.look]
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
        heard = main.speech.reading.leave()
        main.speech.silence()
        main.say("cutting the text into parts")
        app.jobs.start(
            _OPENING[0],
            lambda job: words_and_chapters(text)[0],
            done=lambda words: app.desk.load(lambda: _open(app, script, words, heard)),
        )


def _open(app: S2App, script: Script, words: str, heard: HeardPart | None) -> None:
    engine = app.loader.engine
    if found := app.desk.find(words, script, engine):
        _show_first(app, found, heard)
    elif engine is None:
        app.main.say("the model is not loaded yet")
    else:
        app.desk.plan(script.text, script.names, script.options, lambda reading: _show_first(app, reading))


def _show_first(app: S2App, reading: Reading, heard: HeardPart | None = None) -> None:
    """Unless the user went elsewhere meanwhile."""
    app.main.say("")
    if app.screen is app.main:
        show_parts(app, reading, heard)
    else:
        app.notify(f"the parts of “{reading.title}” are there: F6 shows them")


def show_parts(app: S2App, reading: Reading, heard: HeardPart | None = None) -> None:
    """With the part in the hand that was heard on the main screen; what was made there is made on, unheard."""
    from .parts import PartsScreen

    if heard is None and (heard := app.main.speech.reading.leave()):
        app.main.speech.silence()
    same = heard is not None and heard.reading.id == reading.id
    if not app.is_open(PartsScreen):
        app.push_screen(PartsScreen(reading, heard.number if heard and same else 0))
    if heard and heard.goes_on and not app.desk.is_made(heard.reading):
        app.desk.make(heard.reading)
