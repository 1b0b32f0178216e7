"""The server: its addresses, uvicorn in a thread of its own, and the end of it all."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import resource
import socket
import threading
from collections.abc import Callable
from typing import Any

import uvicorn

from .. import __version__
from ..errors import S2Error, reason
from .access import Access
from .connection import HEAD_BYTES, Clients, Connection
from .routes import routes
from .service import Service

MOST_CONNECTIONS = 2000
_FILES = 4096  # descriptors wanted; macOS gives a process 256 unless it asks
_OTHER_FILES = 100  # of them, those that are no connections
_STOP_SECONDS = 2.0
_TRIES = 20  # for a free port that is free at all addresses


class Server:
    """Takes its address when it is made, and lets clients in from `start` until `stop`, both called by any thread.

    host, port: where; port 0 takes a free one. log(text) hears of requests, fault(exception) of faults of ours. Raises
    `S2Error` when the address cannot be had.

    address, url: where this machine reaches it; only_here: nobody else does.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        log: Callable[[str], None] = lambda text: None,
        fault: Callable[[BaseException], None] = lambda fault: None,
    ):
        self.log, self.fault = log, fault
        self._sockets = _bind(host, port)
        hosts = [_ip(one.getsockname()[0]) for one in self._sockets]
        self.only_here = all(one.is_loopback for one in hosts)
        host, port = self._sockets[0].getsockname()[:2]
        self.address = (["127.0.0.1", "::1"][":" in host] if hosts[0].is_unspecified else host), port
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    @property
    def url(self) -> str:
        host, port = self.address
        return f"http://[{host.replace('%', '%25')}]:{port}" if ":" in host else f"http://{host}:{port}"

    def start(self, service: Service, access: Access) -> None:
        """From now on clients that have `access` are answered by `service`. Returns at once."""
        config = uvicorn.Config(
            routes(service, access, self.log, self.fault),
            http=Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level=logging.CRITICAL + 1,  # what is to be known of requests is told by `log`
            proxy_headers=False,
            server_header=False,
            headers=[("Server", f"s2mlx/{__version__}")],
            h11_max_incomplete_event_size=HEAD_BYTES,
            timeout_keep_alive=3600,  # `Connection` has deadlines of its own
            timeout_graceful_shutdown=1,
        )
        self._clients = Clients(min(MOST_CONNECTIONS, max(_files() - _OTHER_FILES, 16)), self.log, self.fault)
        self._uvicorn = uvicorn.Server(config)
        self._uvicorn.server_state = self._clients
        for one in self._sockets:
            try:
                one.listen(config.backlog)  # so that who reads that it serves can connect
            except OSError as fault:  # two may have bound a port, one can listen
                raise _cannot_listen(*self.address, fault) from None
        self._thread = threading.Thread(target=self._run, name="s2mlx-server", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until it ends, by `stop` or a fault."""
        self._ended.wait()

    def stop(self) -> None:
        """Let nobody in any more, cancel the requests under way, free the port. Returns within a second."""
        if self._thread is not None:
            self._clients.stopping = True
            self._uvicorn.should_exit = True
            self._thread.join(_STOP_SECONDS)
        for one in self._sockets:
            one.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as fault:
            self.fault(fault)
        finally:
            self._ended.set()

    async def _serve(self) -> None:
        asyncio.get_running_loop().set_exception_handler(self._hear)
        await self._uvicorn.serve(self._sockets)

    def _hear(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What a callback of the loop failed with."""
        self.fault(context.get("exception") or RuntimeError(context["message"]))


def _bind(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of the host, all with one port."""
    addresses = _addresses(host, port)
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
                raise _cannot_listen(host, port, fault) from None
    raise _cannot_listen(host, port, OSError("no port is free at all its addresses"))


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


def _addresses(host: str, port: int) -> list[tuple[int, tuple[Any, ...]]]:
    """Families and addresses. Whatever a machine's tables say, localhost is this machine, by IPv4 and IPv6."""
    if host.lower().rstrip(".") == "localhost":
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port))]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as fault:
        raise S2Error(f"--host {host}: {reason(fault)}") from None
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))


def _cannot_listen(host: str, port: int, fault: OSError) -> S2Error:
    return S2Error(
        f"cannot listen on {host} port {port}: {reason(fault)}; another --port may be free, --port 0 takes one that is"
    )


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(host.partition("%")[0])


def _files() -> int:
    """How many descriptors this process may have, raised if they are few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _FILES:
        most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return most
        except (OSError, ValueError):
            pass
    return soft
