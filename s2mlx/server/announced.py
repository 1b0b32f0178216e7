"""The network is told where Wyoming is spoken (multicast DNS), so that Home Assistant offers it by itself."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable

from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

_TYPE = "_wyoming._tcp.local."
_LONGEST_NAME = 40  # bytes of a name's 63, of which some tell two servers apart


class Announced:
    """From `start` to `stop`, both in one loop. hosts: the addresses that are listened at, 0.0.0.0 and :: being all of
    this machine. What fails is told by `log`: the server is none the worse, and its address can be typed."""

    def __init__(self, hosts: list[str], port: int, log: Callable[[str], None]):
        self._hosts, self._port, self._log = hosts, port, log
        self._network: AsyncZeroconf | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Returns at once: it takes seconds until a name is known to be free."""
        self._task = asyncio.create_task(self._tell(), name="s2mlx-announced")

    async def stop(self) -> None:
        """Take it back."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._network is not None:
            try:
                await self._network.async_close()
            except Exception as fault:  # the network went meanwhile
                self._log(f"the network was not told that Wyoming ends: {fault}")

    async def _tell(self) -> None:
        here = socket.gethostname().partition(".")[0].encode()[:_LONGEST_NAME].decode(errors="ignore") or "here"
        try:
            addresses = reachable(self._hosts)
            if not addresses:
                raise OSError("this machine has no address in a network")
            about = AsyncServiceInfo(
                _TYPE, f"s2mlx {here}.{_TYPE}", parsed_addresses=addresses, port=self._port, server=f"{here}.local."
            )
            self._network = AsyncZeroconf()
            await (await self._network.async_register_service(about, allow_name_change=True))
        except Exception as fault:
            self._log(f"the network could not be told of Wyoming: {fault or type(fault).__name__}; its address works")


def reachable(hosts: list[str]) -> list[str]:
    """Addresses by which others reach what listens at `hosts`."""
    import ifaddr  # zeroconf brings it

    found = []
    for host in hosts:
        if not ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
            found.append(host)
            continue
        for adapter in ifaddr.get_adapters():
            for one in adapter.ips:
                if one.is_IPv4 or ":" in host:
                    found.append(str(one.ip if one.is_IPv4 else one.ip[0]))
    usable = lambda word: not (ip := ipaddress.ip_address(word.partition("%")[0])).is_loopback and not ip.is_link_local
    return list(dict.fromkeys(filter(usable, found)))
