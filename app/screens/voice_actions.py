"""What the main screen does with saved voices: show, choose, hear, delete, undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from s2mlx.errors import S2Error

from ..jobs import Job
from ..speaking.envelope import blocks
from ..widgets.editor import Editor
from ..widgets.voice_list import OWN, VoiceList, VoiceRow
from .activity import Situation
from .background_work import BackgroundWork
from .base import AppScreen

if TYPE_CHECKING:
    import numpy as np

    from s2mlx.voices import VoiceInfo

    from ..app import S2App
    from .voice_forms import VoiceForms

NEED_A_VOICE = ("audition", "rename", "delete", "export", "card")
NOT_BUNDLED = ("rename", "delete")


class PlayClip(Protocol):
    def __call__(self, samples: np.ndarray, rate: int, *, clip_of: str) -> None: ...


AGAIN = "of another model: made again from its clip for {}"


@dataclass(frozen=True)
class DeletedVoice:
    """A voice that `undo` brings back: its name, the library's token, and the cast it was in."""

    name: str
    token: Any
    cast: tuple[str | None, ...]


class VoiceActions:
    """Keeps `voice_list` and the speakers that `editor` completes up to date. `play` makes a clip heard."""

    def __init__(
        self,
        screen: AppScreen,
        voice_list: VoiceList,
        editor: Editor,
        situation: Situation,
        work: BackgroundWork,
        play: PlayClip,
    ):
        self._screen, self._list, self._editor = screen, voice_list, editor
        self._situation, self._work, self._play = situation, work, play
        self._deleted: list[DeletedVoice] = []
        self._refreshing: Job | None = None  # the latest look into the library
        self._to_highlight: str | None = None  # once it has ended

    @property
    def _app(self) -> S2App:
        return self._screen.app

    @cached_property
    def forms(self) -> VoiceForms:
        """What is asked about voices."""
        from .voice_forms import VoiceForms

        choose = lambda name: self.bind(name, 0)
        return VoiceForms(self._screen, self._situation, self._work, self.refresh, choose, self.renamed)

    # the list

    def refresh(self, highlight: str | None = None) -> None:
        """Read the library again and show it, with the voice `highlight` in the hand if it is there."""
        app = self._app

        def work(job: Job) -> tuple[list[VoiceRow], dict[str, str]]:
            rows = [_row(app, info) for info in app.voices.library.infos()]
            guests = [VoiceRow(name, voice.seconds) for name, voice in app.voices.guests.items()]
            return rows + guests, app.voices.identities()

        self._to_highlight = highlight or self._to_highlight

        def show(found: tuple[list[VoiceRow], dict[str, str]]) -> None:
            rows, ids = found
            if job is not self._refreshing:  # a later look knows more, and may have ended before this one
                return
            self.renamed(app.voices.known.see(ids))
            app.jobs.start("known voices", lambda job: app.voices.known.save(), failed=lambda error: None)
            self._show(rows)
            wanted, self._to_highlight = self._to_highlight, None
            if wanted:
                self._list.highlight(wanted)

        job = self._refreshing = app.jobs.start("voices", work, done=show)

    def renamed(self, names: dict[str, str]) -> None:
        """Voices have other names now, by the names they had: what the app keeps of them goes with them."""
        settings, notes = self._app.settings, self._app.voices.notes
        if not names:
            return
        notes.renamed(names)
        self._app.desk.load(lambda: self._app.desk.renamed(names))
        self._app.jobs.start("voice notes", lambda job: notes.save())
        moved = {new: settings.languages[old] for old, new in names.items() if old in settings.languages}
        kept = {name: language for name, language in settings.languages.items() if name not in names}
        self._app.change(
            cast=tuple(names.get(name, name) if name else name for name in settings.cast), languages=kept | moved
        )

    def bind(self, name: str | None, speaker: int) -> None:
        """Voice `name` (None: nobody) speaks as `speaker`."""
        cast = list(self._app.settings.cast) + [None] * (speaker + 1 - len(self._app.settings.cast))
        cast[speaker] = name
        self._app.change(cast=_without_gap_at_the_end(cast))
        self._show(self._list.rows)

    def _show(self, rows: list[VoiceRow]) -> None:
        cast, languages, notes = self._app.settings.cast, self._app.settings.languages, self._app.voices.notes
        rows = [replace(row, language=languages.get(row.name, ""), notes=notes.of(row.name).notes) for row in rows]
        self._list.show(rows, cast)
        self._editor.speakers = [name or OWN for name in cast] or [OWN]

    # what the list asks for

    def highlighted(self) -> None:
        """A voice that cannot be used says why; what was noted of one is shown."""
        row = self._list.current_row
        if row and (row.trouble or row.notes):
            self._situation.say(f"{row.name}: {row.trouble or row.notes}")

    def speaker_chosen(self, event: VoiceList.SpeakerChosen) -> None:
        self.bind(event.name, event.speaker)
        who = event.name or OWN
        self._situation.say(f"{who} speaks" if event.speaker == 0 else f"{who} speaks as <|speaker:{event.speaker}|>")

    def asked(self, event: VoiceList.Asked) -> None:
        if event.what in NEED_A_VOICE:
            self._with_voice(event.what, event.name)
        else:
            {"add": self.forms.add_clip, "import": self.forms.import_file, "undo": self._undo}[event.what]()

    def _with_voice(self, what: str, name: str | None) -> None:
        if name is None:
            self._situation.say("that is the model's own voice: highlight a saved one")
        elif name in self._app.voices.guests:
            self._situation.say(f"{name} was given on the command line and is not saved: i imports its file")
        elif what in NOT_BUNDLED and (row := self._list.current_row) and row.bundled:
            self._situation.say(f"{name} comes with the program and stays as it is: n has notes and settings")
        else:
            actions: dict[str, Callable[[str], None]] = {
                "audition": self._audition,
                "rename": self.forms.rename,
                "delete": self._delete,
                "export": self.forms.export,
                "card": self._card,
            }
            actions[what](name)

    def _card(self, name: str) -> None:
        from .voice_card import open_card

        row = self._list.current_row
        if row and row.name == name:
            open_card(self._app, row)

    def _audition(self, name: str) -> None:
        def done(clip: tuple[np.ndarray, int] | None) -> None:
            if clip is None:
                self._situation.say(f"{name} came without its clip: enter chooses it, ^s speaks")
            else:
                self._play(*clip, clip_of=name)

        self._work.start(
            "audition", f"reading the clip of {name}", lambda job: self._app.voices.library.clip(name), done
        )

    def _delete(self, name: str) -> None:
        def done(token: Any) -> None:
            cast = self._app.settings.cast
            self._deleted.append(DeletedVoice(name, token, cast))
            self._list.can_undo = True
            self._app.change(cast=_without_gap_at_the_end([None if one == name else one for one in cast]))
            self.refresh()
            self._situation.say(f"deleted {name}: u brings it back")

        self._work.start("delete", f"deleting {name}", lambda job: self._app.voices.library.remove(name), done)

    def _undo(self) -> None:
        last = self._deleted[-1]

        def done(_: Any) -> None:
            self._deleted.pop()
            self._list.can_undo = bool(self._deleted)
            self._app.change(cast=last.cast)
            self.forms.came_back(last.name)

        self._work.start(
            "undo", f"bringing back {last.name}", lambda job: self._app.voices.library.restore(last.token), done
        )


def _row(app: S2App, info: VoiceInfo) -> VoiceRow:
    """A saved voice as the list shows it; one that the loaded model cannot use, not even by its clip, says so."""
    row = VoiceRow(info.name, bundled=info.builtin)
    try:
        engine = app.loader.engine
        trouble = app.voices.misfit(info.name, engine) if engine and not info.problem else ""
        if trouble and not info.has_clip:
            return replace(row, trouble=trouble)
        clip = app.voices.library.clip(info.name) if info.has_clip and not info.problem else None
    except (S2Error, OSError) as error:
        return replace(row, trouble=str(error))
    if info.problem:
        return replace(row, trouble=info.problem)
    fits = "" if engine is None else AGAIN.format(engine.name) if trouble else f"fits {engine.name}"
    return replace(
        row, seconds=info.seconds or 0.0, outline=blocks(clip[0], 10) if clip else "", fits=fits, again=bool(trouble)
    )


def _without_gap_at_the_end(cast: list[str | None]) -> tuple[str | None, ...]:
    left = list(cast)
    while left and left[-1] is None:
        left.pop()
    return tuple(left)
