"""What MLX may take, where there is a GPU: asked of it only where it is the device in use."""

import mlx.core as mx
import pytest

from s2mlx import device
from s2mlx.networks.load import limit_memory


@pytest.fixture
def mac(monkeypatch):
    """The limits that are set on a Mac of 8 GB."""
    asked = {}
    monkeypatch.setattr(mx.metal, "is_available", lambda: True)
    monkeypatch.setattr(
        mx, "device_info", lambda d=None: {"max_recommended_working_set_size": 5_726_633_984} if d == mx.gpu else {}
    )
    for name in ("set_wired_limit", "set_cache_limit", "set_memory_limit"):
        monkeypatch.setattr(mx, name, lambda limit, name=name: asked.update({name: limit}) or 0)
    return asked


def test_the_weights_stay_where_the_gpu_may_hold_them(mac, monkeypatch):
    monkeypatch.setattr(device, "on_gpu", lambda: True)
    limit_memory(None)
    assert mac["set_wired_limit"] == 5_726_633_984 and mac["set_cache_limit"] == 512 << 20
    limit_memory(10**9)
    assert mac["set_wired_limit"] == mac["set_memory_limit"] == 10**9
    limit_memory(None)  # MLX's own again
    assert mac["set_memory_limit"] == 0


def test_on_the_cpu_of_a_mac_nothing_is_wired(mac, monkeypatch):
    monkeypatch.setattr(device, "on_gpu", lambda: False)
    limit_memory(None)
    assert mac == {}
