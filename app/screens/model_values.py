"""What a knob of a request is where nothing is typed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2mlx.options import KNOBS

if TYPE_CHECKING:
    from ..app import S2App


def model_value(app: S2App, name: str) -> str:
    """The loaded model's own value, where it is the model's to say; without one an empty string."""
    engine = app.loader.engine
    own = getattr(engine.config.sampling, name, None) if engine else None
    return "" if own is None else _number(own)


def settings_value(app: S2App, name: str) -> str:
    """What holds by the settings, in words."""
    chosen = getattr(app.settings, name)
    return _number(chosen) if chosen is not None else model_value(app, name) or KNOBS[name].default_words


def _number(value: float) -> str:
    """Model files hold numbers in 32 bits: 0.3, not 0.30000001."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
