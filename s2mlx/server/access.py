"""Who may ask: the holder of the key, and no web page that was not invited."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Mapping

from .refused import Refused

# Names that nobody can own on the internet: what asks for them came from this machine or its network.
_LOCAL = (".localhost", ".local", ".internal", ".home.arpa")


class Access:
    """key: what clients must send as `Authorization: Bearer KEY`, None asks for none. origins: web pages whose scripts
    may use the server, `*` for all."""

    def __init__(self, key: str | None = None, origins: tuple[str, ...] = ()):
        self._key = None if key is None else key.encode()
        self.origins = origins
        self._own_name = socket.gethostname().lower()

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Without a key, a page on the internet could have its own name point to this machine (DNS rebinding), or to
        another one of the user's network, and would then not be a foreign page to the browser; but the request still
        carries that name. `headers` has names of fields in lower case. Raises `Refused` (403)."""
        host = headers.get("host", "")
        if self._key is None and host and not self._is_local(host):
            raise Refused(
                403,
                f"without an API key this server answers only to addresses in numbers and to local names, not to "
                f"{host[:80]!r}; to use another name, start it with --api-key",
            )

    def check_key(self, headers: Mapping[str, str]) -> None:
        """Raises `Refused` (401)."""
        if self._key is None:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode("latin-1"), self._key):
            raise Refused(
                401,
                "this server needs its API key, as `Authorization: Bearer KEY`",
                code="invalid_api_key",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def _is_local(self, host: str) -> bool:
        name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
        name = name.lower().rstrip(".")
        if "." not in name and ":" not in name or name.endswith(_LOCAL) or name == self._own_name:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True
