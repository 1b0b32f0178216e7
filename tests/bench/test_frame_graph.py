"""A full-size frame (36 Slow-AR layers, 9 x 4 Fast-AR layers, tiny widths) never needs a larger graph than it did.

frame_graph.json keeps the counts of each step of the work; whoever makes the frame leaner adds a line.
compare_graphs.py counts a peer's frame in the same way: 3,101 nodes that do work, and more that are views."""

import dataclasses
import json
from pathlib import Path

import pytest

from s2mlx.bench import graph, pretend, synthetic, traffic
from s2mlx.config import ModelConfig
from s2mlx.layers.scope import Scope
from s2mlx.networks.dual_ar import DualAR
from s2mlx.weights import open_checkpoint

HISTORY = json.loads(Path(__file__).with_name("frame_graph.json").read_text())
MOST_NODES_WITH_KERNELS = 700
MOST_WORK_WITHOUT = 1400
MOST_LAUNCHES_WITH_KERNELS = 420
MOST_COMMAND_BUFFERS = 20


@pytest.fixture(scope="module")
def skeleton(tmp_path_factory):
    config = dataclasses.replace(ModelConfig(), codec=None)
    return synthetic.write_model(tmp_path_factory.mktemp("skeleton"), synthetic.skeleton(config))


@pytest.mark.parametrize("path", ["plain", "kernels"])
def test_the_frame_stays_lean(skeleton, path):
    with pretend.gpu(kernels=path == "kernels") as made, open_checkpoint(skeleton) as checkpoint:
        found = graph.frame(DualAR(Scope(checkpoint.tensors), checkpoint.config, end_id=256), names=made)
    last = HISTORY[-1][path]
    for what in ("nodes", "work", "launches"):
        assert getattr(found, what) <= last[what], f"{what} grew:\n{found.table()}"
    assert found.nodes <= MOST_NODES_WITH_KERNELS if path == "kernels" else found.work <= MOST_WORK_WITHOUT


def test_what_else_a_frame_moves_stays_small():
    last, config = HISTORY[-1], ModelConfig()
    assert (
        traffic.vector_bytes(config) <= last["kernels"]["vector_bytes"] < 0.1 * last["kernels"]["vector_bytes_before"]
    )
    for limits, wanted in (
        (traffic.OURS, "command_buffers"),
        (traffic.MLX_LIMITS["M1 to M5, Pro"], "command_buffers_before"),
    ):
        found = {f: traffic.command_buffers(traffic.launches(config, f), *limits) for f in last[wanted]}
        assert found == last[wanted]
    assert max(last["command_buffers"].values()) <= MOST_COMMAND_BUFFERS
    assert last["kernels"]["launches"] <= MOST_LAUNCHES_WITH_KERNELS
