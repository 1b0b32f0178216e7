"""Who may ask: the holder of the key, and no web page that was not invited."""

from __future__ import annotations

import base64
import hmac
import ipaddress
import socket
from collections.abc import Mapping, Sequence

from .refused import Refused

PROTOCOL = "s2mlx"  # of a WebSocket, asked for by clients that name one
KEY_PROTOCOL = "s2mlx.key."  # with the key in base64url behind it: a page has no other place for it
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

    @property
    def has_key(self) -> bool:
        return self._key is not None

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

    def check_socket(self, headers: Mapping[str, str], protocols: Sequence[str]) -> None:
        """The key of a WebSocket, as of any request, or in a protocol that it asks for; and the page that opens it, to
        which the rule of the browser does not apply that keeps others out. Raises `Refused` (401, 403)."""
        for name in protocols:
            if name.startswith(KEY_PROTOCOL):
                headers = {**headers, "authorization": f"Bearer {_decoded(name.removeprefix(KEY_PROTOCOL))}"}
        self.check_key(headers)
        origin = headers.get("origin")
        own = origin is None or origin.partition("://")[2].lower() == headers.get("host", "").lower()
        if not (own or "*" in self.origins or origin in self.origins):
            raise Refused(403, f"the page {str(origin)[:80]!r} was not invited; s2mlx serve --cors says which are")

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


def _decoded(word: str) -> str:
    try:
        return base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)).decode("latin-1")
    except ValueError:
        return ""
