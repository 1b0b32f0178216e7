"""OpenAI's speech request as JSON, read strictly, and the errors in OpenAI's form. Knows no sockets and no model."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from ..errors import UsageError
from ..options import Options

MOST_CHARACTERS = 16_384  # OpenAI allows 4096
_LONGEST_PAUSE = 10_000  # ms; a letter may be a paragraph, with a pause after it
_LONGEST_NAME = 256  # characters: comparing names brings accents into order, which takes the square of their number
STREAMABLE = ("mp3", "opus", "flac", "wav", "pcm")
_STREAM_FORMATS = ("audio", "sse")
# Ours beyond OpenAI's: fields of Options, checked there, and the JSON types that each may have.
_OPTIONS = {
    "temperature": (int, float),
    "top_p": (int, float),
    "top_k": int,
    "seed": int,
    "max_frames": int,
    "min_frames": int,
    "pause_ms": int,
}
_FIELDS = ("model", "input", "voice", "response_format", "speed", "stream_format", "instructions", *_OPTIONS)


class Refused(Exception):
    """A request that gets an error for an answer: an HTTP status and what OpenAI's clients read from the body."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ):
        super().__init__(message)
        self.status, self.param, self.code, self.headers = status, param, code, headers or {}

    def body(self) -> dict:
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


@dataclass(frozen=True)
class SpeechRequest:
    """What to say and how. model, voice: names as the client gave them, None where it gave none."""

    text: str
    model: str | None = None
    voice: str | None = None
    format: str = "mp3"
    events: bool = False  # server-sent events with the sound in base64, rather than the bare sound
    options: Options = field(default_factory=Options)


def parse_speech(body: bytes) -> SpeechRequest:
    """The request in a JSON body. Raises `Refused` (400)."""
    fields = {name: value for name, value in _object(body).items() if value is not None}
    for name in fields:
        if name not in _FIELDS:
            raise _wrong(name, f"unknown field {name[:80]!r}; known: {', '.join(_FIELDS)}")
    _check_unsupported(fields)
    return SpeechRequest(
        text=_text(fields),
        model=_string(fields, "model"),
        voice=_voice(fields),
        format=_choice(fields, "response_format", STREAMABLE, "mp3"),
        events=_choice(fields, "stream_format", _STREAM_FORMATS, "audio") == "sse",
        options=_options(fields),
    )


def _object(body: bytes) -> dict:
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as fault:
        raise Refused(400, f"the body is not UTF-8 (byte {fault.start})") from None
    except RecursionError:
        raise Refused(400, "the body is not usable JSON: it is nested too deeply") from None
    except ValueError as fault:  # JSONDecodeError is one; so is a number of thousands of digits
        raise Refused(400, f"the body is not valid JSON: {fault}") from None
    if not isinstance(value, dict):
        raise Refused(400, 'the body must be a JSON object such as {"input": "Hello.", "voice": "alloy"}')
    return value


def _no_constant(word: str):
    raise ValueError(f"{word} is not a JSON number")


def _check_unsupported(fields: dict) -> None:
    """What OpenAI's engine can do and this one cannot is refused, rather than left undone."""
    speed = fields.get("speed", 1)
    if not _is(speed, (int, float)):
        raise _wrong("speed", "speed must be a number")
    if speed != 1:
        raise _wrong("speed", "this model speaks at its own pace: speed must be 1.0 or left out")
    if _string(fields, "instructions"):
        raise _wrong(
            "instructions",
            "this model takes no instructions; leave the field out, and write stage "
            "directions for S2 Pro into the input, such as [whispering]",
        )
    if fields.get("response_format") == "aac":
        raise _wrong("response_format", f"aac cannot be made here; take one of {', '.join(STREAMABLE)}")


def _text(fields: dict) -> str:
    text = _string(fields, "input")
    if text is None or not text.strip():
        raise _wrong("input", "there is nothing to say: give the text as input")
    if len(text) > MOST_CHARACTERS:
        raise _wrong(
            "input",
            f"the input has {len(text)} characters, and {MOST_CHARACTERS} are the most at once; split it",
            "string_above_max_length",
        )
    return text


def _voice(fields: dict) -> str | None:
    """A name, or OpenAI's form of one's own voices, {"id": name}."""
    voice = fields.get("voice")
    if isinstance(voice, dict) and voice.keys() == {"id"}:
        voice = voice["id"]
    if voice is not None and not isinstance(voice, str):
        raise _wrong("voice", "voice must be a string, the name of a voice")
    if voice is not None and len(voice) > _LONGEST_NAME:
        raise _wrong("voice", f"no name of a voice has more than {_LONGEST_NAME} characters")
    return _clean(voice, "voice")


def _options(fields: dict) -> Options:
    given = {name: fields[name] for name in _OPTIONS if name in fields}
    for name, value in given.items():
        if not _is(value, _OPTIONS[name]):
            raise _wrong(name, f"{name} must be a {'whole number' if _OPTIONS[name] is int else 'number'}")
    if not 0 <= given.get("pause_ms", 0) <= _LONGEST_PAUSE:
        raise _wrong("pause_ms", f"pause_ms must be between 0 and {_LONGEST_PAUSE}, not {given['pause_ms']}")
    try:
        return Options(**given)
    except UsageError as fault:
        at_fault = next((name for name in given if str(fault).startswith(name + " ")), None)
        raise _wrong(at_fault, str(fault)) from None
    except OverflowError:  # a whole number too large for a float
        raise Refused(400, "a number in the request is too large") from None


def _choice(fields: dict, name: str, choices: tuple[str, ...], default: str) -> str:
    value = fields.get(name, default)
    if value not in choices:
        raise _wrong(name, f"{name} must be one of {', '.join(choices)}")
    return value


def _string(fields: dict, name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(name, f"{name} must be a string")
    return _clean(value, name)


def _clean(value: str | None, name: str) -> str | None:
    """JSON's escapes can spell what is no text."""
    if value is not None:
        if "\0" in value:
            raise _wrong(name, f"{name} holds a NUL character (\\u0000)")
        try:
            value.encode()
        except UnicodeEncodeError as fault:
            raise _wrong(name, f"{name} holds half of a surrogate pair (character {fault.start})") from None
    return value


def _is(value, types) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)


def _wrong(param: str | None, message: str, code: str | None = None) -> Refused:
    return Refused(400, message, param=param, code=code)
