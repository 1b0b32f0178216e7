"""Which request gets which answer: the server's paths, and what stands before them all."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import closing

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import S2Error
from .access import Access
from .connection import BrokenOff
from .demo import demo_page
from .live_speech import LiveSpeech
from .refused import Refused
from .service import Service
from .speech import Speech, paced
from .speech_request import SpeechRequest

SPEECH, MODELS, VOICES, HEALTH = "/v1/audio/speech", "/v1/models", "/v1/audio/voices", "/health"
AUDIO_MODELS, LIVE = "/v1/audio/models", "/v1/audio/speech/stream"
BODY_BYTES = 256 * 1024  # every character of the longest input may be escaped, twelve bytes for an emoji
BODY_SECONDS = 30.0
_OPEN = {HEALTH, "/"}  # without the key: the page of the demo asks for it
_END = {"Connection": "close"}
_EXPOSED = ("S2mlx-Seed", "S2mlx-Ignored", "Retry-After")
_STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nobody between is to keep or collect it


def routes(
    service: Service,
    access: Access,
    log: Callable[[str], None],
    fault: Callable[[BaseException], None],
    demo: bool = False,
) -> ASGIApp:
    """The server as an ASGI application. log, fault: as of `Service` and `Server`. demo: with a page to try it."""

    def answer(refused: Refused) -> Response:
        log(f"refused ({refused.status}): {refused}")
        return JSONResponse(refused.body(), refused.status, refused.headers)

    async def unrouted(request: Request, fault: Exception) -> Response:
        """Starlette's own word for a path or a method that is not served."""
        status, path = getattr(fault, "status_code", 404), request.url.path[:80]
        if status == 405:
            allowed = getattr(fault, "headers", None) or {}
            message = f"{path} takes {allowed.get('Allow')}, not {request.method[:20]}"
            return answer(Refused(405, message, headers=allowed))
        return answer(Refused(404, f"there is nothing at {path!r}; see {SPEECH}, {MODELS}, {VOICES} and {HEALTH}"))

    gets: dict[str, Callable[[Request], Response]] = {
        HEALTH: lambda request: JSONResponse(service.health()),
        MODELS: lambda request: JSONResponse(service.models()),
        MODELS + "/{name:path}": lambda request: JSONResponse(service.model(request.path_params["name"])),
        AUDIO_MODELS: lambda request: JSONResponse(service.audio_models()),
        VOICES: lambda request: JSONResponse(service.voices()),
    }
    before = [Middleware(_Answers, answer, fault), Middleware(_Gate, access)]
    if access.origins:
        before.insert(
            0,
            Middleware(
                _Cors,
                allow_origins=access.origins,
                allow_methods=("GET", "HEAD", "POST", "OPTIONS"),
                allow_headers=("*",),
                expose_headers=_EXPOSED,
                allow_private_network=True,
            ),
        )
    return Starlette(
        routes=[
            Route(SPEECH, _SpeechEndpoint(service, log), methods=["POST", "OPTIONS"]),
            WebSocketRoute(LIVE, LiveSpeech(service, log, fault)),
            Route(LIVE, _only_socket, methods=["GET", "POST"]),
            *([Route("/", demo_page, methods=["GET", "HEAD"])] if demo else []),
            *(Route(path, _or_options(get), methods=["GET", "HEAD", "OPTIONS"]) for path, get in gets.items()),
        ],
        middleware=before,
        exception_handlers={HTTPException: unrouted},
    )


class _Cors(CORSMiddleware):
    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        refused = Refused(400, bytes(response.body).decode() + "; s2mlx serve --cors says which pages are invited")
        headers = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
        return JSONResponse(refused.body(), 400, headers)


class _Answers:
    """What is raised behind it becomes an answer, if none has begun."""

    def __init__(self, app: ASGIApp, answer: Callable[[Refused], Response], fault: Callable[[BaseException], None]):
        self._app, self._answer, self._fault = app, answer, fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
            return
        except (BrokenOff, ClientDisconnect):
            raise
        except Refused as refused:
            response = self._answer(refused)
        except Exception as fault:  # a fault of ours: the client is told, and so is the terminal
            self._fault(fault)
            if begun:
                raise BrokenOff from fault
            response = JSONResponse(Refused(500, "the server failed; its terminal says why").body(), 500)
        await response(scope, receive, send)


