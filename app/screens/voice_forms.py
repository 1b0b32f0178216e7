"""What the main screen asks about voices: rename, export, import, add from a clip, bring back. A form whose work fails
comes back with what was typed and says why."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from s2mlx.voices import check_name

from ..engine.loader import Dropped
from ..jobs import Job
from ..paths import readable, typed, writable
from .choice import Choice
from .form import Field, Form


@dataclass(frozen=True)
class Task:
    """What an accepted form begins: `work(job)` on a thread, then `done(result)`."""

    what: str
    state: str
    work: Callable[[Job], Any]
    done: Callable[[Any], None]


class VoiceForms:
    """A part of the main screen."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._drafts: dict[str, dict] = {}  # by title: what was typed into forms whose work has not succeeded

    def _ask(
        self,
        title: str,
        fields: Sequence[Field],
        accept: str,
        check: Callable[[dict], str],
        begin: Callable[[dict], Task | None],
        trouble: str = "",
    ) -> None:
        def answered(values: dict | None) -> None:
            self._drafts.pop(title, None)
            task = begin(values) if values is not None else None
            if task is None:
                return
            self._drafts[title] = values

            def done(result) -> None:
                self._drafts.pop(title, None)
                task.done(result)

            def failed(error: BaseException) -> None:
                self.app.complain(error)
                if self.is_active and not isinstance(error, Dropped):
                    self._ask(title, fields, accept, check, begin, self.app.explain(error))

            self._work(task.what, task.state, task.work, done, failed)

        typed_before = self._drafts.get(title, {})
        fields = [replace(field, value=typed_before.get(field.name, field.value)) for field in fields]
        self.app.push_screen(Form(title, fields, accept, check, trouble), answered)

    def _rename(self, name: str) -> None:
        def rename(values: dict) -> Task | None:
            new = check_name(values["name"])
            if new == name:
                return None

            def done(_) -> None:
                languages = dict(self.app.settings.languages)
                if name in languages:
                    languages[new] = languages.pop(name)
                self.app.change(
                    cast=tuple(new if one == name else one for one in self.app.settings.cast), languages=languages
                )
                self.refresh_voices(new)
                self.status.say(f"{name} is now {new}")

            return Task("rename", f"renaming {name}", lambda job: self.app.library.rename(name, new), done)

        self._ask(
            f"Rename {name}",
            [Field("name", "New name", name)],
            "Rename",
            lambda values: self.app.name_trouble(values["name"], but=name),
            rename,
        )

    def _export(self, name: str) -> None:
        def export(values: dict) -> Task:
            path = typed(values["path"])
            return Task(
                "export",
                f"exporting {name}",
                lambda job: self.app.library.export(name, path, overwrite=True),
                lambda _: self.status.say(f"exported {path}"),
            )

        self._ask(
            f"Export {name}", [Field("path", "File", f"{name}.s2voice")], "Export", writable((".s2voice",)), export
        )

    def import_voice(self) -> None:
        def bring(values: dict) -> Task:
            path = typed(values["path"])
            return Task(
                "import",
                f"importing {path.name}",
                lambda job: self.app.library.import_file(path, _name(values)),
                self._arrived,
            )

        fields = [
            Field("path", "A .s2voice file", hint="voices/anna.s2voice"),
            Field("name", "Name (empty: the file's)"),
        ]
        self._ask("Import a voice", fields, "Import", self._new_from_file, bring)

    def add_voice(self) -> None:
        """A voice from an audio file and its words."""

        def add(values: dict) -> Task:
            path, words, name = typed(values["path"]), values["words"].strip(), check_name(_name(values))

            def work(job: Job) -> str:
                engine = self.app.room.wait(job)
                job.report(None, f"reading {path.name}")
                samples = self.app.studio.read_audio(path, engine.sample_rate)
                job.report(None, f"encoding {path.name}")
                voice = engine.clone((samples, engine.sample_rate), words, name=name, cancel=job.cancel)
                if job.cancel.is_set():
                    raise Dropped
                self.app.library.add(name, voice, clip=(samples, engine.sample_rate))
                return name

            return Task("add", f"reading {path.name}", work, self._arrived)

        def check(values: dict) -> str:
            if not readable(values) and not values["words"].strip():
                return "the words are needed: the model learns the voice by them"
            return self._new_from_file(values)

        fields = [
            Field("path", "Audio file, 5 to 30 s of one voice", hint="clip.wav"),
            Field("words", "What is said in it, word for word"),
            Field("name", "Name (empty: the file's)"),
        ]
        self._ask("Add a voice from a clip", fields, "Add", check, add)

    def _new_from_file(self, values: dict) -> str:
        """A check for forms with a `path` to read and a `name`, which is the file's when it is empty."""
        return readable(values) or self.app.name_trouble(_name(values))

    def bring_back(self) -> None:
        """Offer the voices that were removed, whenever that was."""

        def choose(removed: Sequence[Any]) -> None:
            self.status.say("ready" if removed else "no voice was removed in the last 30 days")
            if removed and self.is_active:
                lines = [f"{_day(voice.removed)}  {voice.name}" for voice in removed]
                self.app.push_screen(Choice("Bring back a removed voice", lines), lambda at: restore(removed, at))

        def restore(removed: Sequence[Any], at: int | None) -> None:
            if at is not None:
                voice = removed[at]
                self._work(
                    "restore",
                    f"bringing back {voice.name}",
                    lambda job: self.app.library.restore(voice.token),
                    self._came_back,
                )

        self._work("removed", "looking for removed voices", lambda job: self.app.library.removed(), choose)

    def _came_back(self, name: str) -> None:
        self.refresh_voices(name)
        self.status.say(f"{name} is back")

    def _arrived(self, name: str) -> None:
        self.bind(name, 0)
        self.refresh_voices(name)
        self.status.say(f"voice {name} is ready: ^s speaks")


def _day(when: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(when))


def _name(values: dict) -> str:
    return values["name"].strip() or typed(values["path"]).stem
