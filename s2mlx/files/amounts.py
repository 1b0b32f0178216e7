"""Numbers of bytes in words."""

from __future__ import annotations


def size(count: float) -> str:
    """A number of bytes as people say it, powers of 1000: 1.9 GB, 61.4 kB."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            break
        count /= 1000
    else:
        unit = "GB"
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
