"""Prefilled prompts' beginnings, kept for the next pass or request with the same references.

The part of a prompt up to the end of the system's turn depends on the references alone; a reference of 20 seconds is
hundreds of positions that need not be computed again. Those of saved voices are kept on the disk too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..layers.cache import KVCache
from .disk_prefixes import DiskPrefixes


class PrefixCache:
    """Least recently used out, when more than `max_bytes` of keys and values are held."""

    def __init__(self, max_bytes: int, disk: DiskPrefixes | None = None):
        self.max_bytes, self._disk = max_bytes, disk
        self._entries: OrderedDict[bytes, KVCache] = OrderedDict()
        self._unwritten: dict[bytes, dict[str, Any]] = {}

    def get(
        self, key: bytes, prefill: Callable[[], KVCache | None], about: dict[str, Any] | None = None
    ) -> KVCache | None:
        """The cache of `key`, to be continued (`fork`, `extend`) and not written to. On a miss `prefill()` makes it;
        None (cancelled) is passed on. about: what is told of it on the disk; None keeps it off there."""
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key]
        entry = self._disk.read(key) if self._disk is not None and about is not None else None
        if entry is None:
            entry = prefill()
            if entry is not None and self._disk is not None and about is not None:
                self._unwritten[key] = about
        if entry is not None and entry.nbytes <= self.max_bytes:
            self._entries[key] = entry
        while self.nbytes > self.max_bytes:
            self._entries.popitem(last=False)
        return entry

    def settle(self) -> None:
        """Write what is not on the disk yet: at the end of a request, when nobody waits for sound."""
        for key, about in self._unwritten.items():
            if self._disk is not None and key in self._entries:
                self._disk.write(key, self._entries[key], about)
        self._unwritten.clear()

    def clear(self) -> None:
        self._entries.clear()

    @property
    def nbytes(self) -> int:
        return sum(entry.nbytes for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
