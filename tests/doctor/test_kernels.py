"""The doctor's cases with the kernels run on the CPU: right ones are found right, wrong ones wrong."""

import os
import time
from importlib import resources
from unittest import mock

import mlx.core as mx
import pytest

from s2mlx import device
from s2mlx.doctor import cases
from s2mlx.doctor.checks import formats, kernels, pace
from s2mlx.doctor.finding import BAD, GOOD, NOTE
from s2mlx.doctor.side_by_side import compare
from s2mlx.kernels import metal

from ..metal import msl

LATER = 1e9


@pytest.fixture
def on_a_mac(monkeypatch):
    """Kernels are available, and run by the shim; what was found right or wrong before is forgotten."""
    if msl.compiler() is None:
        pytest.skip("no C++ compiler with address and undefined-behaviour sanitizers")
    monkeypatch.setattr(device, "kernels_available", lambda: os.environ.get("S2MLX_KERNELS") != "off")
    monkeypatch.setattr(metal, "launch", msl.launch)
    monkeypatch.setattr(metal, "_verdicts", {})
    monkeypatch.delenv("S2MLX_KERNELS", raising=False)


def spoilt(kernel, **request):
    """Every result a twentieth too large."""
    return [out * 1.05 if mx.issubdtype(out.dtype, mx.floating) else out + 1 for out in msl.launch(kernel, **request)]


SOME = {
    "products": lambda: next(cases.products(8, 2)),
    "opening": lambda: next(cases.opened(12)),
    "convolutions": lambda: next(cases.convolutions())[1],
}


@pytest.mark.parametrize("name", SOME)
def test_a_right_kernel_is_right_and_a_wrong_one_wrong(name, on_a_mac, monkeypatch):
    work = SOME[name]()
    found = compare(work)
    assert found.right and found.launched and not found.fault, found
    monkeypatch.setattr(metal, "_verdicts", {})
    monkeypatch.setattr(metal, "launch", spoilt)
    found = compare(work)
    assert not found.right and "computes something else" in found.fault
    again = compare(work)  # told once a process; it is wrong all the same
    assert not again.right and not again.warnings and "left aside" in again.fault


def test_one_that_its_self_check_lets_through_is_measured(on_a_mac, monkeypatch):
    monkeypatch.setattr(metal, "trusted", lambda *_, **__: device.kernels_available())
    monkeypatch.setattr(metal, "launch", spoilt)
    found = compare(next(cases.products(8, 1)))
    assert found.error == pytest.approx(0.05, rel=0.1) and "off by" in found.fault


def test_one_that_does_not_build_is_named(on_a_mac, monkeypatch):
    def refused(kernel, **request):
        raise RuntimeError("[metal::Device] Unable to build metal library from source\nprogram_source:1: error")

    monkeypatch.setattr(metal, "trusted", lambda *_, **__: device.kernels_available())
    monkeypatch.setattr(metal, "launch", refused)
    line = kernels.family("Q8_0", [("1 row", next(cases.products(8, 1)))], time.perf_counter() + LATER)
    assert line.state == BAD and "Unable to build metal library" in line.text and line.todo


def test_a_case_is_the_same_each_time():
    """Else a kernel would be called wrong. (That steps and frames are right by the shim is `tests/metal`'s.)"""
    for what, work in (each for _, family in cases.FAMILIES for each in family()):
        found = compare(work)
        assert found.error == 0 and not found.launched and found.fault, what


def test_cases_that_never_launch_a_kernel_would_be_noticed(on_a_mac):
    assert compare(lambda: [mx.ones(3)]).fault == "no kernel ran"


def test_a_family_is_one_line_and_what_was_not_tried_is_told(on_a_mac, monkeypatch):
    some = [("1 row", next(cases.products(8, 1)))]
    line = kernels.family("Q8_0", some, time.perf_counter() + LATER)
    assert line.state == GOOD and line.figures["tried"] == 1 and line.figures["worst"] < 1e-3
    late = kernels.family("Q8_0", some, time.perf_counter() - 1)
    assert late.state == NOTE and "1 were not tried" in late.text


def test_every_kernel_is_in_some_case(monkeypatch):
    """With kernels that only note that they were asked for."""
    asked = set()
    real = metal.load

    def load(file):
        asked.add(file)
        return real(file)

    def launch(kernel, *, output_shapes, output_dtypes, **request):
        return [mx.zeros(shape, dtype) for shape, dtype in zip(output_shapes, output_dtypes)]

    monkeypatch.setattr(device, "kernels_available", lambda: True)
    monkeypatch.setattr(metal, "trusted", lambda *_, **__: True)
    monkeypatch.setattr(metal, "launch", launch)
    monkeypatch.setattr(metal, "load", load)
    works = [*cases.products(8, 1), *cases.opened(8)] + [w for _, family in cases.FAMILIES for _, w in family()]
    for work in works:
        work()
    own = {"heads.metal", "blocks.metal"}  # included by others
    texts = [path.name for path in resources.files("s2mlx.kernels").iterdir()]
    assert asked | own == {name for name in texts if name.endswith(".metal")}


def test_without_metal_they_are_left_out():
    with (
        mock.patch.object(device, "kernels_available", lambda: False),
        mock.patch.object(pace, "measure_bandwidth", lambda: 1e9),
    ):
        [line] = kernels.run()
        assert line.state == NOTE
        memory, rest = pace.run()
        assert memory.state == GOOD and memory.figures["bandwidth"] > 0 and rest.state == NOTE


def test_pace_counts_the_bytes_of_weights():
    seen = []
    with mock.patch.object(pace.qmv, "qmv", lambda w, x, format: seen.append(w.nbytes) or mx.zeros(1)):
        rate = pace.read(8, 1, shape=(64, 512), total=1 << 20)
    tries = pace._TRIES + 1
    assert sum(seen) == tries * len(seen) // tries * 64 * 512 // 32 * 34 and sum(seen) // tries >= 1 << 20 and rate > 0


def test_formats_are_exact_and_a_wrong_one_is_found():
    [line] = formats.run()
    assert line.state == GOOD and "Q6_K" in line.text
    with mock.patch.object(formats, "decode", lambda raw, kind: mx.zeros((16, 512))):
        [line] = formats.run()
    assert line.state == BAD and "Q6_K" in line.text
