"""The command palette: every action by name, with its key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.app import SystemCommand
from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from s2mlx.files import read_text_file
from s2mlx.text import clean_text

from .paths import TEXTS, readable, typed
from .themes import OUR_NAMES

if TYPE_CHECKING:
    from .app import S2App

SOUNDS = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".aif", ".aiff", ".m4a", ".caf")
LARGEST_TEXT = 1_000_000  # bytes: an hour of speech for each 50 kB; `s2mlx say -f` takes whole books


def commands(app: S2App, screen: Screen) -> Iterable[SystemCommand]:
    from .screens.help import HelpScreen
    from .screens.settings import SettingsScreen

    main = app.main
    if screen is main:
        yield SystemCommand("Speak", "the text in the chosen voice", main.action_speak)
        yield SystemCommand("Speak as I type", "each sentence when it is finished, or not", main.action_as_i_type)
        yield SystemCommand("Replay", "the last utterance", main.action_replay)
        yield SystemCommand("Save sound", "the last utterance to a file, its frames too if wanted", main.action_save)
        yield SystemCommand("Live clone", "record, and hear the text in that voice", main.action_live)
        yield SystemCommand("Record a voice", "from the microphone", main.action_record)
        yield SystemCommand("Add a voice from a clip", "an audio file and its words", main.voices.forms.add_clip)
        yield SystemCommand("Import a voice", "a .s2voice file", main.voices.forms.import_file)
        yield SystemCommand("Bring back a removed voice", "whenever it was removed", main.voices.forms.bring_back)
        yield SystemCommand("A/B two voices", "the one that speaks, and the one in the hand", main.action_compare)
        yield SystemCommand("Versions", "the text, or what is selected, with several seeds", main.action_versions)
        yield SystemCommand("Parts of a long text", "made at full pace, one said anew, exported", main.action_parts)
        yield SystemCommand("Queue of long texts", "texts and files, made one after the other", main.action_queue)
        yield SystemCommand("Tags", "stage directions and speakers, to put at the cursor", main.action_tags)
        yield SystemCommand("Add stage directions", "by a local language model", main.action_direct)
        yield SystemCommand("Filter the voices", "by what is typed then", main.action_filter_voices)
        yield SystemCommand("Notes and settings of a voice", "of the one in the hand", main.action_voice_card)
        yield SystemCommand("Open a text file", "in place of the text here", lambda: _ask_for_text(app))
        yield SystemCommand("Clear the text", "ctrl+z brings it back", main.editor.area.clear)
        yield SystemCommand("History", "everything spoken", app.action_history)
        yield SystemCommand("Models", "those here, and those to fetch", app.action_models)
    if not app.is_open(SettingsScreen):
        yield SystemCommand("Settings", "model, sampling, devices, latency, theme", app.action_settings)
    for theme, words in OUR_NAMES.items():
        yield SystemCommand(f"Theme {words}", "", lambda theme=theme: app.change(theme=theme))
    if not app.is_open(HelpScreen):
        yield SystemCommand("Help", "keys, and how things are done", app.action_help)
    yield SystemCommand("Quit", "at once; everything is kept", app.action_quit)


class Actions(Provider):
    """What the palette offers: the commands, then whatever else has a key here, in any pane."""

    async def discover(self) -> Hits:
        for title, help, callback, key in self._all():
            yield DiscoveryHit(_shown(Content(title), help, key), callback, title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, help, callback, key in self._all():
            if (score := matcher.match(title)) > 0:
                yield Hit(score, _shown(matcher.highlight(title), help, key), callback, title)

    def _all(self) -> Iterator[tuple[str, str, Callable[[], Any], str]]:
        from .screens.help import key_groups

        app = cast("S2App", self.app)
        keys, told = _keys(app, self.screen), set()
        for title, help, callback, _ in app.get_system_commands(self.screen):
            action = getattr(callback, "__name__", "").removeprefix("action_")
            told.add(action)
            yield title, help, callback, keys.get(action, "")
        for where, node, bindings in key_groups(app, self.screen):
            for binding in bindings:
                action = binding.action.rpartition(".")[2]
                if action not in told and binding.action != "command_palette":
                    title = binding.description if node is self.screen else f"{binding.description}: {where}"
                    yield title, "", partial(_act, app, binding.action, node), shown_key(app, binding)


def _act(app: S2App, action: str, node: DOMNode) -> None:
    """As if the key were pressed there."""
    if isinstance(node, Widget) and node.can_focus:
        node.focus()
    app.call_later(app.run_action, action, node)


def _keys(app: S2App, screen: Screen) -> dict[str, str]:
    """The key of each action of the screen and the app, as it is shown."""
    from .screens.help import key_groups

    found: dict[str, str] = {}
    for _, node, bindings in key_groups(app, screen):
        if node in (screen, app):
            for binding in bindings:
                found.setdefault(binding.action.rpartition(".")[2], shown_key(app, binding))
    return found


def _shown(title: Content, help: str, key: str) -> Content:
    """In one line: key, title, what it does."""
    return Content.assemble((f"{key:>9}  ", "$accent"), title, (f"  {help}", "$faint not bold"))


def shown_key(app: S2App, binding: Binding) -> str:
    return binding.key_display or app.get_key_display(binding)


def take_file(app: S2App, path: Path) -> bool:
    """A file was dropped on the main screen: offer a voice of a sound, import a voice, open a text. False where it is
    nothing of these."""
    kind = path.suffix.lower()
    if kind in SOUNDS:
        app.main.voices.forms.add_clip(str(path))
    elif kind == ".s2voice":
        app.main.voices.forms.import_file(str(path))
    elif kind in TEXTS:
        open_text(app, path)
    return kind in (*SOUNDS, ".s2voice", *TEXTS)


def open_text(app: S2App, path: Path) -> None:
    """The text of a file in place of what is there, which undo brings back."""

    def put(text: str) -> None:
        app.main.editor.put(clean_text(text))
        app.main.say(f"opened {path.name}; ctrl+z brings back the text that was here")

    app.jobs.start("open", lambda job: read_text_file(path, LARGEST_TEXT), done=put)


def _ask_for_text(app: S2App) -> None:
    def opened(values: dict | None) -> None:
        if values:
            open_text(app, typed(values["path"]))

    from .screens.form import Field, Form

    app.push_screen(Form("Open a text file", [Field("path", "File")], "Open", readable), opened)
