"""Macs of all sizes and ages, simulated: what fits, what the GPU may hold, what is said of either."""

import mlx.core as mx
import pytest

from s2mlx import device
from s2mlx.doctor.checks import arithmetic, machine
from s2mlx.doctor.finding import BAD, GOOD, NOTE


@pytest.mark.parametrize(
    "gigabytes, share, largest",
    [
        (8, 2 / 3, "s2-pro-q4_k_m"),
        (16, 2 / 3, "s2-pro-q8_0"),
        (24, 0.7, "s2-pro-f16"),
        (64, 0.75, "s2-pro-f16"),
        (8, 0.36, "s2-pro-q2_k"),  # a wired limit that somebody has lowered
    ],
)
def test_what_fits(gigabytes, share, largest):
    memory = gigabytes << 30
    line = machine.what_fits(memory, int(share * memory))
    assert line.state == GOOD and largest in line.text and line.figures["fits"][-1] == "s2-pro-q2_k"


def test_a_machine_for_none():
    line = machine.what_fits(4 << 30, None)
    assert line.state == NOTE and "the bundled voice does" in line.text and line.figures["fits"] == []


@pytest.fixture
def mac(monkeypatch):
    """A Mac of 8 GB; `mac` holds what it says of itself, and may be changed."""
    facts = {
        "info": {
            "device_name": "Apple M2",
            "architecture": "applegpu_g14g",
            "max_recommended_working_set_size": 5_726_633_984,
            "memory_size": 8 << 30,
            "max_buffer_length": 4_294_967_296,
            "resource_limit": 499000,
        },
        "sysctl": {"iogpu.wired_limit_mb": "0", "machdep.cpu.brand_string": "Apple M2"},
        "version": "15.1",
        "limit": lambda limit: None,
    }
    monkeypatch.setattr(machine.sys, "platform", "darwin")
    monkeypatch.setattr(mx.metal, "is_available", lambda: True)
    monkeypatch.setattr(device, "on_gpu", lambda: True)
    monkeypatch.setattr(mx, "device_info", lambda: facts["info"])
    monkeypatch.setattr(machine, "sysctl", lambda name: facts["sysctl"].get(name, ""))
    monkeypatch.setattr(machine.platform, "mac_ver", lambda: (facts["version"], ("", "", ""), "arm64"))
    monkeypatch.setattr(machine, "limit_memory", lambda limit: facts["limit"](limit))
    return facts


def test_a_small_mac_that_is_well(mac):
    lines = list(machine.run())
    assert [line.state for line in lines] == [GOOD] * 4
    assert "Apple M2" in lines[0].text and "macOS 15.1" in lines[0].text
    assert "5.7 GB" in lines[2].text and lines[2].figures["resident"] == 5_726_633_984


def test_a_limit_that_somebody_has_set(mac):
    mac["sysctl"]["iogpu.wired_limit_mb"] = "7000"
    assert "iogpu.wired_limit_mb is 7000" in list(machine.on_a_mac())[1].text


def test_a_limit_that_mlx_refuses(mac):
    def refuse(limit):
        raise ValueError("[metal::set_wired_limit] Setting a wired limit larger than the maximum is not allowed.")

    mac["limit"] = refuse
    last = list(machine.on_a_mac())[-1]
    assert last.state == BAD and "set_wired_limit" in last.text


def test_an_older_macos_keeps_nothing_resident(mac):
    mac["version"] = "14.7"
    last = list(machine.on_a_mac())[-1]
    assert last.state == NOTE and "14.7" in last.text


def test_a_virtual_machine_s_gpu(mac):
    mac["info"]["device_name"] = "Apple Paravirtual device"
    assert "virtual machine" in next(machine.on_a_mac()).text


def test_a_mac_without_a_gpu_for_us(mac, monkeypatch):
    monkeypatch.setattr(device, "on_gpu", lambda: False)
    [line] = machine.on_a_mac()
    assert line.state == BAD and line.todo


def test_sysctl_of_a_system_without_it(monkeypatch):
    monkeypatch.setattr(machine.subprocess, "run", lambda *a, **k: (_ for _ in ()).throw(FileNotFoundError()))
    assert machine.sysctl("hw.memsize") == ""


def test_arithmetic_is_right_here_and_short_floats_would_show(monkeypatch):
    lines = list(arithmetic.run())
    assert lines[0].state == GOOD
    real = list(arithmetic.results())
    assert max(arithmetic.off(ours, theirs) for _, ours, theirs in real) < 1e-5

    def short(name):
        return [(n, ours.astype(mx.bfloat16) if n == name else ours, theirs) for n, ours, theirs in real]

    monkeypatch.setattr(arithmetic, "results", lambda: short("product"))
    assert next(arithmetic.run()).state == BAD
    monkeypatch.setenv("MLX_ENABLE_TF32", "1")
    assert next(arithmetic.run()).state == NOTE
    monkeypatch.setattr(arithmetic, "results", lambda: short("sorting"))
    assert next(arithmetic.run()).state == BAD
