"""List or clear the prefilled voices on disk: what reading a voice has computed, so that the next run need not.

At most 1 GB is kept, the least recently used goes first. Nothing is lost by clearing it but time.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from ..errors import S2Error, reason
from ..files import KeptEntry, kept_prefixes, size
from . import model
from .parser import Parser
from .terminal import Console, on_stdout, table


def configure(parser: Parser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=["list", "clear"], default="list", help="list (the default) or clear"
    )
    model.add_manners(
        parser, json="print one JSON object: {folder, bytes, entries: [{file, bytes, used, model, voices, positions}]}"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    kept = kept_prefixes()
    try:
        entries = kept.clear() if args.action == "clear" else kept.entries()
    except OSError as fault:
        raise S2Error(f"cannot clear {kept.folder}: {reason(fault)}") from fault
    total = sum(entry.bytes for entry in entries)
    if args.json:
        print(json.dumps({"folder": str(kept.folder), "bytes": total, "entries": [_told(entry) for entry in entries]}))
    elif args.action == "clear":
        console.note(f"{_voices(len(entries))} cleared, {size(total)}")
    elif not entries:
        console.note(f"no voice is prefilled on disk ({kept.folder})")
    else:
        rows = [["voice", "model", "positions", "size", "last used"]]
        rows += [
            [", ".join(told["voices"]), told["model"], str(told["positions"]), size(told["bytes"]), told["used"]]
            for told in map(_told, entries)
        ]
        print(on_stdout(table(rows)))
        console.note(f"{_voices(len(entries))}, {size(total)} of {size(kept.most)}, in {kept.folder}")
    return 0


def _voices(count: int) -> str:
    return f"{count} prefilled voice{'' if count == 1 else 's'}"


def _told(entry: KeptEntry) -> dict[str, Any]:
    """As its header has it, which may be anybody's."""
    voices = entry.about.get("voices")
    return {
        "file": entry.path.name,
        "bytes": entry.bytes,
        "used": time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used)),
        "model": str(entry.about.get("model", "?")),
        "voices": [str(voice) for voice in voices] if isinstance(voices, list) else ["?"],
        "positions": entry.about.get("positions", "?"),
    }
