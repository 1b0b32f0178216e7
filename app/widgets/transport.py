"""The row of buttons under the text, as the keys of an instrument. Says which one was pressed; shows which make sense
now, and lights up what is going on.

A narrow row leaves out the keys of the keyboard, a narrower one the signs too: no button is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Button

# of (sign, word, key), from the widest on
FORMS: tuple[Callable[[str, str, str], str], ...] = (
    lambda sign, word, key: f"{sign} {word} {key}".strip(),
    lambda sign, word, key: f"{sign} {word}".strip(),
    lambda sign, word, key: word,
)
BESIDE, BETWEEN = 2, 1  # columns: on both sides of each button's words at most, after each button
LIT = ("speaking", "paused", "recording")
COLOURS = {"▶": "$speaking", "●": "$recording", "◉": "$recording"}  # of signs


class Transport(Horizontal):
    """`buttons`: (what, label, key as shown); a label is a sign and a word. A button's id is `do-` and what."""

    class ButtonPressed(Message):
        """A button was pressed: `what` names it."""

        def __init__(self, what: str):
            super().__init__()
            self.what = what

    def __init__(self, buttons: tuple[tuple[str, str, str], ...], **kwargs: Any):
        super().__init__(**kwargs)
        self._lit: dict[str, str] = {}
        self._buttons = [(what, *_parted(label), key) for what, label, key in buttons]

    def compose(self) -> ComposeResult:
        for what, sign, word, key in self._buttons:
            button = Button(FORMS[0](sign, word, key), id=f"do-{what}")
            button.can_focus = False  # every button has a key; tab stays with the panes
            yield button

    def on_resize(self) -> None:
        self._label()

    def _label(self) -> None:
        room = self.content_size.width
        for form in FORMS:
            shown = [form(sign, word, key) for _, sign, word, key in self._buttons]
            least = sum(cell_len(words) + BETWEEN for words in shown) - BETWEEN
            if least <= room:
                break
        beside = max(0, min(BESIDE, (room - least) // (2 * len(shown))))
        for button, words, (_, sign, word, _) in zip(self.query(Button), shown, self._buttons, strict=True):
            before, _, after = words.partition(word)
            lit = any(button.has_class(f"-{colour}") for colour in LIT)
            colour = "" if lit else COLOURS.get(sign, "")
            label = Content.assemble((before, colour), word, (after, "" if lit else "$faint"))
            button.set_reactive(Button.label, label)  # contents of the same letters count as equal
            button.refresh(layout=True)
            button.styles.width = cell_len(words) + 2 * beside
            if beside <= button.styles.line_pad:
                button.styles.line_pad = beside
            else:  # once there is room for it: a picture may come before the layout, and would have no column for words
                self.call_after_refresh(setattr, button.styles, "line_pad", beside)

    def allow(self, *possible: str) -> None:
        """Enable these and only these."""
        for button in self.query(Button):
            button.disabled = _what(button) not in possible

    def light(self, **lit: str) -> None:
        """Light up buttons by what they do, as what goes on: speak="speaking"; all others are dark."""
        if lit != self._lit:
            self._lit = lit
            for button in self.query(Button):
                for colour in LIT:
                    button.set_class(lit.get(_what(button)) == colour, f"-{colour}")
            self._label()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.ButtonPressed(_what(event.button)))


def _what(button: Button) -> str:
    return (button.id or "").removeprefix("do-")


def _parted(label: str) -> tuple[str, str]:
    """The sign and the words of a label; a label that has no sign is words alone."""
    sign, _, words = label.partition(" ")
    return (sign, words) if words and not sign.isalpha() else ("", label)
