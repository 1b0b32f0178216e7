"""Figures of a tiny model: all there, consistent, printed; synthetic models of every type; bounds of chips."""

import json
from pathlib import Path

import numpy as np
import pytest

import s2mlx
from s2mlx import bench
from s2mlx.bench import (
    buffers,
    converting,
    first_audio,
    inventory,
    machine,
    matrices,
    measure,
    pretend,
    report,
    synthetic,
    traffic,
)
from s2mlx.cli.main import main
from s2mlx.config import ModelConfig
from s2mlx.networks.load import load_model
from s2mlx.request.pass_source import LINE_PAUSE
from s2mlx.weights import KNOWN, compiled, describe, open_checkpoint
from s2mlx.weights.facts import kv_cache_bytes
from s2mlx.weights.gguf_file import GGUFFile
from tests import goldens


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return synthetic.write_model(tmp_path_factory.mktemp("tiny"), synthetic.tiny())


@pytest.fixture(scope="module")
def figures(tiny):
    return bench.run(tiny, frames=2, positions=8, batches=(2,))


def test_all_figures_are_there_and_plain(figures):
    again = json.loads(json.dumps(figures))
    for name in ("prefill_position", "frame"):
        times = again[name]
        assert 0 < times["low"] <= times["median"] <= times["high"]
    assert set(again["parts"]) == {"slow", "fast", "sampler"} and set(again["batches"]) == {"2"}
    assert again["rtf"] > 0 and again["bandwidth"] > 0
    assert again["way"]["path"] and again["way"]["forms"]["slow"]
    assert again["graph"]["plain"]["nodes"] > again["graph"]["kernels"]["nodes"] > 0
    memory = again["first_audio"]["memory"]
    assert memory["process_peak"] > memory["load_peak"] >= memory["weights"] > 0 and again["memory"]["peak"] > 0


def test_the_loop_waits_once_a_frame(figures):
    assert figures["graph"]["synchronisations"] == 1


@pytest.mark.parametrize("when", ["cold", "kept", "warm"])
def test_parts_of_the_first_audio_add_up(figures, when):
    parts = dict(figures["first_audio"][when])
    total = parts.pop("total")
    assert all(seconds > -1e-3 for seconds in parts.values())
    assert sum(parts.values()) <= total + 1e-3
    assert {"prompt", "disk", "prefill", "first frame", "codec"} <= set(parts)
    assert (parts["disk"] > 0) == (when != "warm")  # looked for, and found in the second process


def test_a_pipe_is_heard_after_the_writer_rested(figures):
    assert figures["first_audio"]["piped"] > LINE_PAUSE


def test_the_report_names_what_was_measured(figures):
    text = report.text(figures)
    for word in (
        "first audio, piped",
        "prefill",
        "Slow-AR",
        "Fast-AR",
        "sampler",
        "codec",
        "real-time factor",
        "memory bandwidth",
        "first audio, cold",
        "first audio, warm",
        "batch of 2",
        "launches",
        "synchronisations",
        "peak",
    ):
        assert word in text
    assert "qmv" in report.nodes(figures)


def test_the_way_is_the_one_that_is_taken(tiny, monkeypatch):
    """Where llvmlite is there, matrices may be too small for it; every word that switches kernels off does."""
    model = load_model(tiny)
    monkeypatch.setattr(measure, "compiled_kinds", lambda root: set())
    assert measure.way(model)["path"].startswith("plain MLX: ")
    monkeypatch.setattr(measure, "compiled_kinds", lambda root: {8})
    assert measure.way(model)["path"].startswith("machine code for blocks: ")
    monkeypatch.setenv("S2MLX_KERNELS", "no")
    assert measure.way(model)["path"] == "plain MLX: S2MLX_KERNELS is off"


def test_a_minute_of_a_stream_is_shown_once(figures):
    mark = {"speech": 60.0, "active": 1, "process": 2, "took": 30.0}
    shown = lambda marks: [
        line.split("  ")[0] for line in report.text(figures | {"stream": marks}).splitlines() if "min of speech" in line
    ]
    assert shown([mark]) == ["1 min of speech"]
    assert shown([mark, mark | {"speech": 120.0}, mark | {"speech": 180.0}]) == ["1 min of speech", "3 min of speech"]


