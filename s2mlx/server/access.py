"""Who may ask: the holder of the key, and no web page that was not invited. Knows header fields only."""

from __future__ import annotations

import hmac
import ipaddress

from .incoming import Head
from .protocol import Refused

# Names that nobody can own on the internet: what asks for them came from this machine or its network.
_LOCAL = (".localhost", ".local", ".internal")


class Access:
    """key: what clients must send as `Authorization: Bearer KEY`, None asks for none. origins: web pages whose scripts
    may read the answers, `*` for all. only_here: the server listens on this machine's own address alone."""

    def __init__(self, key: str | None = None, origins: tuple[str, ...] = (), only_here: bool = True):
        self._key = None if key is None else key.encode()
        self._origins, self._only_here = origins, only_here

    def check_host(self, head: Head) -> None:
        """Without a key, a page on the internet could have its own name point to this machine (DNS rebinding) and would
        then not be a foreign page to the browser; but the request still carries that name."""
        host = head.fields.get("host")
        if host is None and head.minor > 0:
            raise Refused(400, "the request has no Host field")
        if self._key is None and self._only_here and host and not _is_local(host):
            raise Refused(
                403,
                f"this server answers only to local names, not to {host[:80]!r}; to use another name, "
                "start it with an API key",
            )

    def check_key(self, head: Head) -> None:
        if self._key is None:
            return
        scheme, _, given = head.fields.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode("latin-1"), self._key):
            raise Refused(
                401,
                "this server needs its API key, as `Authorization: Bearer KEY`",
                code="invalid_api_key",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def cors(self, head: Head) -> dict[str, str]:
        """The header fields that let an invited web page read the answer."""
        if not self._origins:
            return {}
        origin = head.fields.get("origin")
        if "*" in self._origins:
            return {"Access-Control-Allow-Origin": "*"}
        if origin in self._origins:
            return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
        return {"Vary": "Origin"}

    def preflight(self, head: Head, methods: str) -> dict[str, str]:
        """What a browser asks before it lets a page send JSON."""
        cors = self.cors(head)
        if "Access-Control-Allow-Origin" not in cors:
            return cors
        return {
            **cors,
            "Access-Control-Allow-Methods": methods,
            "Access-Control-Max-Age": "600",
            "Access-Control-Allow-Headers": "Authorization, Content-Type",
        }


def _is_local(host: str) -> bool:
    name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
    name = name.lower().rstrip(".")
    if "." not in name and ":" not in name or name.endswith(_LOCAL):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
