"""List the sound devices that `say -a` and `record --input` take."""

from __future__ import annotations

import argparse
import dataclasses
import json

from . import model
from .parser import Parser
from .terminal import Console, table


def configure(parser: Parser) -> None:
    model.add_manners(
        parser,
        quiet=False,
        json="print one JSON object: {devices: [{index, name, inputs, outputs, default_rate, ...}]}",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    return print_devices(console, as_json=args.json)


def print_devices(console: Console, only: str | None = None, as_json: bool = False) -> int:
    """only: "inputs" or "outputs" lists the devices that have some."""
    from ..audio import list_devices

    devices = [device for device in list_devices() if only is None or getattr(device, only)]
    if as_json:
        print(json.dumps({"devices": [dataclasses.asdict(device) for device in devices]}))
        return 0
    rows = [["", "device", "in", "out", "rate", ""]]
    for device in devices:
        defaults = " ".join(
            word
            for word, on in (("default-input", device.is_default_input), ("default-output", device.is_default_output))
            if on
        )
        rows.append(
            [
                str(device.index),
                device.name,
                str(device.inputs),
                str(device.outputs),
                f"{device.default_rate:.0f}",
                defaults,
            ]
        )
    if len(rows) > 1:
        print(table(rows))
    else:
        console.warn(f"there is no {only.removesuffix('s') if only else 'sound'} device on this machine")
    return 0
