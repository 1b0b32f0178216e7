"""A frame with kernels and without: measured for real where no Metal is, judged by its figures where there is."""

import shutil

from s2mlx import device
from s2mlx.bench import process, synthetic
from s2mlx.doctor import one_frame
from s2mlx.doctor.checks import frame
from s2mlx.doctor.finding import BAD, GOOD, NOTE


def way(frame=0.010, logits=(1.0, -2.0, 3.0)):
    return {
        "frame": frame,
        "low": frame,
        "high": frame,
        "layers": 2,
        "fast_layers": 4,
        "loading": 1.0,
        "logits": list(logits),
        "peak": 1,
    }


def judged(kernels, small, plain):
    return list(frame.compared({"kernels": kernels, "kernels, small buffers": small, "plain": plain}))


def test_kernels_that_are_well():
    lines = judged(way(0.010), way(0.011), way(0.020))
    assert [line.state for line in lines] == [GOOD] * 6
    assert "2.00 x" in lines[4].text and "1.10 x" in lines[5].text
    assert "logits" not in lines[0].figures


def test_kernels_that_say_something_else():
    assert BAD in [line.state for line in judged(way(logits=(1.0, -2.0, 3.2)), way(), way())]
    assert BAD in [line.state for line in judged(way(logits=(1.0, float("nan"), 3.0)), way(), way())]


def test_what_is_slower_than_we_think_is_noted():
    *_, gain, buffers = judged(way(0.020), way(0.010), way(0.010))
    assert gain.state == NOTE and "S2MLX_KERNELS=off" in gain.todo
    assert buffers.state == NOTE and "MLX_MAX_OPS_PER_BUFFER=50" in buffers.todo


def test_each_way_has_a_process_of_its_own(monkeypatch, tmp_path):
    asked = []

    def run(module, job, variables):
        asked.append((module, variables))
        yield way()

    monkeypatch.setattr(device, "kernels_available", lambda: True)
    monkeypatch.setattr(synthetic, "write_model", lambda folder, shape: tmp_path / "model.gguf")
    monkeypatch.setattr(process, "run", run)
    assert list(frame.run())
    assert [module for module, _ in asked] == [one_frame.__name__] * 3
    ours, small, plain = (variables for _, variables in asked)
    assert "S2MLX_KERNELS" not in ours and plain["S2MLX_KERNELS"] == "off"
    assert int(ours["MLX_MAX_OPS_PER_BUFFER"]) > int(small["MLX_MAX_OPS_PER_BUFFER"])


def test_a_full_disk_leaves_it_out(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(1 << 40, 1 << 40, 1 << 20))
    [line] = frame.run()
    assert line.state == NOTE and "TMPDIR" in line.todo


def test_the_process_that_measures(tmp_path):
    """On a tiny model, and with a variable that reaches it."""
    path = synthetic.write_model(tmp_path, synthetic.tiny())
    [found] = process.run(one_frame.__name__, {"path": str(path), "frames": 2}, {"S2MLX_KERNELS": "off"})
    assert found["frame"] > 0 and found["layers"] == 2 and len(found["logits"]) == 9 and found["peak"] > 0


def test_its_model_has_the_widths_of_s2_pro():
    config = frame.shape().config
    assert config.slow.dim == 2560 and config.slow.layers == frame.LAYERS and config.fast.layers == 4
    assert config.semantic_end - config.semantic_begin + 1 == 4096 and config.vocab_size > config.semantic_end
