"""The listening socket: a thread for each of a bounded number of connections, and a clean end.

Knows nothing of what is served.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import socketserver
import sys
import threading
from collections.abc import Callable

from ..errors import S2Error
from .access import Access
from .handler import Handler
from .outgoing import Outgoing
from .protocol import Refused
from .service import RETRY_SECONDS, Service

MOST_CONNECTIONS = 128
_END_SECONDS = 2.0  # for the requests under way to end, once they are cancelled


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Takes its address when it is made, and lets clients in from `listen(service)` on.

    host, port: where; port 0 takes a free one. log(text) hears of requests, fault(exception) of faults of ours. Raises
    `S2Error` when the address cannot be had. `stopping`: it is about to end.
    """

    daemon_threads, block_on_close = True, False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(
        self,
        host: str,
        port: int,
        *,
        log: Callable[[str], None] = lambda text: None,
        fault: Callable[[BaseException], None] = lambda fault: None,
    ):
        self.log, self.fault = log, fault
        self._handlers: set[Handler] = set()
        self._connections = 0
        self._change = threading.Condition()
        self.stopping = False
        self.address_family, address = _address(host, port)
        super().__init__(address, Handler, bind_and_activate=False)
        self._take(self.server_bind)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def only_here(self) -> bool:
        """Can nobody but this machine reach it?"""
        return ipaddress.ip_address(self.server_address[0].partition("%")[0]).is_loopback

    def listen(self, service: Service, access: Access) -> None:
        """From now on clients are let in, if they have `access`; `serve_forever` answers them."""
        self.service, self.access = service, access
        self._take(self.server_activate)

    def stop(self) -> None:
        """Let nobody in any more, cancel the requests under way, free the port. Returns within some seconds."""
        self.server_close()
        with self._change:
            self.stopping = True
            for handler in self._handlers:
                handler.hangup.set()
                _shut(handler.request, socket.SHUT_RD)  # who waits for a request hears the end of it
            if not self._all_left():
                for handler in self._handlers:
                    _shut(handler.request, socket.SHUT_RDWR)  # who waits for a slow reader does too
                self._all_left()

    def entered(self, handler: Handler) -> None:
        with self._change:
            self._handlers.add(handler)
            if self.stopping:
                handler.hangup.set()
                _shut(handler.request, socket.SHUT_RD)

    def left(self, handler: Handler) -> None:
        with self._change:
            self._handlers.discard(handler)
            self._change.notify_all()

    def process_request(self, request, client_address):
        with self._change:
            room = self._connections < MOST_CONNECTIONS
            self._connections += room
        if not room:
            self._turn_away(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread could be had
            self._one_less()
            raise

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._one_less()

    def handle_error(self, request, client_address):
        if not isinstance(fault := sys.exception(), OSError):  # a client that is gone before its thread began
            self.fault(fault)

    def _turn_away(self, connection: socket.socket) -> None:
        refused = Refused(503, f"{MOST_CONNECTIONS} connections are open; try again later", code="server_busy")
        headers = {"Retry-After": str(RETRY_SECONDS), "Connection": "close", "Content-Type": "application/json"}
        try:
            Outgoing(connection).whole(503, headers, json.dumps(refused.body()).encode())
        finally:
            self.shutdown_request(connection)

    def _one_less(self) -> None:
        with self._change:
            self._connections -= 1

    def _take(self, step: Callable[[], None]) -> None:
        """A step towards the address; what another program holds is said with the way out."""
        try:
            step()
        except OSError as fault:
            self.server_close()
            host, port = self.server_address[:2]
            raise S2Error(
                f"cannot listen on {host} port {port}: {fault.strerror or fault}; another --port may be "
                "free, --port 0 takes one that is"
            ) from None

    def _all_left(self) -> bool:
        return self._change.wait_for(lambda: not self._handlers, _END_SECONDS)


def _address(host: str, port: int):
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as fault:
        raise S2Error(f"--host {host}: {getattr(fault, 'strerror', None) or fault}") from None
    return family, address


def _shut(connection: socket.socket, how: int) -> None:
    try:
        connection.shutdown(how)
    except OSError:
        pass  # it is closed already