def test_reads_are_the_bytes_of_the_matrices(tiny, monkeypatch):
    monkeypatch.setattr(compiled, "available", lambda: False)
    model = load_model(tiny).dual_ar
    c, reads = model.config, matrices.frame_reads(model)

    def block(t):
        return t.dim * (t.heads + 2 * t.kv_heads) * t.head_dim + t.heads * t.head_dim * t.dim + 3 * t.dim * t.ffn_dim

    # dense on the CPU: float32
    assert reads["slow"] == 4 * c.slow.layers * block(c.slow)
    assert reads["head"] == 4 * (c.codebook_size + 1) * c.slow.dim
    assert reads["fast"] == 4 * 9 * (c.fast.layers * block(c.fast) + c.codebook_size * c.fast.dim)


@pytest.mark.parametrize("kind", ["f16", "q8_0", "q6_k", "q4_k_m", "q2_k"])
def test_synthetic_models_speak(tmp_path, kind):
    path = synthetic.write_model(tmp_path, synthetic.tiny(kind))
    with s2mlx.load(path) as tts:
        audio = tts.say("Hello.", seed=1, min_frames=3, max_frames=3)
    assert audio.codes.shape == (10, 3) and len(audio.samples) == 3 * 2048
    assert 1e-3 < audio.samples.std() < 1 and np.isfinite(audio.samples).all()


def test_synthetic_models_have_the_keys_of_published_files(tiny):
    """Every key, and of the same kind: other engines ask for some that this one does without."""
    made, published = GGUFFile(tiny).raw_keys, GGUFFile(goldens.path("tiny-q8_0.gguf")).raw_keys
    of_authors = {key for key in published if key.startswith("general.")} - set(made)
    assert set(published) - of_authors == set(made) and "general.architecture" in made
    assert {key: raw[:4] for key, raw in made.items()} == {key: published[key][:4] for key in made}
    values = GGUFFile(tiny).metadata
    assert values["fish_speech.codec.hop_length"] == 512 and values["fish_speech.codec.transformer.block_size"] == 8192
    assert values["general.file_type"] == 7 and values["general.quantization_version"] == 2


def test_the_full_shape_is_s2_pro_but_for_its_layers():
    count = {part.name: part.size for part in inventory.networks(synthetic.full(layers=36).config)}
    body = sum(n for name, n in count.items() if name.startswith("layers."))
    fast = sum(n for name, n in count.items() if name.startswith(("fast_layers.", "fast_output")))
    assert body == pytest.approx(3.63e9, rel=2e-3) and fast == pytest.approx(0.414e9, rel=2e-3)
    assert synthetic.full().config.codec == ModelConfig().codec


def test_what_converting_takes_is_worked_out_from_a_little_of_it(monkeypatch, capsys):
    """Here with a clock of its own: each type at the pace that was found for it, over as many weights as S2 Pro has."""
    paces = {"F16": (1e-9, 2e-9), "Q8_0": (1e-8, 2e-8)}
    monkeypatch.setattr(converting, "_pace", lambda kind: paces.get(kind.name, (1e-7, 2e-7)))
    assert main(["bench", "--convert", "--json"]) == 0
    rows = {row["type"]: row for row in json.loads(capsys.readouterr().out)}
    weights = sum(part.size for part in inventory.tensors(ModelConfig()))
    matrices = sum(part.size for part in inventory.tensors(ModelConfig()) if part.matrix)
    assert rows["f16"]["seconds"] == pytest.approx(weights * 1e-9)
    assert rows["q8_0"]["seconds"] == pytest.approx(matrices * 1e-8 + (weights - matrices) * 1e-9)
    assert all(row["core_seconds"] == pytest.approx(2 * row["seconds"]) and row["cores"] >= 1 for row in rows.values())
    assert main(["bench", "--convert"]) == 0
    assert f"| q8_0 | 5.6 GB | 0 min {rows['q8_0']['seconds']:02.0f} s |" in capsys.readouterr().out
    assert main(["bench", "--convert", "--frames", "3"]) == 2


def test_the_pace_of_a_type_is_measured(monkeypatch):
    monkeypatch.setattr(converting, "_LEAST", 0.01)
    taken, worked = converting._pace(converting.T.Q8_0)
    assert worked > 0 and taken > 0


def test_bounds_follow_from_the_bytes():
    pro = ModelConfig()
    # 3.63 G + 0.0105 G + 9 x 0.414 G weights of 8.5 bits, and 500 positions of keys and values in float16
    assert machine.frame_bytes(pro, "q8_0") == pytest.approx(7.37e9 * 8.5 / 8 + 500 * 147456, rel=2e-3)
    assert machine.frame_bytes(pro, "q2_k") < machine.frame_bytes(pro, "q4_k_m") < machine.frame_bytes(pro, "q6_k")
    best = machine.bound(pro, int(1e9), 100e9)
    assert best.frames_per_second == pytest.approx(100) and best.rtf == pytest.approx(44100 / 2048 / 100)


