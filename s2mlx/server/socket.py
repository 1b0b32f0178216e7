"""One client's WebSocket: uvicorn's on wsproto, whose task ends with the connection, and which waits its turn to be let
go where there are too many."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.websockets.wsproto_impl import WSProtocol
from wsproto import events

from .connection import STOP_SECONDS, WRITE_SECONDS, Clients

SOCKET_BYTES = 256 * 1024  # of a message
QUIET = "s2mlx.quiet"  # in a scope's state: quiet(True) while nothing is under way, quiet(False) when something is


class Socket(WSProtocol):
    """Made by a `Connection` that is asked to become one. The client's end, also of its sending half, and the server's
    cancel the task that answers."""

    def __init__(self, *, config: Any, server_state: Clients, app_state: dict[str, Any]) -> None:
        super().__init__(config, server_state, {**app_state, QUIET: self._quiet})
        self._clients = server_state
        self._answer: asyncio.Task[Any] | None = None
        self._stuck: asyncio.TimerHandle | None = None

    async def run_asgi(self) -> None:
        self._answer = asyncio.current_task()
        try:
            await self.app(self.scope, self.receive, self.send)
        except asyncio.CancelledError:
            pass
        except Exception as fault:
            self._clients.fault(fault)
        finally:
            self._answer = None
            if self.close_timer is None:
                self.transport.close()

    def handle_close(self, event: events.CloseConnection) -> None:
        super().handle_close(event)
        self._leave()

    def eof_received(self) -> None:
        self._leave()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unstick()

    def _unstick(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unstick()
        self._quiet(False)
        self.connections.add(self)  # who made room for another is none of them any more, which the next line minds
        super().connection_lost(exc)
        self._leave()

    def shutdown(self) -> None:
        super().shutdown()
        self._leave()
        self.loop.call_later(STOP_SECONDS, self.transport.abort)

    def _leave(self) -> None:
        if self._answer is not None:
            self._answer.cancel()

    def _quiet(self, quiet: bool) -> None:
        """Among the silent, of which the one that has been so longest goes first."""
        self._clients.silent.pop(self, None)
        if quiet:
            self._clients.silent[self] = None
