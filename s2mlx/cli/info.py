"""Show what a model file holds: sizes, tensor types, the memory it needs, its licence."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from ..files import size
from ..text import spoken
from . import model
from .parser import Parser
from .terminal import Console, table


def configure(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", metavar="MODEL", help=model.POSITIONAL)
    model.add_name(parser)
    model.add_manners(
        parser,
        quiet=False,
        json=(
            "print one JSON object: {name, path, parameters, bytes, types: {TYPE: {tensors, bytes}}, config, "
            "memory: {weights, kv_cache, positions, needed}, licence, is_demo, chosen_by: MODEL, -m/--model, "
            "S2MLX_MODEL, the path of the defaults file, or null}"
        ),
    )


def run(args: argparse.Namespace, console: Console) -> int:
    from ..weights import describe, find_model, open_checkpoint

    found = find_model(model.named(args))
    with open_checkpoint(found.path) as checkpoint:
        facts = describe(checkpoint)
    facts["is_demo"] = found.is_demo
    facts["chosen_by"] = "MODEL" if args.name is not None else args.sources.get("model")
    print(json.dumps(facts) if args.json else _text(facts))
    return 0


def _text(facts: dict[str, Any]) -> str:
    config, memory = facts["config"], facts["memory"]
    rows = [
        ["name", facts["name"] + (" (the bundled demo voice)" if facts["is_demo"] else "")],
        ["file", facts["path"]],
        ["chosen by", facts["chosen_by"] or "nobody: it is bundled; s2mlx config model NAME sets another"],
        ["weights", f"{facts['parameters'] / 1e6:,.1f} million numbers in {size(facts['bytes'])}"],
    ]
    for part, label in (("slow", "Slow-AR"), ("fast", "Fast-AR")):
        if net := config[part]:
            rows.append(
                [
                    label,
                    f"{net['layers']} layers, width {net['dim']}, {net['heads']} heads "
                    f"({net['kv_heads']} for keys) of {net['head_dim']}, feed-forward {net['ffn_dim']}",
                ]
            )
    if config["slow"]:
        rows.append(["words", f"vocabulary {config['vocab_size']}, context {config['context_length']}"])
        rows.append(
            [
                "speaks",
                spoken(tuple(config["languages"])) + ("; does [tags]" if config["tags"] else "; knows no [tags]"),
            ]
        )
        knobs = config["sampling"]
        rows.append(
            ["sampling", f"temperature {knobs['temperature']:g}, top-p {knobs['top_p']:g}, top-k {knobs['top_k']}"]
        )
    if codec := config["codec"]:
        frame = math.prod(codec["encoder_rates"]) * math.prod(codec["downsample_factor"])
        rows.append(
            [
                "codec",
                f"{codec['sample_rate']} Hz, {frame} samples a frame, {1 + codec['residual_codebooks']} codebooks",
            ]
        )
    else:
        rows.append(["codec", "none: it cannot make or read sound"])
    types = [f"{name} {t['tensors']} ({size(t['bytes'])})" for name, t in sorted(facts["types"].items())]
    rows += [
        ["types", ", ".join(types)],
        [
            "memory",
            f"about {size(memory['needed'])}: weights {size(memory['weights'])}, KV cache "
            f"{size(memory['kv_cache'])} at {memory['positions']} positions; and some for the codec",
        ],
    ]
    if facts["licence"]:
        rows.append(["licence", facts["licence"]])
    return table(rows)