class _Gate:
    """Lets through what is sound HTTP, in one reading only, and comes from who may ask."""

    def __init__(self, app: ASGIApp, access: Access):
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if scope["http_version"] not in ("1.0", "1.1"):
                raise Refused(505, "only HTTP/1.0 and HTTP/1.1 are spoken here", headers=_END)
            if "transfer-encoding" in headers and ("content-length" in headers or scope["http_version"] == "1.0"):
                # A proxy in front might have read the other length.
                raise Refused(400, "the request gives the length of its body in two ways", headers=_END)
            self._access.check_host(headers)
            # Of an absolute target, which proxies send, the path in it; and clients end a base URL with a slash.
            path = re.sub(r"^https?://[^/]*", "", scope["path"], flags=re.IGNORECASE).rstrip("/") or "/"
            if path not in _OPEN and scope["method"] != "OPTIONS":
                self._access.check_key(headers)
            scope = {**scope, "path": path}
        elif scope["type"] == "websocket":
            headers = Headers(scope=scope)
            self._access.check_host(headers)
            self._access.check_socket(headers, scope["subprotocols"])
        await self._app(scope, receive, send)


def _or_options(get: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """The endpoint, in a thread beside the loop, of which OPTIONS asks only what it takes."""

    def endpoint(request: Request) -> Response:
        return _takes("GET, HEAD, OPTIONS") if request.method == "OPTIONS" else get(request)

    return endpoint


def _only_socket(request: Request) -> Response:
    raise Refused(426, f"{LIVE} is a WebSocket", headers={"Upgrade": "websocket"})


def _takes(methods: str) -> Response:
    return Response(status_code=204, headers={"Allow": methods})


class _SpeechEndpoint:
    def __init__(self, service: Service, log: Callable[[str], None]):
        self._service, self._log = service, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "OPTIONS":
            await _takes("POST, OPTIONS")(scope, receive, send)
            return
        wanted = self._service.wanted(await _json_body(Request(scope, receive)))
        with self._service.place():
            try:
                speech = await self._service.speak(wanted)
            except asyncio.CancelledError:
                self._log("a request was left before its first sound: its client is gone, or the server is stopping")
                raise
            with closing(speech):
                await self._stream(wanted, speech, send)
        rate = speech.stats.rtf or 0
        self._log(f"{speech.seconds:.1f} s of speech as {wanted.format}, real-time factor {rate:.2f}")

    async def _stream(self, wanted: SpeechRequest, speech: Speech, send: Send) -> None:
        headers = {"S2mlx-Seed": str(speech.seed), "Content-Type": speech.content_type, **_STREAM}
        if wanted.ignored:
            headers["S2mlx-Ignored"] = ", ".join(map(_token, wanted.ignored[:20]))
        try:
            await StreamingResponse(paced(speech), headers=headers).stream_response(send)
        except S2Error as fault:
            self._log(f"a request failed amid speech: {fault}")
            raise BrokenOff from fault
        except (asyncio.CancelledError, TimeoutError) as fault:
            self._log(
                f"a request was left after {speech.seconds:.1f} s of speech: its client is gone or does not read, "
                "or the server is stopping"
            )
            if isinstance(fault, TimeoutError):
                raise BrokenOff from fault
            raise


def _token(name: str) -> str:
    """The name of a field as it may stand in a header."""
    return re.sub(r"[^\w.-]", "?", name[:40], flags=re.ASCII) or "?"


async def _json_body(request: Request) -> bytes:
    """Raises `Refused`."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "the body must be JSON, sent with Content-Type: application/json")
    too_large = Refused(413, f"the body has more than {BODY_BYTES} bytes; split the text")
    if int(request.headers.get("content-length", 0)) > BODY_BYTES:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > BODY_BYTES:
                    raise too_large
    except TimeoutError:
        raise Refused(408, "the request did not arrive in time") from None
    return bytes(body)
