"""Light, dark and high contrast. Colours only: what they mean is always said by shape or word too."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="s2-dark",
    primary="#5fb3d9",
    secondary="#7aa2b8",
    accent="#f2b05e",
    warning="#f2b05e",
    error="#ef6f6c",
    success="#7bc47f",
    foreground="#d8dee4",
    background="#12171c",
    surface="#161d23",
    panel="#1f2931",
    dark=True,
)
LIGHT = Theme(
    name="s2-light",
    primary="#0f6a94",
    secondary="#476a7d",
    accent="#9a5b00",
    warning="#9a5b00",
    error="#b3261e",
    success="#2e7d32",
    foreground="#1b2126",
    background="#f7f8f9",
    surface="#ffffff",
    panel="#e6ebef",
    dark=False,
)
CONTRAST = Theme(
    name="s2-contrast",
    primary="#00ffff",
    secondary="#ffffff",
    accent="#ffff00",
    warning="#ffff00",
    error="#ff8080",
    success="#00ff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#000000",
    dark=True,
    text_alpha=1.0,
    luminosity_spread=0.0,
    variables={
        "border": "#ffffff",
        "border-blurred": "#ffffff",
        "text-muted": "#ffffff",
        "text-disabled": "#c0c0c0",
        "footer-key-foreground": "#ffff00",
    },
)
ALL = (DARK, LIGHT, CONTRAST)
