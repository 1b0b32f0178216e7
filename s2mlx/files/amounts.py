"""Numbers of bytes in words."""

from __future__ import annotations


def size(count: float) -> str:
    """A number of bytes as people say it, powers of 1000: 1.9 GB, 61.4 kB."""
    if count < 1000:
        return f"{count:.0f} B"
    power = next((p for p in (1, 2) if count < 1000 ** (p + 1)), 3)
    return f"{count / 1000**power:.1f} {('kB', 'MB', 'GB')[power - 1]}"
