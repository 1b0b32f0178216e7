"""Light, dark and high contrast, and what the colours mean. What they mean is always said by shape or word too."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="s2-dark",
    primary="#58b9d6",
    secondary="#7d93a5",
    accent="#b7a6f2",
    warning="#e9b44c",
    error="#f06a9b",
    success="#74c69d",
    foreground="#d9e0e7",
    background="#0e1318",
    surface="#131a21",
    panel="#1e2832",
    dark=True,
    variables={
        "recording": "#ff5a52",
        "quiet": "#33424f",
        "faint": "#8796a4",
        "outline": "#4d6070",
        "key-face": "#25313d",
        "key-edge": "#11181f",
    },
)
LIGHT = Theme(
    name="s2-light",
    primary="#0b6f8c",
    secondary="#5a6f80",
    accent="#6045b5",
    warning="#8a5a00",
    error="#a8205f",
    success="#27703b",
    foreground="#18212a",
    background="#f3f5f7",
    surface="#ffffff",
    panel="#e3e9ee",
    dark=False,
    variables={
        "recording": "#c4261d",
        "quiet": "#c3ced7",
        "faint": "#5c6b78",
        "outline": "#9fb0bd",
        "key-face": "#dbe3ea",
        "key-edge": "#aebbc6",
    },
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
        "recording": "#ff6060",
        "quiet": "#ffffff",
        "faint": "#ffffff",
        "outline": "#ffffff",
        "key-face": "#303030",
        "key-edge": "#000000",
    },
)
OURS = (DARK, LIGHT, CONTRAST)
OUR_NAMES = {"s2-dark": "dark", "s2-light": "light", "s2-contrast": "high contrast"}


def names() -> tuple[str, ...]:
    """Every theme there is: ours first, then Textual's."""
    return (*OUR_NAMES, *sorted(BUILTIN_THEMES))


def theme_label(name: str) -> str:
    """A theme as people read it."""
    return OUR_NAMES.get(name, name)


def meanings(theme: Theme) -> dict[str, str]:
    """The variables that the styles use beside Textual's, for a theme that does not set them itself:

    recording, speaking, paused, failed, done   what goes on
    direction                                   a tag that directs the voice
    quiet, outline, faint                       frames; outlines of voices; words that stand back
    key-face, key-edge                          a button and the edge below it
    """
    primary, text = theme.primary, theme.foreground or ("#e0e0e0" if theme.dark else "#202020")
    panel = theme.panel or ("#2a2a2a" if theme.dark else "#dddddd")
    error = theme.error or "#d0506a"
    return {
        "recording": error,
        "speaking": primary,
        "paused": theme.warning or primary,
        "failed": error,
        "done": theme.success or primary,
        "direction": theme.accent or primary,
        "quiet": f"{text} 30%",
        "faint": f"{text} 65%",
        "outline": f"{text} 40%",
        "key-face": panel,
        "key-edge": theme.surface or theme.background or panel,
    }
