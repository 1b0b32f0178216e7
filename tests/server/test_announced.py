"""What the network is told of Wyoming, that it is taken back, and that no failure of it is one of the server."""

import asyncio
from types import SimpleNamespace

import pytest

pytest.importorskip("zeroconf", reason="needs zeroconf: pip install 's2mlx[wyoming]'")

from s2mlx.server import announced

from .test_speech import until


class Network:
    """In the place of `AsyncZeroconf`."""

    def __init__(self, fault=None):
        self.told, self.closed, self.fault = [], 0, fault

    async def async_register_service(self, about, allow_name_change=False):
        if self.fault:
            raise self.fault
        self.told.append(about)
        return asyncio.sleep(0)

    async def async_close(self):
        self.closed += 1


@pytest.fixture
def network(monkeypatch):
    made = Network()
    monkeypatch.setattr(announced, "AsyncZeroconf", lambda: made)
    return made


async def test_it_is_told_and_taken_back(network):
    lines = []
    one = announced.Announced(["192.0.2.7"], 10200, lines.append)
    one.start()
    await one._task
    [about] = network.told
    assert about.type == "_wyoming._tcp.local." and about.name.startswith("s2mlx ") and about.port == 10200
    assert about.parsed_addresses() == ["192.0.2.7"] and not network.closed
    await one.stop()
    assert network.closed == 1 and not lines


async def test_a_network_that_fails_is_a_line_in_the_log(network):
    network.fault, lines = OSError("no route"), []
    one = announced.Announced(["192.0.2.7"], 10200, lines.append)
    one.start()
    await one._task
    await one.stop()
    assert len(lines) == 1 and "no route" in lines[0]


async def test_an_end_before_it_was_told(network):
    one = announced.Announced(["192.0.2.7"], 10200, lambda text: None)
    one.start()
    await one.stop()
    assert not network.told


def test_only_addresses_that_others_reach_are_told(monkeypatch):
    ips = [SimpleNamespace(ip=ip, is_IPv4=isinstance(ip, str)) for ip in ("127.0.0.1", "192.0.2.7", "169.254.1.1")]
    ips += [SimpleNamespace(ip=(ip, 0, 0), is_IPv4=False) for ip in ("::1", "fe80::1", "2001:db8::7")]
    monkeypatch.setattr("ifaddr.get_adapters", lambda: [SimpleNamespace(ips=ips)])
    assert announced.reachable(["0.0.0.0"]) == ["192.0.2.7"]
    assert announced.reachable(["::"]) == ["192.0.2.7", "2001:db8::7"]
    assert announced.reachable(["192.0.2.9", "127.0.0.1"]) == ["192.0.2.9"]


def test_a_server_tells_and_takes_back(start, network, monkeypatch):
    pytest.importorskip("wyoming", reason="needs wyoming: pip install 's2mlx[wyoming]'")
    monkeypatch.setattr(announced, "reachable", lambda hosts: ["192.0.2.7"])
    server = start(wyoming=True, announce=True)
    until(lambda: network.told)
    assert network.told[0].port == server.wyoming.address[1]
    server.stop()
    assert network.closed == 1
