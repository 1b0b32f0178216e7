"""Prefilled prompts' beginnings, kept for the next pass or request with the same references.

The part of a prompt up to the end of the system's turn depends on the references alone; a reference of 20 seconds is
hundreds of positions that need not be computed again. Knows keys and caches, not prompts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from .layers.cache import KVCache


class PrefixCache:
    """Least recently used out, when more than `max_bytes` of keys and values are held."""

    def __init__(self, max_bytes: int):
        self.max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, KVCache] = OrderedDict()
        self.hits = self.misses = 0

    def fork(self, key: Hashable, prefill: Callable[[], KVCache | None]) -> KVCache | None:
        """A cache of one's own to continue from. On a miss `prefill()` makes it; None (cancelled) is passed on."""
        entry = self._entries.get(key)
        if entry is None:
            self.misses += 1
            entry = prefill()
            if entry is None:
                return None
            self._entries[key] = entry
            while len(self._entries) > 1 and self.nbytes > self.max_bytes:
                self._entries.popitem(last=False)
        else:
            self.hits += 1
            self._entries.move_to_end(key)
        twin = entry.fork()
        if entry.nbytes > self.max_bytes:  # alone too large to keep
            self._entries.pop(key, None)
        return twin

    @property
    def nbytes(self) -> int:
        return sum(entry.nbytes for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
