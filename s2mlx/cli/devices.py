"""List the sound devices that `say -a` and `record --input` take."""

from __future__ import annotations

import dataclasses
import json

from . import model
from .terminal import table


def configure(parser) -> None:
    model.add_manners(
        parser,
        quiet=False,
        json="print one JSON object: {devices: [{index, name, inputs, outputs, default_rate, ...}]}",
    )


def run(args, console) -> int:
    return print_list(console, as_json=args.json)


def print_list(console, only: str | None = None, as_json: bool = False) -> int:
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
