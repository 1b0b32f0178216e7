"""What every screen of the app has in common: it knows its app, and the terminal's size from the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from textual.binding import Binding
from textual.screen import Screen

if TYPE_CHECKING:
    from ..app import S2App

HELP_KEYS = (
    Binding("question_mark", "app.help", "Help", key_display="?/F1"),
    Binding("f1", "app.help", "Help", key_display="F1"),  # shown where ? is typed
)
Result = TypeVar("Result")  # what a screen is dismissed with


class AppScreen(Screen[Result]):
    """`HOW`: what to do first here, in a few sentences, which the help begins with."""

    HOW = ""
    app: S2App

    def say(self, text: str) -> None:
        """Tell something; most screens have a line for it."""
        self.app.notify(text)

    def why_not(self, action: str, parameters: tuple) -> str:
        """Why `check_action` refuses it just now, in one sentence; nothing where that is plain."""
        return ""

    def on_compose(self) -> None:
        """The classes of its size, which Textual gives to what is drawn already: then all of it is styled again."""
        app, (width, height) = self.app, self.app.size
        for length, breakpoints in ((width, app.HORIZONTAL_BREAKPOINTS), (height, app.VERTICAL_BREAKPOINTS)):
            named = [name for least, name in breakpoints if length >= least]
            self.update_classes({name: name == named[-1] for _, name in breakpoints}, update=False)
