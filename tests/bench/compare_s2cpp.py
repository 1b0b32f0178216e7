"""The same speech by s2.cpp and by `s2mlx say`: two commands on one model of S2 Pro's widths, turn by turn.

    python -m tests.bench.compare_s2cpp PATH/TO/s2        # from a checkout in which s2mlx is installed

Writes a synthetic model of few layers into a temporary folder and has each command speak so many frames of it, with as
many threads as there are cores. Prints a Markdown table: wall and CPU time of the processes, and of their parts by what
each tells of itself. The first turn, in which the file comes into the system's memory, is left out.
"""

import argparse
import json
import platform
import statistics
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from .s2cpp_peer import TEXT, Spoken, speak, timed

ROWS = {"loading": "loading", "prompt": "prompt", "frames": "frames and codec"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("s2cpp", type=Path, metavar="PATH", help="s2.cpp's command")
    options.add_argument("--layers", type=int, default=2, help="of the Slow-AR (the real one has 36)")
    options.add_argument("--type", default="q8_0", help="of the matrices, as `s2mlx bench --type` takes it")
    options.add_argument("--frames", type=int, default=32)
    options.add_argument("--rounds", type=int, default=3, help="turns that each command gets")
    args = options.parse_args()
    from s2mlx.bench import synthetic
    from s2mlx.weights.cores import physical_cores

    threads = physical_cores()
    with tempfile.TemporaryDirectory(prefix="s2mlx-compare-") as folder:
        model = synthetic.write_model(folder, synthetic.full(args.layers, args.type))
        turns = []
        for turn in range(args.rounds + 1):
            both = speak(args.s2cpp.resolve(), model, threads, args.frames), ours(model, args.frames)
            told = "; ".join(f"{name} {s.wall:.1f} s, {s.cpu:.1f} of CPU" for name, s in zip(("s2.cpp", "s2mlx"), both))
            print(f"turn {turn}: {told}", file=sys.stderr)
            turns += [both] if turn else []
    print(table(turns, args.frames))
    print(f"\n{args.layers} + 4 layers, {args.type}; MLX {version('mlx')} on {platform.machine()}, {threads} cores.")


def ours(model: Path, frames: int) -> Spoken:
    """So many frames by our command, in a process of its own. Ends the program if it fails."""
    wav = model.with_name("ours.wav")
    command = [sys.executable, "-m", "s2mlx", "say", TEXT, "-m", model, "-o", wav, "--json", "--quiet"]
    wall, cpu, done = timed([*command, "--min-frames", frames, "--max-frames", frames, "--seed", 1])
    if done.returncode:
        sys.exit(f"s2mlx: exit code {done.returncode}: {done.stderr.strip()}")
    told = json.loads(done.stdout)
    if told["frames"] != frames:
        sys.exit(f"s2mlx: {told['frames']} frames where {frames} were asked for")
    prompt = told["prefill_seconds"]
    return Spoken(
        wall, cpu, {"loading": told["load_seconds"], "prompt": prompt, "frames": told["wall_seconds"] - prompt}
    )


def table(turns: list[tuple[Spoken, Spoken]], frames: int) -> str:
    """The two, s2.cpp first: each figure the median of its turns (lowest to highest), and ours over its."""
    lines = [f"| seconds for {frames} frames | s2.cpp | s2mlx | ratio |", "|---|--:|--:|--:|"]

    def row(title: str, figure) -> None:
        sides = [[figure(turn[side]) for turn in turns] for side in (0, 1)]
        if all(None not in side for side in sides):
            cells = [f"{statistics.median(s):.2f} ({min(s):.2f} to {max(s):.2f})" for s in sides]
            ratio = statistics.median(sides[1]) / statistics.median(sides[0])
            lines.append(f"| {title} | {cells[0]} | {cells[1]} | {ratio:.2f} |")

    row("wall time", lambda spoken: spoken.wall)
    row("CPU time", lambda spoken: spoken.cpu)
    for part, title in ROWS.items():
        row(title, lambda spoken: _part(spoken, part))
    return "\n".join(lines)


def _part(spoken: Spoken, name: str) -> float | None:
    """Ours decodes as it goes, so that the codec belongs to the frames; s2.cpp tells of both."""
    parts = spoken.parts
    return parts[name] + (parts.get("codec", 0.0) if name == "frames" else 0.0) if name in parts else None


if __name__ == "__main__":
    main()
