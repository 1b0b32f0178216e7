"""What every screen of the app has in common: it knows which app it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from textual.screen import Screen

if TYPE_CHECKING:
    from ..app import S2App

Result = TypeVar("Result")  # what a screen is dismissed with


class AppScreen(Screen[Result]):
    app: S2App
