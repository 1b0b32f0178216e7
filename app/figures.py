"""Numbers as the app prints them: always with a unit, never more digits than mean something. What is not there
is left out by who asks."""

from __future__ import annotations


def seconds(value: float) -> str:
    """0.42 s, 12.3 s; minutes from a minute on."""
    if value >= 60:
        return clock(value)
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def clock(value: float) -> str:
    """m:ss"""
    whole = int(max(0.0, value))
    return f"{whole // 60}:{whole % 60:02d}"


def fine_clock(value: float) -> str:
    """m:ss.t"""
    tenths = int(max(0.0, value) * 10)
    return f"{tenths // 600}:{tenths // 10 % 60:02d}.{tenths % 10}"


def size(count: int) -> str:
    """Bytes in decimal units: 850 MB, 4.63 GB."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            value = count / scale
            return f"{value:.2f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{count} B"


def rtf(value: float) -> str:
    """Real-time factor, wall time / audio time."""
    return f"{value:.2f}"
