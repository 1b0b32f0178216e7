"""A request that gets an error for an answer, worded as OpenAI's clients read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RETRY_SECONDS = 5


class Refused(Exception):
    """An HTTP status, why, and more header fields of the answer. param: the field of the request that is at fault."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(message)
        self.status, self.param, self.code, self.headers = status, param, code, dict(headers or {})

    def body(self) -> dict[str, Any]:
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


def busy(why: str) -> Refused:
    """For now: the client is told when to ask again."""
    return Refused(503, f"{why}; try again later", code="server_busy", headers={"Retry-After": str(RETRY_SECONDS)})
