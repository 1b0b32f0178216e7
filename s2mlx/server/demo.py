"""The page of `serve --demo`: one types, and hears it while one writes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

# The page uses nothing but itself and the server it came from.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self' ws: wss:"


def demo_page(request: Request) -> Response:
    return HTMLResponse(_page(), headers={"Content-Security-Policy": _POLICY, "Cache-Control": "no-store"})


@cache
def _page() -> str:
    return (Path(__file__).parent / "demo.html").read_text(encoding="utf-8")
