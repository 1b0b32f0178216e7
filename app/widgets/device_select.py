"""A choice among sound devices by name. One that is chosen but not there now stays chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text
from textual.widgets import Select


class DeviceSelect(Select[str]):
    """`way` is "input" or "output"."""

    def __init__(self, way: str, **kwargs: Any):
        super().__init__([], prompt=f"default {way}", compact=True, **kwargs)
        self._has = f"{way}s"

    def show(self, devices: Sequence, chosen: str | None) -> None:
        """Offer these devices (`.name`, `.inputs`, `.outputs`); posts no Changed."""
        names = list(dict.fromkeys(device.name for device in devices if getattr(device, self._has)))
        if chosen and chosen not in names:
            names.append(chosen)
        with self.prevent(Select.Changed):
            self.set_options([(Text(name), name) for name in names])  # as text: [USB] is no markup
            if chosen:
                self.value = chosen

    @property
    def chosen(self) -> str | None:
        """None is the system's default."""
        return self.value if isinstance(self.value, str) else None
