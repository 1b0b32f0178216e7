"""OpenAI's speech request: read from JSON, and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, cast

from ..errors import UsageError
from ..options import KNOBS, Options
from ..text import clean_text, has_words
from .refused import Refused

MOST_CHARACTERS = 16_384  # OpenAI allows 4096
_LONGEST_NAME = 256  # characters: comparing names brings accents into order, which takes the square of their number
STREAMABLE = ("mp3", "opus", "flac", "wav", "pcm")
_STREAM_FORMATS = ("audio", "sse")
# Field -> field of Options, and what it may be. Ours beyond OpenAI's are called alike.
_KNOBS = {
    "speed": ("rate", replace(KNOBS["rate"], name="speed")),
    **{name: (name, KNOBS[name]) for name in ("temperature", "top_p", "top_k", "seed", "max_frames", "min_frames")},
    "pause_ms": ("pause_ms", replace(KNOBS["pause_ms"], most=10_000)),  # a letter may be a paragraph, with a pause
    **{name: (name, KNOBS[name]) for name in ("check", "takes")},
}
_FIELDS = ("model", "input", "voice", "response_format", "stream_format", *_KNOBS)
Fields = dict[str, Any]


@dataclass(frozen=True)
class SpeechRequest:
    """What to say and how. model, voice: names as the client gave them, None where it gave none. ignored: the fields
    it gave that mean nothing here."""

    text: str
    model: str | None = None
    voice: str | None = None
    format: str = "mp3"
    events: bool = False  # server-sent events with the sound in base64, rather than the bare sound
    options: Options = field(default_factory=Options)
    ignored: tuple[str, ...] = ()


def parse_speech(body: bytes, *, strict: bool = False) -> SpeechRequest:
    """The request in a JSON body; strict: refuse what would be ignored. Raises `Refused` (400)."""
    fields = parse_object(body)
    return replace(parse_manner(fields, strict=strict), text=_text(fields))


def parse_manner(fields: Fields, *, strict: bool = False) -> SpeechRequest:
    """What the fields say but the text, which is empty. Raises `Refused` (400)."""
    ignored = tuple(name for name in fields if name not in _FIELDS and (name, fields[name]) != ("instructions", ""))
    if strict and ignored:
        raise _wrong(ignored[0], _why_not(ignored[0]))
    return SpeechRequest(
        text="",
        model=_string(fields, "model"),
        voice=_voice(fields),
        format=_choice(fields, "response_format", STREAMABLE, "mp3"),
        events=_choice(fields, "stream_format", _STREAM_FORMATS, "audio") == "sse",
        options=_options(fields),
        ignored=ignored,
    )


def plain_speech(text: str, voice: str | None) -> SpeechRequest:
    """The request of who can say no more than this, for bare samples. Raises `Refused` (400)."""
    return SpeechRequest(text=_text({"input": text}), voice=_voice({"voice": voice}), format="bare")


def piece_of_text(fields: Fields) -> str:
    """The field `text`, which may end, or begin, with half of a surrogate pair. Raises `Refused` (400)."""
    piece = fields["text"]
    if not isinstance(piece, str):
        raise _wrong("text", "text must be a string")
    if "\0" in piece:
        raise _wrong("text", "text holds a NUL character (\\u0000)")
    return piece


def parse_object(body: bytes, what: str = "the body") -> Fields:
    """A JSON object, without the fields that are null. what: it is called in errors. Raises `Refused` (400)."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as fault:
        raise Refused(400, f"{what} is not UTF-8 (byte {fault.start})") from None
    except RecursionError:
        raise Refused(400, f"{what} is not usable JSON: it is nested too deeply") from None
    except ValueError as fault:  # JSONDecodeError is one; so is a number of thousands of digits
        raise Refused(400, f"{what} is not valid JSON: {fault}") from None
    if not isinstance(value, dict):
        raise Refused(400, what + ' must be a JSON object such as {"input": "Hello.", "voice": "alloy"}')
    return {name: given for name, given in cast(Fields, value).items() if given is not None}


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _why_not(name: str) -> str:
    if name == "instructions":
        return (
            "this model takes no instructions; leave the field out, and write stage directions for S2 Pro into the "
            "input, such as [whispering]"
        )
    return f"unknown field {name[:80]!r}; known: {', '.join(_FIELDS)}"


def _text(fields: Fields) -> str:
    text = clean_text(_string(fields, "input") or "")
    if not has_words(text):
        raise _wrong("input", "there is nothing to say: give the text as input")
    check_length(len(text))
    return text


def check_piece(piece: str, before: int) -> None:
    """One of a text that comes in pieces, behind so many characters. Raises `Refused` (400)."""
    _clean(piece, "input")
    check_length(before + len(piece))


def check_length(characters: int) -> None:
    """Raises `Refused` (400) when a text has more than may be asked for at once."""
    if characters > MOST_CHARACTERS:
        raise _wrong(
            "input",
            f"the input has {characters} characters, and {MOST_CHARACTERS} are the most at once; split it",
            "string_above_max_length",
        )


def _voice(fields: Fields) -> str | None:
    """A name, or OpenAI's form of one's own voices, {"id": name}."""
    voice = fields.get("voice")
    if isinstance(voice, dict) and voice.keys() == {"id"}:
        voice = voice["id"]
    if voice is not None and not isinstance(voice, str):
        raise _wrong("voice", "voice must be a string, the name of a voice")
    if voice is not None and len(voice) > _LONGEST_NAME:
        raise _wrong("voice", f"no name of a voice has more than {_LONGEST_NAME} characters")
    return _clean(voice, "voice")


def _options(fields: Fields) -> Options:
    try:
        options = Options(**{to: knob.check(fields[name]) for name, (to, knob) in _KNOBS.items() if name in fields})
        for name, (_, knob) in _KNOBS.items():
            if name in fields and knob.needs and not getattr(options, knob.needs):
                raise UsageError(f"{name} means nothing without {knob.needs}")
        return options
    except UsageError as fault:  # begins with the name
        name = str(fault).partition(" ")[0]
        raise _wrong(name if name in _KNOBS else None, str(fault)) from None


def _choice(fields: Fields, name: str, choices: tuple[str, ...], default: str) -> str:
    """One of them, in small letters or not."""
    value = fields.get(name, default)
    if not isinstance(value, str) or value.lower() not in choices:
        raise _wrong(name, f"{name} must be one of {', '.join(choices)}, not {repr(value)[:40]}")
    return value.lower()


def _string(fields: Fields, name: str) -> str | None:
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


def _wrong(param: str | None, message: str, code: str | None = None) -> Refused:
    return Refused(400, message, param=param, code=code)
