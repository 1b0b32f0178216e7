"""The server: its addresses, uvicorn in a thread of its own, and the end of it all."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn

from .. import __version__
from .access import Access
from .addresses import Door
from .connection import HEAD_BYTES, Clients, Connection
from .routes import routes
from .service import Service
from .socket import SOCKET_BYTES, Socket

if TYPE_CHECKING:
    from .announced import Announced
    from .wyoming import Wyoming

MOST_CONNECTIONS = 2000
_FILES = 4096  # descriptors wanted; macOS gives a process 256 unless it asks
_OTHER_FILES = 200  # of them, those that are no connections
_STOP_SECONDS = 2.0
_JOIN_SECONDS = 0.3  # for the engine to end the frame it is at


class Server:
    """Takes its addresses when it is made, and lets clients in from `start` until `stop`, both called by any thread.

    host, port: where; port 0 takes a free one. wyoming: host and port where it speaks Wyoming too. announce: the
    network is told of that.
    demo: with a page at / to try it. log(text) hears of
    requests, fault(exception) of faults of ours. Raises `S2Error` when an address cannot be had.

    address, url: where this machine reaches it; only_here: nobody else does. wyoming: the same of the other one.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        wyoming: tuple[str, int] | None = None,
        announce: bool = False,
        demo: bool = False,
        log: Callable[[str], None] = lambda text: None,
        fault: Callable[[BaseException], None] = lambda fault: None,
    ):
        self.log, self.fault, self._demo, self._announce = log, fault, demo, announce
        self._door = Door(host, port)
        try:
            self.wyoming = None if wyoming is None else Door(*wyoming, option="--wyoming")
        except BaseException:
            self._door.close()
            raise
        self.address, self.only_here = self._door.address, self._door.only_here
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    @property
    def url(self) -> str:
        return self._door.url("http")

    def start(self, service: Service, access: Access) -> None:
        """From now on clients that have `access` are answered by `service`. Returns at once."""
        self._service = service
        config = uvicorn.Config(
            routes(service, access, self.log, self.fault, self._demo),
            http=Connection,
            ws=Socket,
            ws_max_size=SOCKET_BYTES,
            ws_ping_interval=None,  # who does not read is let go by deadlines, who waits for more text is not
            ws_per_message_deflate=False,
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
        self._uvicorn = _Uvicorn(config)
        self._uvicorn.server_state = self._clients
        self._door.listen()
        if self.wyoming is not None:
            from .wyoming import Wyoming  # asked for by few, and so is its package

            self._uvicorn.beside = Wyoming(service, self.log, self.fault)
            self.wyoming.listen()
            if self._announce:
                from .announced import Announced

                hosts = [one.getsockname()[0] for one in self.wyoming.sockets]
                self._uvicorn.announced = Announced(hosts, self.wyoming.address[1], self.log)
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
            self._service.join(_JOIN_SECONDS)
        self._door.close()
        if self.wyoming is not None:
            self.wyoming.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as fault:
            self.fault(fault)
        finally:
            self._ended.set()

    async def _serve(self) -> None:
        asyncio.get_running_loop().set_exception_handler(self._hear)
        if self.wyoming is not None and self._uvicorn.beside is not None:
            await self._uvicorn.beside.start(self.wyoming.sockets)
        if self._uvicorn.announced is not None:
            self._uvicorn.announced.start()
        await self._uvicorn.serve(self._door.sockets)

    def _hear(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What a callback of the loop failed with."""
        self.fault(context.get("exception") or RuntimeError(context["message"]))


class _Uvicorn(uvicorn.Server):
    """With the server for Wyoming `beside` it, which ends when it does."""

    beside: Wyoming | None = None
    announced: Announced | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ends = [super().shutdown(sockets)]
        if self.beside is not None:
            ends.append(self.beside.stop())
        if self.announced is not None:
            ends.append(self.announced.stop())
        await asyncio.gather(*ends)


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
