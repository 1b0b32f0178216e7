"""What the main screen does with saved voices: choose, bind, hear, delete, undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.widgets import OptionList

from s2mlx.errors import S2Error

from ..jobs import Job
from ..speaking.envelope import blocks
from ..widgets.voice_list import OWN, VoiceList, VoiceRow
from .voice_forms import VoiceForms


class VoiceActions(VoiceForms):
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
        {
            "audition": self._audition,
            "rename": self._rename,
            "delete": self._delete,
            "export": self._export,
            "add": lambda _: self.add_voice(),
            "import": lambda _: self.import_voice(),
            "undo": lambda _: self._undo(),
        }[event.what](event.name)

    def _work(
        self,
        what: str,
        state: str,
        work: Callable[[Job], Any],
        done: Callable[[Any], None],
        failed: Callable[[BaseException], None] | None = None,
    ) -> None:
        """A job that escape cancels."""

        def ended(then):
            def call(result):
                self.work = None
                self.allow()
                then(result)

            return call

        self.status.say(f"{state}  esc cancels")
        self.work = self.app.jobs.start(
            what,
            work,
            done=ended(done),
            failed=ended(failed or self.app.complain),
            progressed=lambda share, note: self.status.say(f"{note}  esc cancels"),
        )
        self.allow()

    def _audition(self, name: str) -> None:
        def done(clip) -> None:
            if clip is None:
                self.status.say(f"{name} came without its clip: enter chooses it, ^s speaks")
            else:
                self.listen(*clip, what=f"listening to the clip of {name}")

        self._work("audition", f"reading the clip of {name}", lambda job: self.app.library.clip(name), done)

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
            self._came_back(name)

        self._work("undo", f"bringing back {name}", lambda job: self.app.library.restore(token), done)


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


def _without(name: str, cast: tuple) -> tuple:
    left = [None if one == name else one for one in cast]
    while left and left[-1] is None:
        left.pop()
    return tuple(left)
