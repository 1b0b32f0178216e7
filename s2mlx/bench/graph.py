"""Counts what a frame is made of: graph nodes and kernel launches. Knows MLX's graphs; runs nothing.

    graph = count([y])                              # the unevaluated graph behind some arrays
    graph = frame(dual_ar)                          # of one generated frame, as it is on this machine
    with pretend.gpu(kernels=True) as made:         # ... as it would be on a GPU, with our kernels
        graph = frame(open_networks(path).dual_ar, names=made)
    graph.nodes, graph.launches, graph.table()

Or from a shell: `s2mlx bench --nodes`.
"""

from __future__ import annotations

import io
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import mlx.core as mx
import numpy as np

from ..networks.dual_ar import DualAR
from ..networks.sampler import uniforms
from ..options import Sampling

# Nodes that only look at their input's memory in another way: no launch on a GPU.
_VIEWS = frozenset(
    [
        "Broadcast",
        "BroadcastAxes",
        "Reshape",
        "Transpose",
        "Squeeze",
        "ExpandDims",
        "Slice",
        "Split",
        "AsStrided",
        "Flatten",
        "Unflatten",
        "View",
        "StopGradient",
        "Depends",
        "NumberOfElements",
    ]
)
_NODE = re.compile(r'^\{ (\d+) \[label ="([^"]+)"')
_OUTPUT = re.compile(r'^(\d+) -> "([^"#]+)#\d+"$')
_INPUT = re.compile(r'^"[^"]+" -> (\d+)$')
_PROMPT = 32  # positions before the counted frame: the KV cache has room, as in nearly every frame


@dataclass(frozen=True)
class Graph:
    """kinds: nodes by primitive or kernel. launches: work for a GPU; views take none, a concatenation one per input, a
    write into a slice two, since what a running kernel still reads is copied before."""

    kinds: Counter[str]
    launches: int

    @property
    def nodes(self) -> int:
        return self.kinds.total()

    @property
    def work(self) -> int:
        """Nodes that are no views."""
        return sum(n for kind, n in self.kinds.items() if not _is_view(kind))

    def table(self, top: int = 15) -> str:
        """The most frequent kinds, one a line."""
        lines = [f"{n:6}  {kind}{'  (view)' if _is_view(kind) else ''}" for kind, n in self.kinds.most_common(top)]
        rest = self.nodes - sum(n for _, n in self.kinds.most_common(top))
        return "\n".join([*lines, *([f"{rest:6}  others"] if rest else [])])


def count(outputs: list[mx.array], names: Mapping[str, mx.array] | None = None) -> Graph:
    """The nodes behind `outputs` that are not evaluated yet.

    names: arrays called `kind#number`; a node that made one counts as that kind (see `pretend.gpu`)."""
    labels, inputs, _ = _read(outputs, {})
    for named in _batches(names or {}):
        made = _read([], named)[2]
        labels |= {node: kind for node, kind in made.items() if node in labels}
    launches = sum(_launches(kind, inputs[node]) for node, kind in labels.items())
    return Graph(Counter(labels.values()), launches)


def _launches(kind: str, inputs: int) -> int:
    if kind == "Concatenate":
        return inputs
    return 2 if kind == "SliceUpdate" else not _is_view(kind)


def _is_view(kind: str) -> bool:
    return kind.split()[0] in _VIEWS  # "View float32": some kinds carry a type


def _read(
    outputs: list[mx.array], names: Mapping[str, mx.array]
) -> tuple[dict[str, str], Counter[str], dict[str, str]]:
    """Of the graph behind arrays: labels of the nodes, their numbers of inputs, labels of those that made `names`."""
    text = io.StringIO()
    mx.export_to_dot(text, *outputs, **names)
    labels: dict[str, str] = {}
    made: dict[str, str] = {}
    latest: dict[str, str] = {}
    inputs: Counter[str] = Counter()
    for line in text.getvalue().splitlines():
        if found := _NODE.match(line):
            # MLX names a node by its primitive, and the calls of a compiled function share theirs: the n-th is `id#n`
            node = latest[found[1]] = f"{found[1]}#{len(labels)}" if found[1] in latest else found[1]
            labels[node] = found[2]
        elif found := _OUTPUT.match(line):
            made[latest[found[1]]] = found[2]
        elif found := _INPUT.match(line):
            inputs[latest[found[1]]] += 1
    return labels, inputs, made


def _batches(names: Mapping[str, mx.array]) -> Iterator[dict[str, mx.array]]:
    """As many at a time as MLX takes keyword arguments."""
    items = iter(names.items())
    while part := dict(islice(items, 1000)):
        yield part


def frame(
    model: DualAR, *, batch: int = 1, sampling: Sampling | None = None, names: dict[str, mx.array] | None = None
) -> Graph:
    """The graph from one frame to the next. names: see `count`; emptied first, so that it holds this frame's."""
    build = frame_builder(model, batch=batch, sampling=sampling)
    if names is not None:
        names.clear()
    state, cache = build()
    return count([*state.arrays, *cache_arrays(cache)], names)


def host_seconds(model: DualAR, *, batch: int = 1, sampling: Sampling | None = None, repeat: int = 20) -> list[float]:
    """CPU seconds that Python and MLX take to build one frame's graph, one per try; nothing of it is run."""
    build, taken = frame_builder(model, batch=batch, sampling=sampling), []
    for _ in range(repeat + 2):
        began = time.thread_time()
        build()
        taken.append(time.thread_time() - began)
    return taken[2:]


def frame_builder(model: DualAR, *, batch: int = 1, sampling: Sampling | None = None):
    """-> build(): the next frame after a short prompt, unevaluated, always the same: (State, cache)."""
    from ..layers.cache import BatchCache
    from ..networks.dual_ar import State

    codebooks = model.config.num_codebooks
    pick = model.picker(sampling or Sampling())
    draws = [next(uniforms(seed, codebooks + 1)) for seed in range(batch)]
    matrix = np.zeros((1 + codebooks, _PROMPT), np.int32)
    caches, states = [], []
    mx.disable_compile()  # compiled pieces count as one node when built, but cannot be run without a compiler
    try:
        for draw in draws:
            caches.append(model.new_cache())
            outputs = model.prefill(matrix, caches[-1])
            assert outputs is not None  # nobody cancels
            states.append(model.first(outputs, pick, mx.array(draw[None]), [True]))
        state, rows = State.join(states) if batch > 1 else states[0], mx.array(np.stack(draws))
        mx.eval(state.arrays, rows, [c.arrays for c in caches])
    finally:
        mx.enable_compile()

    def build():
        forks = [c.fork() for c in caches]
        cache = forks[0] if batch == 1 else BatchCache(forks)
        return model.next(state, cache, pick, rows, [True] * batch), cache

    return build


def cache_arrays(cache) -> list[mx.array]:
    """Keys and values of one sequence's cache, or of several ones'."""
    return [a for row in getattr(cache, "rows", [cache]) for a in row.arrays]
