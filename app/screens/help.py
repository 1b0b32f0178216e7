"""Help: what to do first, the keys, read from the bindings themselves so that they are true, and how more is done."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from ..widgets.key_line import KeyLine

WORDS = """\
^j speaks what is selected, or the paragraph; F10 from the cursor's sentence on.

F12 speaks while you type: each sentence when it is finished, what you add at the end first of all; what was spoken \
already is not spoken again when you edit it. F12 or escape ends that.

A voice for now: ^l records, and the text is heard in that voice at once.

Tags: type [ for the list, where the model takes them. [whisper], [laughing] and any short instruction in brackets \
direct the voice. <|speaker:1|> \
changes the speaker; highlight a voice in the list and press 1 to give it that part.

Waveform: ━ was heard, ┿ is heard now, ─ is made and waits. A click plays from there. RTF is the time the model needs \
for one second of sound, the reading of text and voice aside: below 1 it keeps ahead of your ears, and sound begins at \
once; above 1 some is held back first. The history shows the same.

Versions: ^n speaks the text several times, each with another seed. Hear them, star the best, save it; s speaks \
the text again with its seed.

Long texts: what takes more than a minute and a half is spoken in parts that are kept; the bar says which is heard, \
and after escape ^s begins with what is there. F6 lists the parts. m makes them all, unheard and at full pace, and \
goes on while you do other things; n says one anew and puts it into the whole, ← brings back the take before; e \
saves the whole, or a file a chapter, with subtitles if wanted. F7 is a queue of such texts and files. What is \
there is kept, whatever happens.

Everything is kept: the text, each utterance (^t; s there speaks it again with its seed), a take that is not yet \
a voice. Tab goes round the panes, ^p finds every action by name, ^q quits."""


HEADS = {"this screen": "Keys of this screen", "everywhere": "Everywhere"}


class HelpPages(VerticalScroll):
    BINDINGS = [Binding("up", "scroll_up", "Scroll", key_display="↑/↓")]


class HelpScreen(ModalScreen[None]):
    BINDINGS = [Binding("escape,f1,question_mark,q", "app.pop_screen", "Close")]

    def __init__(self, groups: list[tuple[str, DOMNode, list[Binding]]], how: str = ""):
        """`groups`: as `key_groups` finds them; `how`: what to do first."""
        super().__init__()
        self._groups, self._how = groups, how

    def compose(self) -> ComposeResult:
        with HelpPages(classes="dialog", id="help"):
            if self._how:
                yield Static("How", classes="group", markup=False)
                yield Static(self._how, markup=False)
            for where, _, bindings in self._groups:
                yield Static(HEADS.get(where, f"In {where}"), classes="group", markup=False)
                keys = [(key.key_display or self.app.get_key_display(key), key.description) for key in bindings]
                yield Static("\n".join(f"{key:>12}  {what}" for key, what in keys), markup=False)
            yield Static("More" if self._how else "How", classes="group", markup=False)
            yield Static(WORDS, markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#help").focus()


def key_groups(app: App, screen: Screen) -> list[tuple[str, DOMNode, list[Binding]]]:
    """The keys of the screen, of each of its panes (the one in focus first), of the app: (where, whose, which)."""
    panes = sorted(screen.query("*"), key=lambda pane: pane is not screen.focused)
    nodes: list[tuple[str, DOMNode]] = [("this screen", screen)]
    nodes += {type(pane): (pane.PLACE, pane) for pane in panes if hasattr(pane, "PLACE")}.values()
    nodes.append(("everywhere", app))
    return [(where, node, _bindings(type(node))) for where, node in nodes]


def _bindings(kind: type) -> list[Binding]:
    """What a class and its bases in this app declare, one binding for each description."""
    found: dict[str, Binding] = {}
    for base in kind.__mro__:
        if base.__module__.startswith(__package__.partition(".")[0]):
            for binding in base.__dict__.get("BINDINGS", ()):
                if binding.description:
                    found.setdefault(binding.description, binding)
    return list(found.values())
