"""What the main screen asks about voices: rename, export, import, add from a clip, bring back.

A form whose work fails comes back with what was typed and says why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s2mlx.voices import check_name

from ..jobs import Job, JobCancelled
from ..paths import readable, typed, writable
from .activity import Idle, Situation
from .background_work import BackgroundWork
from .base import AppScreen
from .choice import Choice
from .form import Field, Form

if TYPE_CHECKING:
    from ..app import S2App


_EAR_RATE = 24_000  # Hz, what a recognizer needs and more


@dataclass(frozen=True)
class FormTask:
    """What an accepted form begins: `work(job)` on a thread, then `done(result)`; `what` says what is going on."""

    name: str
    what: str
    work: Callable[[Job], Any]
    done: Callable[[Any], None]


class VoiceForms:
    """Forms above `screen`. `refresh(name)` shows the voices anew with that one in the hand, `choose(name)` makes it
    the speaker, `renamed({old: new})` has what is kept of voices go with them."""

    def __init__(
        self,
        screen: AppScreen,
        situation: Situation,
        work: BackgroundWork,
        refresh: Callable[[str], None],
        choose: Callable[[str], None],
        renamed: Callable[[dict[str, str]], None],
    ):
        self._screen, self._situation, self._work = screen, situation, work
        self._refresh, self._choose, self._renamed = refresh, choose, renamed
        self._drafts: dict[str, dict] = {}  # by title: what was typed into forms whose work has not succeeded

    @property
    def _app(self) -> S2App:
        return self._screen.app

    def _ask(
        self,
        title: str,
        fields: Sequence[Field],
        accept: str,
        check: Callable[[dict], str],
        begin: Callable[[dict], FormTask | None],
        trouble: str = "",
    ) -> None:
        def answered(values: dict | None) -> None:
            self._drafts.pop(title, None)
            task = begin(values) if values is not None else None
            if values is None or task is None:
                return
            self._drafts[title] = values

            def done(result: Any) -> None:
                self._drafts.pop(title, None)
                task.done(result)

            def failed(error: BaseException) -> None:
                if self._screen.is_active and not isinstance(error, JobCancelled):
                    self._ask(title, fields, accept, check, begin, self._app.explain(error))
                else:
                    self._app.complain(error)

            self._work.start(task.name, task.what, task.work, done, failed)

        typed_before = self._drafts.get(title, {})
        fields = [replace(field, value=typed_before.get(field.name, field.value)) for field in fields]
        self._app.push_screen(Form(title, fields, accept, check, trouble), answered)

    def _forget(self, title: str, file: str) -> None:
        """What was typed before is of another file."""
        if file:
            self._drafts.pop(title, None)

    def rename(self, name: str) -> None:
        def begin(values: dict) -> FormTask | None:
            new = check_name(values["name"])
            if new == name:
                return None

            def done(_: Any) -> None:
                self._renamed({name: new})
                self._refresh(new)
                self._situation.say(f"{name} is now {new}")

            def work(job: Job) -> None:
                self._app.voices.library.rename(name, new)
                self._app.history.rename_voice(name, new)

            return FormTask("rename", f"renaming {name}", work, done)

        self._ask(
            f"Rename {name}",
            [Field("name", "New name", name)],
            "Rename",
            lambda values: self._app.voices.name_trouble(values["name"], but=name),
            begin,
        )

    def export(self, name: str) -> None:
        def begin(values: dict) -> FormTask:
            path = typed(values["path"])
            return FormTask(
                "export",
                f"exporting {name}",
                lambda job: self._app.voices.library.export(name, path, overwrite=True),
                lambda _: self._situation.say(f"exported {path}"),
            )

        self._ask(
            f"Export {name}", [Field("path", "File", f"{name}.s2voice")], "Export", writable((".s2voice",)), begin
        )

    def import_file(self, file: str = "") -> None:
        def begin(values: dict) -> FormTask:
            path = typed(values["path"])

            def work(job: Job) -> tuple[str, str]:
                name = self._app.voices.library.import_file(path, _name(values))
                return name, self._app.voices.trouble(name, self._app.loader.engine)

            def done(result: tuple[str, str]) -> None:
                name, trouble = result
                if trouble:  # it is in the list; whoever speaks goes on speaking
                    self._refresh(name)
                    self._situation.say(f"{name} was imported, and cannot speak: {trouble}")
                else:
                    self.arrived(name)

            return FormTask("import", f"importing {path.name}", work, done)

        fields = [
            Field("path", "A .s2voice file", file, hint="voices/anna.s2voice"),
            Field("name", "Name (empty: the file's)"),
        ]
        self._forget("Import a voice", file)
        self._ask("Import a voice", fields, "Import", self._new_from_file, begin)

    def add_clip(self, file: str = "") -> None:
        """A voice from an audio file and its words."""

        title, studio = "Add a voice from a clip", self._app.studio

        def add(values: dict) -> FormTask:
            path, words, name = typed(values["path"]), values["words"].strip(), check_name(_name(values))
            if not words:
                return self._hear(path, lambda heard: again({**values, "words": heard}))

            def work(job: Job) -> str:
                engine = self._app.loader.wait(job)
                job.report(None, f"reading {path.name}")
                samples = self._app.studio.read_audio(path, engine.sample_rate)
                job.report(None, f"encoding {path.name}")
                voice = engine.clone((samples, engine.sample_rate), words, name=name, cancel=job.cancel)
                if job.cancel.is_set():
                    raise JobCancelled
                self._app.voices.library.add(name, voice, clip=(samples, engine.sample_rate))
                return name

            return FormTask("add", f"reading {path.name}", work, self.arrived)

        def check(values: dict) -> str:
            hint = "" if values["words"].strip() else studio.ear_hint(self._app.settings.language)
            if hint and not readable(values):
                return f"the words are needed: the model learns the voice by them; {hint}"
            return self._new_from_file(values)

        def again(values: dict) -> None:
            """With the words that were heard, for a person to read."""
            self._drafts[title] = values
            told = "these words were heard: correct them, then Add" if values["words"] else "no words were heard in it"
            if self._screen.is_active:
                self._ask(title, fields, "Add", check, add, told)

        fields = [
            Field("path", "Audio file, 5 to 30 s of one voice", file, hint="clip.wav"),
            Field("words", "What is said in it, word for word (empty: it is listened to)"),
            Field("name", "Name (empty: the file's)"),
        ]
        self._forget(title, file)
        self._ask(title, fields, "Add", check, add)

    def _hear(self, path: Path, done: Callable[[str], None]) -> FormTask:
        """The words of an audio file by the recognizer; none where it understands nothing."""

        def work(job: Job) -> str:
            studio, language = self._app.studio, self._app.settings.language
            samples = studio.read_audio(path, _EAR_RATE)
            job.report(None, f"listening to {path.name}")
            heard = studio.hear_take(samples, _EAR_RATE, "", language)
            if job.cancel.is_set():
                raise JobCancelled
            return heard.text if heard else ""

        return FormTask("hear", f"reading {path.name}", work, done)

    def _new_from_file(self, values: dict) -> str:
        """A check for forms with a `path` to read and a `name`, which is the file's when it is empty."""
        return readable(values) or self._app.voices.name_trouble(_name(values))

    def bring_back(self) -> None:
        """Offer the voices that were removed, whenever that was."""

        def choose(removed: Sequence[Any]) -> None:
            if removed:
                self._situation.enter(Idle())
            else:
                self._situation.say("no voice was removed in the last 30 days")
            if removed and self._screen.is_active:
                lines = [f"{_day(voice.removed)}  {voice.name}" for voice in removed]
                self._app.push_screen(Choice("Bring back a removed voice", lines), lambda at: restore(removed, at))

        def restore(removed: Sequence[Any], at: int | None) -> None:
            if at is not None:
                voice = removed[at]
                self._work.start(
                    "restore",
                    f"bringing back {voice.name}",
                    lambda job: self._app.voices.library.restore(voice.token),
                    self.came_back,
                )

        library = self._app.voices.library
        self._work.start("removed", "looking for removed voices", lambda job: library.removed(), choose)

    def came_back(self, name: str) -> None:
        self._refresh(name)
        self._situation.say(f"{name} is back")

    def arrived(self, name: str) -> None:
        """A new voice is there: it speaks from now on."""
        self._choose(name)
        self._refresh(name)
        self._situation.say(f"voice {name} is ready: ^s speaks")


def _day(when: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(when))


def _name(values: dict) -> str:
    return values["name"].strip() or typed(values["path"]).stem
