"""The JSON of a request: what is taken, what is refused and with which words."""

import json

import pytest

from s2mlx.options import Options
from s2mlx.server.refused import Refused
from s2mlx.server.speech_request import MOST_CHARACTERS, SpeechRequest, parse_speech


def parse(strict=False, **fields):
    return parse_speech(json.dumps({"input": "Hello.", **fields}).encode(), strict=strict)


def test_the_least_and_the_most():
    assert parse() == SpeechRequest("Hello.")
    numbers = dict(temperature=0.5, top_p=1, top_k=0, seed=2**64 - 1, max_frames=9, min_frames=2, pause_ms=0)
    request = parse(
        model="tts-1", voice="alloy", response_format="pcm", speed=1.0, stream_format="sse", instructions="", **numbers
    )
    assert request == SpeechRequest("Hello.", "tts-1", "alloy", "pcm", True, Options(**numbers))


def test_null_is_absent_and_a_voice_may_be_an_object():
    assert parse(voice=None, speed=None, seed=None, model=None) == SpeechRequest("Hello.")
    assert parse(voice={"id": "anna"}).voice == "anna"


@pytest.mark.parametrize(
    "fields, param, words",
    [
        ({"input": ""}, "input", "nothing to say"),
        ({"input": " \n"}, "input", "nothing to say"),
        ({"input": None}, "input", "nothing to say"),
        ({"input": "🙂"}, "input", "nothing to say"),
        ({"input": "... --- ***\u001b[0m"}, "input", "nothing to say"),
        ({"input": "\x1b[31m \x1b[0m"}, "input", "nothing to say"),
        ({"input": 7}, "input", "string"),
        ({"input": ["a"]}, "input", "string"),
        ({"input": "a\0b"}, "input", "NUL"),
        ({"input": "a\ud800"}, "input", "surrogate"),
        ({"input": "x" * (MOST_CHARACTERS + 1)}, "input", "16384 are the most"),
        ({"voice": 3}, "voice", "string"),
        ({"voice": {"id": 3}}, "voice", "string"),
        ({"voice": {"name": "x"}}, "voice", "string"),
        ({"voice": "a\0"}, "voice", "NUL"),
        ({"voice": "a" + "\u0301\u0316" * 30_000}, "voice", "256 characters"),
        ({"model": {}}, "model", "string"),
        ({"response_format": "aac"}, "response_format", "aac"),
        ({"response_format": "mp4"}, "response_format", "one of mp3"),
        ({"response_format": ["mp3"]}, "response_format", "one of mp3"),
        ({"stream_format": "ws"}, "stream_format", "one of audio, sse"),
        ({"check": "yes"}, "check", "true or false"),
        ({"check": True, "takes": 21}, "takes", "between 1 and 20"),
        ({"takes": 2}, "takes", "nothing without check"),
        ({"check": False, "takes": 2}, "takes", "nothing without check"),
        ({"speed": 0.4}, "speed", "speed must be between 0.5 and 2"),
        ({"speed": 2.1}, "speed", "speed must be between 0.5 and 2"),
        ({"speed": 1e999}, None, "JSON"),
        ({"speed": "1"}, "speed", "number"),
        ({"speed": True}, "speed", "number"),
        ({"temperature": "hot"}, "temperature", "number"),
        ({"temperature": 11}, "temperature", "between 0 and 10"),
        ({"temperature": 10**400}, "temperature", "between 0 and 10"),
        ({"top_p": 0}, "top_p", "above 0"),
        ({"top_k": 1.5}, "top_k", "whole number"),
        ({"top_k": True}, "top_k", "whole number"),
        ({"seed": -1}, "seed", "2^64"),
        ({"seed": 2**64}, "seed", "2^64"),
        ({"max_frames": 0}, "max_frames", "at least 1"),
        ({"pause_ms": 10_001}, "pause_ms", "between 0 and 10000"),
        ({"pause_ms": -1}, "pause_ms", "between 0 and 10000"),
        ({"max_frames": 5, "min_frames": 6}, "min_frames", "max_frames"),
    ],
)
def test_what_is_wrong_is_named(fields, param, words):
    with pytest.raises(Refused, match=words.replace("^", r"\^")) as caught:
        parse(**fields)
    assert caught.value.status == 400
    assert caught.value.body()["error"]["type"] == "invalid_request_error" and caught.value.param == param


def test_what_means_nothing_here_is_left_aside():
    request = parse(stream=True, instructions="Be kind.", user="me", speed=1, language=None)
    assert request == SpeechRequest("Hello.", ignored=("stream", "instructions", "user"))


@pytest.mark.parametrize(
    "fields, param, words",
    [
        ({"instructions": "Be kind."}, "instructions", "stage directions"),
        ({"instructions": 3}, "instructions", "stage directions"),
        ({"nonsense": 1}, "nonsense", "unknown field 'nonsense'"),
    ],
)
def test_strictly_it_is_refused(fields, param, words):
    with pytest.raises(Refused, match=words) as caught:
        parse(strict=True, **fields)
    assert caught.value.status == 400 and caught.value.param == param


def test_what_steers_a_terminal_is_not_spoken():
    assert parse(input="\x1b[31mred\x1b[0m and \x1b]8;;http://a\x07link\x1b]8;;\x07").text == "red and link"


def test_speed_is_the_rate():
    assert parse(speed=1.5).options == Options(rate=1.5) and parse(speed=2).options == Options(rate=2.0)
    assert parse(speed=1.0).options == Options()
    assert parse(rate=1.5) == SpeechRequest("Hello.", ignored=("rate",))  # that is not what OpenAI calls it


def test_a_format_may_be_in_any_case():
    request = parse(response_format="WAV", stream_format="SSE")
    assert request.format == "wav" and request.events


@pytest.mark.parametrize(
    "body, words",
    [
        (b"", "valid JSON"),
        (b"{", "valid JSON"),
        (b'{"input": "a" "b"}', "valid JSON"),
        (b"[1]", "JSON object"),
        (b'"text"', "JSON object"),
        (b"null", "JSON object"),
        (b'{"input": "caf\xe9"}', "UTF-8"),
        ('{"input": "x"}'.encode("utf-16"), "UTF-8"),
        (b"[" * 100_000, "nested"),
        (b'{"seed": ' + b"9" * 5000 + b"}", "JSON"),
        (b'{"input": "x", "speed": NaN}', "NaN"),
        (b'\xef\xbb\xbf{"input": "x"}', "JSON"),
    ],
)
def test_what_is_no_json_object(body, words):
    with pytest.raises(Refused, match=words) as caught:
        parse_speech(body)
    assert caught.value.status == 400


def test_the_longest_input_fits_the_body_limit():
    from s2mlx.server.routes import BODY_BYTES

    body = json.dumps({"input": "\U00020000" * MOST_CHARACTERS}).encode()
    assert len(body) < BODY_BYTES and len(parse_speech(body).text) == MOST_CHARACTERS
