"""Text that comes in pieces is handed on by whole sentences, the same ones as if it had come at once."""

import asyncio

import pytest

from s2mlx.server.incoming_text import IncomingText
from s2mlx.server.refused import Refused
from s2mlx.server.speech_request import MOST_CHARACTERS
from s2mlx.text import split_sentences


async def parts(pieces, **options):
    """What each piece makes ready, and what the end does."""
    text, ready = IncomingText(None, **{"streamed": True, **options}), []

    async def take():
        while (part := await text.next()) is not None:
            ready.append(part)

    taking = asyncio.create_task(take())
    for piece in pieces:
        text.add(piece)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    text.end()
    await taking
    return ready


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith paid 3.50 dollars. Mr. Jones did not! Why? Nobody knows.",
        'She said: "Go away. Now." He went. The end',
        "你好。我们今天去公园走走,天气很好。晚上再见!",
        "First line\n\nSecond paragraph. It has two sentences.\nAnd a last line",
        "[whisper] Come closer. [laugh] Got you!",
    ],
)
async def test_letter_by_letter_it_is_the_same_sentences(text):
    assert await parts(text) == [text[begin:end] for begin, end in split_sentences(text)]


async def test_a_sentence_is_spoken_before_the_next_is_complete():
    text = IncomingText(None, streamed=True)
    text.add("It rains. We stay at ho")
    assert await text.next() == "It rains. "
    waiting = asyncio.create_task(text.next())
    text.add("me. Then we e")
    assert await waiting == "We stay at home. "
    text.add("at.")
    text.end()
    assert await text.next() == "Then we eat." and await text.next() is None


async def test_what_came_meanwhile_is_one_part():
    text = IncomingText(None, streamed=True)
    text.add("One. Two. Three. Fo")
    assert await text.next() == "One. Two. "  # "Fo" may yet be no word
    text.end()
    assert await text.next() == "Three. Fo"


async def test_what_has_no_words_waits_for_some():
    assert await parts(["... ", "\n\n", "🙂 ", "Hello. ", "Good-bye then. ", "..."]) == [
        "... \n\n🙂 Hello. ",
        "Good-bye then. ...",
    ]
    assert await parts(["...", " 🙂"]) == []
    assert await parts(["[laugh]"], tags=True) == ["[laugh]"]
    assert await parts(["[laugh]"], tags=False) == []


async def test_the_speaker_goes_on():
    assert await parts("<|speaker:1|>Hello you. How are you? <|speaker:0|>Well. And you?") == [
        "<|speaker:1|>Hello you. ",
        "<|speaker:1|>How are you? ",
        "<|speaker:0|>Well. ",
        "<|speaker:0|>And you?",
    ]


async def test_a_text_in_one_piece_is_one_part():
    assert await parts(["One here. Two there. Three."], streamed=False) == ["One here. Two there. Three."]


async def test_the_whole_is_bounded():
    text = IncomingText(None, streamed=True)
    text.add("A word. " * (MOST_CHARACTERS // 8 - 1))
    assert await text.next()
    text.add("x" * 8)
    with pytest.raises(Refused, match="split it"):
        text.add("x")
