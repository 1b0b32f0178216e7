"""The main screen: voices, text, transport, the waveform of what is spoken, and its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import TextArea

from .. import tags
from ..jobs import Job
from ..speaking.follow import Follower
from ..speaking.utterance import Made, Script, Sounding, Speaking
from ..widgets.editor import Editor
from ..widgets.key_line import KeyLine
from ..widgets.status_line import StatusLine
from ..widgets.transport import Transport
from ..widgets.voice_list import VoiceList
from ..widgets.waveform import Waveform
from .hearing import Hearing
from .voice_actions import VoiceActions

if TYPE_CHECKING:
    from ..app import S2App

TICK = 1 / 20  # seconds between looks at the player
AUTOSAVE = 1.0  # seconds after the last change of the text

BUTTONS = (
    ("speak", "▶ Speak", "^s"),
    ("stop", "■ Stop", "esc"),
    ("replay", "↻ Replay", "^b"),
    ("save", "▼ Save", "^o"),
    ("live", "◉ Live", "^l"),
    ("record", "● Record", "^r"),
)


class MainScreen(Hearing, VoiceActions, Screen):
    app: S2App

    BINDINGS = [
        Binding("ctrl+s", "speak", "Speak", show=False),
        Binding("escape", "stop", "Stop"),
        Binding("ctrl+b", "replay", "Replay", show=False),
        Binding("f2", "pause", "Pause", key_display="F2"),
        Binding("ctrl+o", "save", "Save sound", show=False),
        Binding("ctrl+l", "live", "Live clone", show=False),
        Binding("ctrl+r", "record", "Record", show=False),
        Binding("ctrl+t", "app.history", "History"),
        Binding("ctrl+g", "app.settings", "Settings"),
        Binding("question_mark", "app.help", "Help", key_display="?/F1"),
        Binding("f1", "app.help", "Help", key_display="F1"),  # shown where ? is typed
    ]

    def __init__(self, text: str):
        super().__init__()
        self.editor = Editor(text, id="editor")
        self.ready = False  # the widgets are there
        self.sounding: Sounding | None = None
        self.work: Job | None = None  # encoding, importing: what escape cancels when nothing sounds
        self.latest: Speaking | None = None  # its messages still count after its sound has ended
        self.made: Made | None = None  # the utterance last spoken, or being spoken
        self.follower: Follower | None = None
        self._speak_when_loaded = False
        self._offset = 0.0  # seconds at which the playback began
        self._ticking: Timer | None = None
        self._autosave: Timer | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="panes"):
            yield VoiceList(id="voices")
            yield self.editor
        yield Transport(BUTTONS, id="transport")
        yield Waveform("the sound appears here as it is made", id="wave")
        yield StatusLine(id="status")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#voices").border_title = "Voices"
        self.editor.border_title = "Text"
        self._ticking = self.set_interval(TICK, self.tick, pause=True)
        self.editor.area.focus()
        self.ready = True
        self.refresh_voices()
        self.engine_changed()

    def say(self, text: str) -> None:
        self.status.say(text)

    wave = property(lambda self: self.query_one(Waveform))
    status = property(lambda self: self.query_one(StatusLine))

    # the text

    @on(TextArea.Changed)
    def _text_changed(self) -> None:
        if self._autosave:
            self._autosave.stop()
        self._autosave = self.set_timer(AUTOSAVE, lambda: self.app.keep_text(self.editor.text))

    # the engine

    def engine_changed(self) -> None:
        """The app says that the model is loading, loaded or failed."""
        if not self.ready:
            return
        room = self.app.room
        if room.loading:
            share = "" if room.fraction is None else f" {room.fraction:.0%}"
            then = "speaks as soon as it is loaded" if self._speak_when_loaded else "esc cancels"
            self.status.say(f"loading {self.app.settings.model or 'the model'}{share}: {then}")
        elif room.error:
            self.status.say(self.app.explain(room.error) + "  ^g: settings")
        else:
            self.status.say(
                "ready, with the small demo model: ^g chooses another"
                if room.engine and room.engine.is_demo
                else "ready"
            )
            if room.engine:
                self.editor.take_tags(room.engine.config.dialogue)
            self.refresh_voices()
            if self._speak_when_loaded:
                self.action_speak()
        self.show_figures()
        self.allow()

    # transport

    @on(Transport.Asked)
    def _asked(self, event: Transport.Asked) -> None:
        {
            "speak": self.action_speak,
            "stop": self.action_stop,
            "replay": self.action_replay,
            "save": self.action_save,
            "live": self.action_live,
            "record": self.action_record,
        }[event.what]()

    def allow(self) -> None:
        """Enable what makes sense now."""
        have = self.made is not None and bool(self.made.samples)
        self.query_one(Transport).allow(
            "speak",
            "live",
            "record",
            *(("stop",) if self.sounding or self.work else ()),
            *(("replay", "save") if have else ()),
        )
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        if action == "stop":
            return bool(self.sounding or self.work or self.app.room.loading)
        if action == "pause":
            return self.sounding is not None
        return True

    def action_speak(self) -> None:
        self.speak(self.editor.text, self.cast_for(self.editor.text), self.app.settings.options())

    def speak(self, text: str, names: tuple[str, ...] | None, options) -> None:
        """Speak `text`; `names` None means that the cast has a gap, which has been said already."""
        if names is None:
            return
        if not text.strip():
            self.status.say("nothing to say yet: type some text")
            self.editor.area.focus()
            return
        room = self.app.room
        if room.engine is None:
            if not room.loading:
                self.app.room.load(self.app.settings)
            self._speak_when_loaded = True
            self.engine_changed()
            return
        self._speak_when_loaded = False
        self.silence()
        request = Script(text, names, options)
        rate = room.engine.sample_rate
        speaking = Speaking(
            self.app.studio,
            room.engine,
            request,
            self.app.load_voice,
            lambda: self.app.open_player(rate),
            self.post_message,
        )
        self.follower = None
        self.latest, self.made = speaking, Made(request, rate)
        self.wave.clear(rate)
        self._sound(speaking, "speaking: waiting for the first sound")

    def action_stop(self) -> None:
        self._speak_when_loaded = False
        if self.sounding:
            self.silence()
            self.status.say("stopped")
        elif self.work:
            self.work.cancel.set()
            self.status.say("cancelled")
        else:
            self.app.room.drop()

    @on(Waveform.Sought)
    def _sought(self, event: Waveform.Sought) -> None:
        if self.made and self.made.samples and not isinstance(self.sounding, Speaking):
            self.action_replay(event.seconds)

    def action_record(self) -> None:
        self.silence()
        self.app.record(live=False)

    def action_live(self) -> None:
        self.silence()
        self.app.record(live=True)

    def use_voice(self, name: str, speak: bool) -> None:
        """Back from the recording with a new voice."""
        self.bind(name, 0)
        self.refresh_voices(name)
        self.status.say(f"voice {name} is ready: ^s speaks")
        self.editor.area.focus()
        if speak:
            self.action_speak()

    # the cast

    def cast_for(self, text: str) -> tuple[str, ...] | None:
        """The voices a text needs. None, and a word about it, when a speaker that is named has or can have no voice."""
        cast = self.app.settings.cast
        named = tags.speakers(text)
        if named and named[-1] >= tags.SPEAKERS:
            self.status.say(f"the text names speaker {named[-1]}: only 0 to {tags.SPEAKERS - 1} can be given a voice")
            return None
        count = max(named, default=0) + 1
        wanted = tuple(cast[:count]) + (None,) * (count - len(cast))
        if not any(wanted):
            return ()
        for speaker, name in enumerate(wanted):
            if name is None:
                self.status.say(f"speaker {speaker} has no voice: highlight one in the list and press {speaker}")
                self.query_one(VoiceList).focus()
                return None
        return wanted
