"""Serve speech over HTTP: what speaks OpenAI's text-to-speech API, or Wyoming, can use this model by its address."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import EarError, UsageError
from ..text import visible
from . import model, references
from .interrupts import terminated
from .parser import Parser
from .terminal import Console

if TYPE_CHECKING:
    from ..synthesizer import Synthesizer
    from ..voices import Voice, VoiceLibrary

_KEY = "S2MLX_SERVE_API_KEY"
_EPILOG = """\
POST /v1/audio/speech with JSON:
  input             the text, at most 16384 characters (required)
  voice             a saved or built-in voice; OpenAI's names (alloy, ...) mean a saved voice of that name, else the one
                    of -v, else a built-in one, else one that the model makes up at first use and keeps to
  response_format   mp3 (default), opus, wav, or pcm (16-bit mono at 24 kHz), sent while they are generated, or flac,
                    sent when it is whole
  stream_format     audio, or sse: events with the sound in base64
  speed             0.5 to 2
  model             any name; what /v1/models lists is what speaks
  temperature, top_p, top_k, seed, max_frames, min_frames, pause_ms     as the options of s2mlx say; a pause has at
                    most 10000 ms
  check, takes      check true: a recognizer hears the speech, and passes with wrong words are spoken again, takes times
                    at most, as by s2mlx say --check; needs pip install "s2mlx[ear]"
Other fields, instructions among them, are left aside; the header S2mlx-Ignored of the answer names them, S2mlx-Seed
has the seed.
WebSocket /v1/audio/speech/stream: the same fields but input, then {"text": ...} in pieces of any size, {"flush": true},
{"done": true}; the sound comes back while the text is written, with the span of each part.
GET /v1/models, /v1/audio/models, /v1/audio/voices, /health. A client that closes the connection ends its request.