def test_the_command(monkeypatch, capsys, figures, tiny):
    asked = {}
    monkeypatch.setattr(bench, "run", lambda path, **settings: asked.update(settings, path=path) or figures)
    assert main(["bench", str(tiny), "--frames", "3", "--batch", "1,4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == figures["name"]
    assert (asked["path"], asked["frames"], asked["batches"]) == (tiny, 3, (1, 4))
    monkeypatch.setenv("S2MLX_MODEL", "no-such-model.gguf")  # what a profile sets does not forbid a synthetic one
    assert main(["bench", "--synthetic", "tiny", "--nodes"]) == 0
    assert asked["path"] != tiny and not asked["path"].exists()
    assert "graph nodes" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [
        ["--frames", "0"],
        ["--synthetic", "tiny", "x.gguf"],
        ["--batch", "0"],
        ["--batch", "a"],
        ["--synthetic", "tiny", "--type", "q9"],
        ["a.gguf", "-m", "b.gguf"],
    ],
)
def test_wrong_usage(capsys, wrong):
    assert main(["bench", *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "numbers", [["--prompt", "99999999"], ["--frames", "99999999"], ["--prompt", "1000", "--frames", "23"]]
)
def test_a_prompt_beyond_the_context_is_refused_before_anything_heavy(monkeypatch, capsys, tiny, numbers):
    def heavy(*_, **__):
        raise AssertionError

    monkeypatch.setattr(first_audio, "measure", heavy)
    monkeypatch.setattr(synthetic, "write_model", heavy)
    for which in ([str(tiny)], ["--synthetic", "tiny"]):
        assert main(["bench", *which, *numbers]) == 2
        assert "has 1024" in capsys.readouterr().err


def test_the_whole_context_can_be_measured(tiny):
    from s2mlx.bench.measure import check_room

    check_room(synthetic.tiny().config, 1000, 22)


def test_chips(capsys):
    assert main(["bench", "--chips"]) == 0
    assert "| M1 Pro | 200 |" in capsys.readouterr().out


def test_files_need_what_info_says_of_them(tmp_path):
    """A small model's, made and looked at as `s2mlx info` does, with the kernels' way of keeping weights."""
    shape = synthetic.tiny("q8_0")
    path = synthetic.write_model(tmp_path, shape)
    with pretend.gpu(kernels=True), open_checkpoint(path) as checkpoint:
        facts = describe(checkpoint)
    assert machine.file_bytes(shape.config, "q8_0") == facts["bytes"]
    assert facts["memory"]["needed"] == facts["bytes"] + kv_cache_bytes(shape.config)


def test_files(capsys):
    assert main(["bench", "--files"]) == 0
    table = capsys.readouterr().out
    assert main(["bench", "--files", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert len(table.splitlines()) == 2 + len(rows) and set(rows) < set(KNOWN)
    assert f"| `s2-pro-q8_0` | {rows['s2-pro-q8_0']['bytes'] / 1e9:.1f} GB" in table
    needed = [row["memory"] for row in rows.values()]
    assert needed == sorted(needed, reverse=True)
    assert all(2 * row["memory"] <= row["mac"] << 30 for row in rows.values())
    assert main(["bench", "--files", "--chips"]) == 2


def test_the_readmes_have_the_tables_that_are_worked_out():
    root = Path(__file__).parents[2]
    assert machine.chips_table() in (root / "s2mlx" / "bench" / "README.md").read_text(encoding="utf-8")
    assert traffic.table() in (root / "s2mlx" / "bench" / "README.md").read_text(encoding="utf-8")
    assert machine.files_table() in (root / "README.md").read_text(encoding="utf-8")


def test_buffers(capsys):
    assert main(["bench", "--buffers"]) == 0
    table = capsys.readouterr().out
    assert main(["bench", "--buffers", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(table.splitlines()) == 2 + len(rows)
    few, many = rows[-1]["buffers"], rows[0]["buffers"]
    assert all(few[f] < many[f] for f in few)


def test_frames_with_few_and_many_command_buffers(tmp_path):
    """Each in a process that is told the limits."""
    found = buffers.measure(synthetic.write_model(tmp_path, synthetic.tiny("q8_0")), frames=1, positions=4)
    assert [tuple(one["limits"]) for one in found.values()] == [*buffers.LIMITS.values()]
    assert all(one["frame"]["median"] > 0 and one["prompt_peak"] > 0 for one in found.values())
