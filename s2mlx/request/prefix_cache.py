"""Prefilled prompts' beginnings, kept for the next pass or request with the same references.

The part of a prompt up to the end of the system's turn depends on the references alone; a reference of 20 seconds is
hundreds of positions that need not be computed again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from ..layers.cache import KVCache


class PrefixCache:
    """Least recently used out, when more than `max_bytes` of keys and values are held."""

    def __init__(self, max_bytes: int):
        self.max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, KVCache] = OrderedDict()

    def get(self, key: Hashable, prefill: Callable[[], KVCache | None]) -> KVCache | None:
        """The cache of `key`, to be continued (`fork`, `extend`) and not written to. On a miss `prefill()` makes it;
        None (cancelled) is passed on."""
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key]
        entry = prefill()
        if entry is not None and entry.nbytes <= self.max_bytes:
            self._entries[key] = entry
        while self.nbytes > self.max_bytes:
            self._entries.popitem(last=False)
        return entry

    def clear(self) -> None:
        self._entries.clear()

    @property
    def nbytes(self) -> int:
        return sum(entry.nbytes for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
