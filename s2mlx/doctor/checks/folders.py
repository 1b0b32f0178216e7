"""Disk and folders: whether settings, voices and history can be written, what models are here, and room for more."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ...errors import S2Error
from ...files import config_dir, kept_prefixes, read_defaults, size, state_dir, voices_dir
from ...weights import KNOWN, RECOMMENDED, find_model
from ..finding import Finding, bad, good, note

_ROOM = 6 * 10**9  # bytes: the recommended file, and a little


def run() -> Iterator[Finding]:
    yield from written()
    yield from settings()
    yield from models()
    yield prefilled()


def written() -> Iterator[Finding]:
    """The folders of this program, or the nearest that exist above them: nothing is made."""
    refused = []
    for what, folder in (("settings", config_dir()), ("voices", voices_dir()), ("history", state_dir())):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
            refused.append(f"{what} ({there})")
        elif there == folder and folder.stat().st_mode & 0o022:
            yield note(f"the folder of {what} may be written by others", f"chmod go-w '{folder}'")
    if refused:
        yield bad(f"cannot be written: {', '.join(refused)}", "chown or chmod them, or name others by XDG_..._HOME")
    else:
        yield good(f"settings, voices and history can be written ({config_dir()})")


def settings() -> Iterator[Finding]:
    # what importing s2mlx sets
    ours = {"MLX_ENABLE_TF32": "0", "MLX_MAX_OPS_PER_BUFFER": "1000", "MLX_MAX_MB_PER_BUFFER": "400"}
    set_by_others = [name for name, value in os.environ.items() if ours.get(name) != value]
    variables = sorted(name for name in set_by_others if name.startswith(("S2MLX_", "MLX_")))
    try:
        defaults = sorted(read_defaults())
    except S2Error as fault:
        yield bad(f"the settings cannot be read: {fault}", "mend that line, or remove the file")
        return
    told = f"settings: {', '.join(defaults) or 'none'}; variables: {', '.join(variables) or 'none'}"
    yield good(told, defaults=defaults, variables=variables)


def prefilled() -> Finding:
    """The cache that `s2mlx cache` lists: whether it can be written to, and how full it is."""
    kept = kept_prefixes()
    there = next(path for path in (kept.folder, *kept.folder.parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        return note(f"no voice can be kept prefilled: {there} cannot be written", "chown it, or set XDG_CACHE_HOME")
    entries = kept.entries()
    used = sum(entry.bytes for entry in entries)
    text = f"{len(entries)} prefilled voices on disk, {size(used)} of {size(kept.most)}"
    return good(text, entries=len(entries), used=used)


def models() -> Iterator[Finding]:
    from huggingface_hub import constants

    cache = Path(constants.HF_HUB_CACHE)
    here = []
    for name in KNOWN:
        try:
            find_model(name)
        except S2Error:
            continue
        here.append(name)
    there = next(path for path in (cache, *cache.parents) if path.exists())
    free = shutil.disk_usage(there).free
    text = f"models here: {', '.join(here) or 'the bundled voice only'}; {size(free)} of disk are free for more"
    if here or free >= _ROOM:
        yield good(text, models=here, free=free)
    else:
        yield note(text, f"{RECOMMENDED} needs {size(_ROOM)}: free some, or set HF_HOME to a larger disk", free=free)
