"""What the main screen does with saved voices: choose, bind, hear, add, rename, delete, undo, import, export."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import OptionList

from s2mlx.errors import S2Error

from ..envelope import blocks
from ..widgets.voice_list import OWN, VoiceList, VoiceRow
from .form import Field, Form
from .saving import path_check


class VoiceActions:
    """A part of the main screen."""

    def refresh_voices(self, highlight: str | None = None) -> None:
        """Read the library again and show it, with the voice `highlight` in the hand if it is there."""
        app = self.app

        def work(job) -> list[VoiceRow]:
            return [_row(app, info) for info in app.library.infos()] + [
                _guest(name, voice) for name, voice in app.guests.items()
            ]

        def show(rows: list[VoiceRow]) -> None:
            voices = self.query_one(VoiceList)
            voices.show(rows, app.settings.cast)
            if highlight:
                voices.highlight(highlight)
            self.editor.speakers = [name or OWN for name in app.settings.cast] or [OWN]

        app.jobs.start("voices", work, done=show)

    def bind(self, name: str | None, speaker: int) -> None:
        """Voice `name` (None: nobody) speaks as `speaker`."""
        cast = list(self.app.settings.cast) + [None] * (speaker + 1 - len(self.app.settings.cast))
        cast[speaker] = name
        while cast and cast[-1] is None:
            cast.pop()
        self.app.change(cast=tuple(cast))
        voices = self.query_one(VoiceList)
        voices.show(voices.rows, self.app.settings.cast)
        self.editor.speakers = [one or OWN for one in cast] or [OWN]

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """A voice that cannot be used says why."""
        if isinstance(event.option_list, VoiceList):
            row = next((row for row in event.option_list.rows if row.name == event.option_list.current), None)
            if row and row.trouble:
                self.status.say(f"{row.name}: {row.trouble}")

    def on_voice_list_bound(self, event: VoiceList.Bound) -> None:
        self.bind(event.name, event.speaker)
        who = event.name or OWN
        self.status.say(f"{who} speaks" if event.speaker == 0 else f"{who} speaks as <|speaker:{event.speaker}|>")

    def on_voice_list_asked(self, event: VoiceList.Asked) -> None:
        needs_voice = event.what in ("audition", "rename", "delete", "export")
        if needs_voice and event.name is None:
            self.status.say("that is the model's own voice: highlight a saved one")
            return
        if needs_voice and event.name in self.app.guests:
            self.status.say(f"{event.name} was given on the command line and is not saved: i imports its file")
            return
        {"audition": self._audition, "rename": self._rename, "delete": self._delete, "export": self._export,
         "add": lambda _: self.add_voice(), "import": lambda _: self.import_voice(),
         "undo": lambda _: self._undo()}[event.what](event.name)

    def _work(self, what: str, state: str, work, done) -> None:
        """A job that escape cancels."""
        def ended(then):
            def call(result):
                self.work = None
                self.allow()
                then(result)
            return call

        self.status.say(f"{state}  esc cancels")
        self.work = self.app.jobs.start(what, work, done=ended(done), failed=ended(self.app.complain),
                                        progressed=lambda share, note: self.status.say(f"{note}  esc cancels"))
        self.allow()

    def _audition(self, name: str) -> None:
        def done(clip) -> None:
            if clip is None:
                self.status.say(f"{name} came without its clip: enter chooses it, ^s speaks")
            else:
                self.listen(*clip, what=f"listening to the clip of {name}")

        self._work("audition", f"reading the clip of {name}", lambda job: self.app.library.clip(name), done)

    def _rename(self, name: str) -> None:
        def rename(values: dict | None) -> None:
            if values is None or values["name"] == name:
                return
            new = values["name"].strip()

            def done(_) -> None:
                languages = dict(self.app.settings.languages)
                if name in languages:
                    languages[new] = languages.pop(name)
                self.app.change(cast=tuple(new if one == name else one for one in self.app.settings.cast),
                                languages=languages)
                self.refresh_voices(new)
                self.status.say(f"{name} is now {new}")

            self._work("rename", f"renaming {name}", lambda job: self.app.library.rename(name, new), done)

        self.app.push_screen(Form(f"Rename {name}", [Field("name", "New name", name)], "Rename", _named), rename)

    def _delete(self, name: str) -> None:
        def done(token) -> None:
            self.app.deleted.append((name, token, self.app.settings.cast))
            self.query_one(VoiceList).can_undo = True
            self.app.change(cast=_without(name, self.app.settings.cast))
            self.refresh_voices()
            self.status.say(f"deleted {name}: u brings it back")

        self._work("delete", f"deleting {name}", lambda job: self.app.library.remove(name), done)

    def _undo(self) -> None:
        name, token, cast = self.app.deleted[-1]

        def done(_) -> None:
            self.app.deleted.pop()
            self.query_one(VoiceList).can_undo = bool(self.app.deleted)
            self.app.change(cast=cast)
            self.refresh_voices(name)
            self.status.say(f"{name} is back")

        self._work("undo", f"bringing back {name}", lambda job: self.app.library.restore(token), done)

    def _export(self, name: str) -> None:
        def export(values: dict | None) -> None:
            if values is not None:
                path = Path(values["path"]).expanduser()
                self._work(
                    "export",
                    f"exporting {name}",
                    lambda job: self.app.library.export(name, path, overwrite=True),
                    lambda _: self.status.say(f"exported {path}"),
                )

        self.app.push_screen(Form(f"Export {name}", [Field("path", "File", f"{name}.s2voice")], "Export",
                                  path_check((".s2voice",))), export)

    def import_voice(self) -> None:
        def bring(values: dict | None) -> None:
            if values is None:
                return
            path = Path(values["path"]).expanduser()
            name = values["name"].strip() or path.stem
            self._work("import", f"importing {path.name}", lambda job: self.app.library.import_file(path, name),
                       lambda _: self._arrived(name))

        self.app.push_screen(
            Form(
                "Import a voice",
                [
                    Field("path", "A .s2voice file", hint="voices/anna.s2voice"),
                    Field("name", "Name (empty: the file's)"),
                ],
                "Import",
                _readable,
            ),
            bring,
        )

    def add_voice(self) -> None:
        """A voice from an audio file and its words."""
        def add(values: dict | None) -> None:
            if values is None:
                return
            path, words = Path(values["path"]).expanduser(), values["words"].strip()
            name = values["name"].strip() or path.stem

            def work(job) -> None:
                engine = self.app.room.wait(job)
                job.report(None, f"reading {path.name}")
                samples = self.app.studio.read_audio(path, engine.sample_rate)
                job.report(None, f"encoding {path.name}")
                voice = engine.clone((samples, engine.sample_rate), words, name=name, cancel=job.cancel)
                if not job.cancel.is_set():
                    self.app.library.add(name, voice, clip=(samples, engine.sample_rate))

            self._work("add", f"reading {path.name}", work, lambda _: self._arrived(name))

        fields = [Field("path", "Audio file, 5 to 30 s of one voice", hint="clip.wav"),
                  Field("words", "What is said in it, word for word"), Field("name", "Name (empty: the file's)")]
        check = lambda v: (
            _readable(v) or ("" if v["words"].strip() else "the words are needed: the model learns the voice by them")
        )
        self.app.push_screen(Form("Add a voice from a clip", fields, "Add", check), add)

    def _arrived(self, name: str) -> None:
        if name in self.app.library.names():
            self.bind(name, 0)
            self.refresh_voices(name)
            self.status.say(f"voice {name} is ready: ^s speaks")


def _row(app, info) -> VoiceRow:
    """A saved voice as the list shows it; one that the loaded model cannot use, not even by its clip, says so."""
    language = app.settings.languages.get(info.name, "")
    try:
        engine = app.room.engine
        if engine and not info.problem and not info.has_clip:
            app.fitting.check(engine, app.library.get(info.name))
        clip = app.library.clip(info.name) if info.has_clip and not info.problem else None
    except (S2Error, OSError) as error:
        return VoiceRow(info.name, language=language, trouble=str(error))
    if info.problem:
        return VoiceRow(info.name, language=language, trouble=info.problem)
    return VoiceRow(info.name, info.seconds, language, blocks(clip[0], 10) if clip else "")


def _guest(name: str, voice) -> VoiceRow:
    return VoiceRow(name, voice.seconds)


def _named(values: dict) -> str:
    return "" if values["name"].strip() else "a name is needed"


def _readable(values: dict) -> str:
    path = Path(values["path"]).expanduser()
    return "" if path.is_file() else f"there is no file {path}" if values["path"].strip() else "a file is needed"


def _without(name: str, cast: tuple) -> tuple:
    left = [None if one == name else one for one in cast]
    while left and left[-1] is None:
        left.pop()
    return tuple(left)