For Home Assistant: s2mlx serve --wyoming 0.0.0.0:10200, then its Wyoming integration with this machine's address. The
protocol has no key: with --api-key, --wyoming wants the address in it before others than this machine get in.
"""


def configure(parser: Parser) -> None:
    parser.epilog = _EPILOG
    parser.option(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="the address to listen on; default 127.0.0.1, which only this machine reaches; 0.0.0.0 is all",
    )
    parser.option("--port", type=_port, default=8000, metavar="N", help="default 8000; 0 takes a free one")
    parser.option(
        "--api-key",
        metavar="KEY",
        help="clients must send it; better by the variable, since other users can see a command line",
    )
    parser.option(
        "--cors",
        action="append",
        metavar="ORIGIN",
        help="a web page that may use the server, such as https://example.org, or *; repeat for several",
    )
    parser.option(
        "--queue",
        type=_count,
        default=8,
        metavar="N",
        help="requests that may wait while one is served, others are sent away; default 8",
    )
    parser.option(
        "--strict",
        action="store_true",
        help="refuse fields and names of models that mean nothing here, rather than leave them aside with a note",
    )
    parser.option("--demo", action="store_true", help="serve a page at / where one types and hears it as it is written")
    parser.option(
        "--wyoming",
        type=_wyoming,
        metavar="[ADDRESS:]PORT",
        help="speak Wyoming too, for Home Assistant (10200 is usual, 0 takes a free port), at --host or at ADDRESS; "
        'needs pip install "s2mlx[wyoming]"',
    )
    parser.option(
        "--zeroconf",
        action="store_true",
        only=(lambda args: args.wyoming is not None, "is of --wyoming"),
        help="tell the network of --wyoming, so that Home Assistant offers it by itself",
    )
    model.add_options(parser, prefix_cache=True)
    references.add_one_voice(parser, "who speaks for clients that name no voice, or one of OpenAI's")
    model.add_manners(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    from ..listen import check_ear
    from ..server.access import Access
    from ..server.listener import Server
    from ..server.service import Service
    from ..voices import VoiceLibrary

    key, origins, wyoming = _key(args.api_key), _origins(args.cors or []), args.wyoming
    log, fault = _reporters(console, args.debug)
    with suppress(EarError):  # which who asks for a check is told
        check_ear()
    if wyoming is not None:
        _need_wyoming("wyoming", "--wyoming")
        if args.zeroconf:
            _need_wyoming("zeroconf", "--zeroconf")
        named, wyoming = wyoming[0] is not None, (wyoming[0] or args.host, wyoming[1])
    server = Server(args.host, args.port, wyoming=wyoming, announce=args.zeroconf, demo=args.demo, log=log, fault=fault)
    try:
        if server.wyoming is not None and key and not (named or server.wyoming.only_here):
            raise UsageError(
                f"Wyoming has no key, and --host {args.host} lets others in: to let them speak by Wyoming without "
                f"--api-key, name the address, --wyoming {_spelled(args.host)}:{wyoming[1]}; for this machine alone, "
                f"--wyoming 127.0.0.1:{wyoming[1]}"
            )
        if args.zeroconf and server.wyoming is not None and server.wyoming.only_here:
            raise UsageError("--zeroconf tells the network where nobody else gets in: give --wyoming 0.0.0.0:10200")
        library = VoiceLibrary()
        voice, clip = _default_voice(library, references.one_voice(args))
        with model.open_model(args, console) as tts:
            tts.warm_up()
            name, also = _names(tts, args.model)
            service = Service(
                tts,
                name,
                also=also,
                voice=voice,
                clip=clip,
                waiting=args.queue,
                strict=args.strict,
                library=library,
                log=log,
            )
            if not (server.only_here or key):
                console.warn("whoever reaches this machine may use the server; --api-key asks them for a key")
            elif server.wyoming is not None and not server.wyoming.only_here:
                console.warn("whoever reaches this machine may use the server by Wyoming, which has no key")
            server.start(service, Access(key, origins))
            print(f"serving {visible(name)} at {server.url}/v1", flush=True)
            if args.demo:
                print(f"a page to try it: {server.url}/", flush=True)
            if server.wyoming is not None:
                print(f"Wyoming at {server.wyoming.url('tcp')}", flush=True)
            try:
                server.wait()
            finally:
                server.stop()  # before the model is closed under the requests
    except (KeyboardInterrupt, Exception):
        if terminated():  # as a supervisor ends what it started
            return 0
        raise
    finally:
        server.stop()
    return 0


def _default_voice(library: VoiceLibrary, spec: str | None) -> tuple[Voice | None, Path | None]:
    """The voice that -v means, and, of one given by a path, where its clip would lie."""
    from ..voices import clip_of_file, is_path

    if not spec:
        return None, None
    return library.resolve(spec), clip_of_file(Path(spec).expanduser()) if is_path(spec) else None


def _names(tts: Synthesizer, given: str | None) -> tuple[str, tuple[str, ...]]:
    """What the model is called, and what else it answers to."""
    path = Path(tts.path)
    if path.suffix == ".gguf":
        name = path.stem
    else:
        name = tts.name if given is None or Path(given).exists() else given
    return name, tuple(filter(None, (tts.name, given)))


def _reporters(console: Console, debug: bool) -> tuple[Callable[[str], None], Callable[[BaseException], None]]:
    """log(text) and fault(exception), for any thread."""
    lock = threading.Lock()

    def log(text: str) -> None:
        with lock:
            console.note(text)

    def fault(error: BaseException) -> None:
        with lock:
            if debug:
                console.traceback(error)
            console.warn(f"a request met an unexpected {type(error).__name__}: {error}")

    return log, fault


def _key(given: str | None) -> str | None:
    if given is None and _KEY in os.environ:  # without a word in it: who meant to have a key must not go without
        raise UsageError(f"{_KEY} is empty; give it a key, or unset it")
    if given is not None and (not given.strip() or not given.isprintable()):
        raise UsageError("--api-key is empty or holds what is no character; clients could not send it")
    return given and given.strip()


def _origins(given: list[str]) -> tuple[str, ...]:
    for origin in given:
        if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s]+", origin):
            raise UsageError(f"--cors {origin!r}: an origin is a scheme and a host, such as https://example.org")
    return tuple(given)


def _need_wyoming(package: str, option: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise UsageError(f'{option} needs the package {package}: pip install "s2mlx[wyoming]"')


def _wyoming(word: str) -> tuple[str | None, int]:
    """The address, if one is named, and the port."""
    host, _, port = word.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise argparse.ArgumentTypeError(f"an address with colons stands in brackets, [::1]:10200, not {word!r}")
    return host or None, _port(port)


def _spelled(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _port(word: str) -> int:
    if not (word.isascii() and word.isdigit() and int(word) < 65536):
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 65535, not {word!r}")
    return int(word)


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 6):
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more, not {word!r}")
    return int(word)
