"""Where a server listens: the sockets of a host and a port."""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import Any

from ..errors import S2Error, reason

_TRIES = 20  # for a free port that is free at all addresses
_BACKLOG = 2048


class Door:
    """Takes its addresses when it is made; port 0 takes a free one. Raises `S2Error` when they cannot be had.

    option: of the command, that gives the port, for what is raised. address: where this machine reaches it, host and
    port; only_here: nobody else does.
    """

    def __init__(self, host: str, port: int, option: str = "--port"):
        self._option = option
        self.sockets = _bind(host, port, option)
        hosts = [_ip(one.getsockname()[0]) for one in self.sockets]
        self.only_here = all(one.is_loopback for one in hosts)
        host, port = self.sockets[0].getsockname()[:2]
        self.address = (["127.0.0.1", "::1"][":" in host] if hosts[0].is_unspecified else host), port

    def url(self, scheme: str) -> str:
        host, port = self.address
        return f"{scheme}://[{host.replace('%', '%25')}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def listen(self) -> None:
        """So that who reads that it serves can connect. Raises `S2Error`."""
        for one in self.sockets:
            try:
                one.listen(_BACKLOG)
            except OSError as fault:  # two may have bound a port, one can listen
                raise _cannot_listen(*self.address, self._option, fault) from None

    def close(self) -> None:
        for one in self.sockets:
            one.close()


def _bind(host: str, port: int, option: str) -> list[socket.socket]:
    """A socket for each address of the host, all with one port."""
    addresses = _addresses(host, port, option)
    for _ in range(_TRIES):
        taken: list[socket.socket] = []
        missing: OSError | None = None
        try:
            for family, address in addresses:
                chosen = taken[0].getsockname()[1] if taken else port
                try:
                    taken.append(_bound(family, (address[0], chosen, *address[2:])))
                except OSError as fault:
                    if fault.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                        raise
                    missing = fault  # this machine has no IPv6, say
            if taken:
                return taken
            raise missing or OSError("no address")
        except OSError as fault:
            for one in taken:
                one.close()
            if not (taken and port == 0 and fault.errno == errno.EADDRINUSE):
                raise _cannot_listen(host, port, option, fault) from None
    raise _cannot_listen(host, port, option, OSError("no port is free at all its addresses"))


def _bound(family: int, address: tuple[Any, ...]) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:  # :: takes IPv4 too
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, not _ip(address[0]).is_unspecified)
        one.bind(address)
    except BaseException:
        one.close()
        raise
    return one


def _addresses(host: str, port: int, option: str) -> list[tuple[int, tuple[Any, ...]]]:
    """Families and addresses. Whatever a machine's tables say, localhost is this machine, by IPv4 and IPv6."""
    if host.lower().rstrip(".") == "localhost":
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port))]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as fault:
        raise S2Error(f"{'--host' if option == '--port' else option} {host}: {reason(fault)}") from None
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))


def _cannot_listen(host: str, port: int, option: str, fault: OSError) -> S2Error:
    return S2Error(
        f"cannot listen on {host} port {port}: {reason(fault)}; another {option} may be free, "
        f"{option} 0 takes one that is"
    )


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(host.partition("%")[0])
