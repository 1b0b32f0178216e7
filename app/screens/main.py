"""The main screen: voices, text, transport, the waveform of what is spoken, and its figures."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widgets import TextArea

from ..speaking.live_reading import ReadingMoved
from ..speaking.live_utterance import SpeechFailed, SpeechFrames, SpeechMade, SpeechUnheard
from ..widgets.editor import Editor
from ..widgets.key_line import KeyLine
from ..widgets.progress_line import ProgressLine
from ..widgets.status_line import Mood, StatusLine
from ..widgets.transport import Transport
from ..widgets.voice_list import VoiceList
from ..widgets.waveform import Waveform
from .activity import Idle, LoadFailed, Loading, MakingUnheard, Paused, Replaying, Situation, Speaking, Starting
from .as_i_type import AsIType
from .background_work import BackgroundWork
from .base import HELP_KEYS, AppScreen
from .side_panel import SidePanel
from .sound_saver import SoundSaver
from .speech_control import SpeechControl
from .speech_requests import SpeechRequests
from .voice_actions import VoiceActions

AUTOSAVE = 1.0  # seconds after the last change of the text

BUTTONS = (
    ("speak", "▶ Speak", "^s"),
    ("pause", "‖ Pause", "F2"),
    ("stop", "■ Stop", "esc"),
    ("replay", "↻ Replay", "^b"),
    ("save", "▼ Save", "^o"),
    ("live", "◉ Live", "^l"),
    ("record", "● Record", "^r"),
)

# which button says what goes on, and in which colour
LIT = {
    Starting: ("speak", "speaking"),
    Speaking: ("speak", "speaking"),
    MakingUnheard: ("speak", "speaking"),
    Replaying: ("replay", "speaking"),
    Paused: ("pause", "paused"),
}


class MainScreen(AppScreen[None]):
    """Lays out the widgets, and hands keys and messages to its parts:

    situation   what is going on, as the status line says it
    requests    what is to be spoken: the text, a part of it, a sentence again
    speech      the sound: making, playing, replaying
    voices      the list of voices and all that is done with them
    work        the work with voices under way
    typing      sentences spoken as soon as they are written
    side        takes and history beside the text, where there is room
    """

    AUTO_FOCUS = "#text"
    HOW = (
        "Type or paste a text, choose a voice on the left (tab goes there, enter takes it) and press ^s, which is ctrl "
        "and s: you hear it while it is made, and esc stops it. For a voice of your own press ^r, read the sentence "
        "aloud, trim it and name it. ^p finds every action by its name; the history (^t) keeps all that you make."
    )
    BINDINGS = [
        Binding("ctrl+s", "speak", "Speak", show=False),
        Binding("escape", "stop", "Stop"),
        Binding("ctrl+b", "replay", "Replay", show=False),
        Binding("f2", "pause", "Pause", key_display="F2"),
        Binding("ctrl+o", "save", "Save sound", show=False),
        Binding("ctrl+l", "live", "Live clone", show=False),
        Binding("ctrl+r", "record", "Record", show=False),
        # from here on what has no button, in the order in which a wider terminal shows it
        Binding("ctrl+t", "app.history", "History"),
        Binding("ctrl+g", "app.settings", "Settings"),
        Binding("f8", "app.models", "Models", key_display="F8"),
        Binding("ctrl+n", "versions", "Versions"),
        Binding("f3", "compare", "A/B two voices", key_display="F3"),
        Binding("f4", "tags", "Tags", key_display="F4"),
        Binding("f6", "parts", "Parts of a long text", key_display="F6", priority=True),
        Binding("f12", "as_i_type", "Speak as I type", key_display="F12"),
        Binding("f7", "queue", "Queue of long texts", key_display="F7", priority=True),
        Binding("f5", "direct", "Add stage directions", key_display="F5"),
        Binding("f10", "speak_part('on')", "Speak from here on, or the selection", key_display="F10", show=False),
        # F11 is full screen in many terminals
        Binding(
            "f11,ctrl+j", "speak_part('paragraph')", "Speak selection, paragraph", key_display="^j/F11", show=False
        ),
        Binding("f9", "again", "Say again what was not heard", key_display="F9", show=False),
        *HELP_KEYS,
    ]

    def __init__(self, text: str, instead: str | None = None):
        """`text`: as it was left; `instead`: what to begin with in its place."""
        super().__init__()
        self._instead = instead
        self.editor = Editor(text, id="editor", classes="pane")
        self.voice_list = VoiceList(id="voices", classes="pane")
        self.side = SidePanel()
        self.transport = Transport(BUTTONS, id="transport")
        self.wave = Waveform("the sound appears here as it is made", id="wave")
        self.bar = ProgressLine(id="reading-bar")
        self.status = StatusLine(id="status")
        self.situation = Situation(self._show_situation)
        self.speech = SpeechControl(self, self.wave, self.editor, self.status, self.bar, self.situation, self.allow)
        self.work = BackgroundWork(self, self.situation, self.allow)
        self.voices = VoiceActions(self, self.voice_list, self.editor, self.situation, self.work, self.speech.play)
        self.requests = SpeechRequests(self)
        self.typing = AsIType(self)
        self._saver = SoundSaver(self, self.say)
        self.ready = False  # the widgets are there
        self._autosave: Timer | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="panes"):
            yield self.voice_list
            yield self.editor
            yield self.side
        yield self.transport
        yield self.wave
        yield self.bar
        yield self.status
        yield KeyLine()

    def on_mount(self) -> None:
        self.voice_list.border_title = "Voices"
        self.editor.border_title = "Text"
        self.speech.mounted()
        if self._instead is not None:
            self.editor.put(self._instead)
        self.ready = True
        self.typing.mounted()
        self.engine_changed()

    def on_screen_resume(self) -> None:
        """Back from another screen, which may have changed what stands beside the text."""
        self.side.reload()
        self.speech.reading.look()
        self.typing.settle()

    def _show_situation(self, line: str, mood: Mood) -> None:
        self.status.say(line, mood)
        lit = LIT.get(type(self.situation.activity))
        self.transport.light(**{lit[0]: lit[1]} if lit and self.ready else {})

    def say(self, text: str, mood: Mood = "") -> None:
        self.situation.say(text, mood)

    # the text

    @on(TextArea.Changed)
    def _text_changed(self) -> None:
        self.typing.text_changed()
        if self._autosave:
            self._autosave.stop()
        self._autosave = self.set_timer(AUTOSAVE, lambda: self.app.keep_text(self.editor.text))

    # the engine

    def engine_changed(self) -> None:
        """The app says that the model is loading, loaded or failed."""
        if not self.ready:
            return
        loader = self.app.loader
        if loader.loading:
            self.situation.enter(Loading(self.app.settings.model, loader.fraction, self.requests.waits))
        elif loader.error:
            self.situation.enter(LoadFailed(self.app.explain(loader.error)))
        else:
            self.situation.enter(Idle(demo=loader.engine is not None and loader.engine.is_demo))
            if loader.engine:
                self.editor.take_tags(loader.engine.config.dialogue)
            self.voices.refresh()
            self.requests.model_came()
        self.speech.show_figures()
        self.allow()

    # speech

    @on(SpeechFrames)
    def _frames_came(self, event: SpeechFrames) -> None:
        self.speech.frames_came(event)

    @on(SpeechMade)
    def _was_made(self, event: SpeechMade) -> None:
        self.speech.was_made(event)

    @on(SpeechUnheard)
    @on(SpeechFailed)
    def _in_trouble(self, event: SpeechUnheard | SpeechFailed) -> None:
        self.speech.in_trouble(event)

    @on(ReadingMoved)
    def _reading_moved(self, event: ReadingMoved) -> None:
        self.speech.reading.moved(event.utterance)

    @on(Waveform.Sought)
    def _sought(self, event: Waveform.Sought) -> None:
        if self.speech.has_audio and not self.speech.is_live:
            self.speech.replay(event.seconds)

    # voices

    @on(VoiceList.OptionHighlighted, "#voices")
    def _voice_highlighted(self) -> None:
        self.voices.highlighted()

    @on(VoiceList.SpeakerChosen)
    def _speaker_chosen(self, event: VoiceList.SpeakerChosen) -> None:
        self.voices.speaker_chosen(event)

    @on(VoiceList.Asked)
    def _voice_asked(self, event: VoiceList.Asked) -> None:
        self.voices.asked(event)

    def use_voice(self, name: str, speak: bool) -> None:
        """Back from the recording with a new voice."""
        self.voices.forms.arrived(name)
        self.editor.area.focus()
        if speak:
            self.action_speak()

    # what the user asks for

    @on(Transport.ButtonPressed)
    def _button_pressed(self, event: Transport.ButtonPressed) -> None:
        {
            "speak": self.action_speak,
            "pause": self.action_pause,
            "stop": self.action_stop,
            "replay": self.action_replay,
            "save": self.action_save,
            "live": self.action_live,
            "record": self.action_record,
        }[event.what]()

    def allow(self) -> None:
        """Enable what makes sense now."""
        self.typing.settle()
        busy = self.speech.audible or self.work.job
        self.transport.allow(
            "speak",
            "live",
            "record",
            *(("pause",) if self.speech.audible else ()),
            *(("stop",) if busy else ()),
            *(("replay", "save") if self.speech.has_audio else ()),
        )
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        if action == "stop":
            return bool(self.speech.audible or self.work.job or self.app.loader.loading or self.typing.on)
        if action == "pause":
            return self.speech.audible is not None or None
        return True

    def why_not(self, action: str, parameters: tuple) -> str:
        return "nothing to pause: no sound is under way" if action == "pause" else ""

    def action_speak(self) -> None:
        self.requests.text()

    def action_as_i_type(self) -> None:
        self.typing.switch()

    def action_speak_part(self, which: str) -> None:
        self.requests.part(which)

    def action_again(self) -> None:
        self.requests.again()

    def action_stop(self) -> None:
        self.requests.forget()
        typing = self.typing.end()
        if self.speech.audible or typing:
            self.speech.silence()
            self.say("stopped: F12 speaks as you type again" if typing else "stopped")
        elif self.work.job:
            self.work.cancel()
            self.say("cancelled")
        else:
            self.app.loader.drop()

    def action_replay(self) -> None:
        self.speech.replay()

    def action_pause(self) -> None:
        self.speech.pause()

    def action_save(self) -> None:
        """Speech that is still being made is saved when it is complete."""
        wanted = self.speech.to_save()
        if wanted is None:
            self.say("nothing to save yet: ^s speaks the text")
        else:
            self._saver.save(*wanted, codes=True)

    def action_filter_voices(self) -> None:
        self.voice_list.focus()
        self.voice_list.action_filter()

    def action_voice_card(self) -> None:
        self.voice_list.focus()
        self.voice_list.action_ask("card")

    def action_compare(self) -> None:
        from .compare import compare_voices

        compare_voices(self.app)

    def action_versions(self) -> None:
        from .versions import open_versions

        open_versions(self.app)

    def action_parts(self) -> None:
        from .long_texts import open_parts

        open_parts(self.app)

    def action_queue(self) -> None:
        from .queue import QueueScreen

        self.app.push_screen(QueueScreen())

    def action_tags(self) -> None:
        from .tag_palette import open_tags

        open_tags(self)

    def action_direct(self) -> None:
        from .directing import direct_text

        direct_text(self, self.editor, self.work)

    def action_record(self) -> None:
        self.speech.silence()
        self.app.recordings.record(live=False)

    def action_live(self) -> None:
        self.speech.silence()
        self.app.recordings.record(live=True)
