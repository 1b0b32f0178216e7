"""The dictionary of `measure.measure` as lines for people."""

from __future__ import annotations

from collections.abc import Iterator


def text(f: dict) -> str:
    """All figures, one a line, with units; see "Speed" in the README for what they mean."""
    return "\n".join(f"{name:<22}{value}".rstrip() for name, value in _lines(f))


def nodes(f: dict, top: int = 15) -> str:
    """The most frequent kinds of graph nodes, a column for each path that was counted."""
    lines = [f"graph nodes of {f['graph']['of']}"]
    for path in ("plain", "kernels"):
        if found := f["graph"].get(path):
            kinds = list(found["kinds"].items())
            lines.append(f"{path}: {_size(found)}")
            lines += [f"{n:>7}  {kind}" for kind, n in kinds[:top]]
            if rest := sum(n for _, n in kinds[top:]):
                lines.append(f"{rest:>7}  of {len(kinds) - top} other kinds")
    return "\n".join(lines)


def _size(found: dict) -> str:
    return f"{found['nodes']} nodes, {found['work']} of them work, about {found['launches']} launches"


def _lines(f: dict) -> Iterator[tuple[str, str]]:
    way, reads, frame = f["way"], f["reads"], f["frame"]
    yield "model", f"{f['name']}, {f['layers']} layers ({f['path']})"
    yield "way", f"{way['device_name']}, {way['path']}, MLX {way['mlx']}"
    yield (
        "matrices",
        "; ".join(
            f"{net}: " + ", ".join(f"{n} {form}" for form, n in forms.items()) for net, forms in way["forms"].items()
        ),
    )
    yield "memory bandwidth", f"{f['bandwidth'] / 1e9:.1f} GB/s, measured"
    yield "", ""
    yield "prefill", f"{_ms(f['prefill_position'])} a position, of {f['positions']}"
    yield "frame", f"{_ms(frame)}: {1 / frame['median']:.1f} frames/s of {1 / f['frame_audio']:.1f} that speech has"
    for name, what in (("slow", "Slow-AR"), ("fast", "head and Fast-AR"), ("sampler", "sampler")):
        yield f"  {what}", _ms(f["parts"][name])
    for size, times in f["codec"].items():
        yield "codec" if size == "1" else "", f"{_ms(times)} a frame, {size} at a time"
    for tried in f.get("buffers", {}).values():
        operations, megabytes = tried["limits"]
        yield (
            "command buffers",
            (
                f"of {operations} operations or {megabytes} MB: {_ms(tried['frame'])} a frame, "
                f"{_mb(tried['prompt_peak'])} at most while the prompt is read"
            ),
        )
    yield "real-time factor", f"{f['rtf']:.2f}" + (" (below 1 is faster than real time)" if f["rtf"] >= 1 else "")
    yield "", ""
    yield (
        "read per frame",
        (
            f"{_mb(reads['total'])}: Slow-AR {_mb(reads['slow'])}, head {_mb(reads['head'])}, Fast-AR "
            f"{_mb(reads['fast'])}, keys and values {_mb(reads['kv'])}"
        ),
    )
    share = reads["bound"] / frame["median"]
    yield "memory bound", f"{reads['bound'] * 1e3:.2f} ms a frame: {100 * share:.0f} % of the time taken"
    if more := f.get("extrapolated"):
        yield (
            f"at {more['layers']} layers",
            (
                f"{more['frame'] * 1e3:.0f} ms a frame, "
                f"real-time factor {more['rtf']:.2f}, memory bound "
                f"{more['bound'] * 1e3:.0f} ms ({_mb(more['reads'])})"
            ),
        )
        yield "", "assuming that each layer takes what each of these takes, and all else as measured"
    for size, times in f.get("batches", {}).items():
        one = times["median"] / int(size)
        yield f"batch of {size}", f"{_ms(times)} a step, {one * 1e3:.2f} ms a frame, {1 / one:.1f} frames/s"
    yield "", ""
    g = f["graph"]
    for path in ("plain", "kernels"):
        if found := g.get(path):
            yield f"graph, {path}", f"{_size(found)}, {_ms(found['host'])} of host time to build"
    yield "", f"({g['of']}); {g['synchronisations']:.1f} synchronisations a frame"
    yield "", ""
    for name in ("cold", "kept", "warm"):
        parts = dict(f["first_audio"][name])
        total = parts.pop("total")
        yield f"first audio, {name}", f"{total:.2f} s: " + ", ".join(f"{part} {s:.2f}" for part, s in parts.items())
    yield "first audio, piped", f"{f['first_audio']['piped']:.2f} s after the end of the first sentence was written"
    yield from _stream(f["stream"]) if "stream" in f else ()
    memory, loading = f["memory"], f["first_audio"]["memory"]
    yield (
        "memory",
        (
            f"weights {_mb(loading['weights'])}, peak {_mb(loading['load_peak'])} while loading, "
            f"{_mb(memory['peak'])} while running, {_mb(loading['process_peak'])} of a whole process"
        ),
    )


def _stream(marks: list[dict]) -> Iterator[tuple[str, str]]:
    """The first minute and the last, which may be the same."""
    for mark in (marks[0], *marks[1:][-1:]):
        yield (
            f"{mark['speech'] / 60:.0f} min of speech",
            (
                f"{_mb(mark['active'])} held, {_mb(mark['process'])} at most in the process, "
                f"real-time factor {mark['took'] / mark['speech']:.2f}"
            ),
        )


def _ms(times: dict) -> str:
    return f"{times['median'] * 1e3:.2f} ms ({times['low'] * 1e3:.2f} to {times['high'] * 1e3:.2f})"


def _mb(n: float) -> str:
    return f"{n / 1e9:.2f} GB" if n >= 1e9 else f"{n / 1e6:.1f} MB"
