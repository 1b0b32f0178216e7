"""Where sentences end, in any script that marks it. A rule-based reader that would rather miss an end than invent one.

A break is the place just before a character; white space after a sentence belongs to it.
"""

from __future__ import annotations

import enum
import unicodedata

import regex

from .abbreviations import BEFORE_COUNT, BEFORE_NUMBER, NEVER_LAST, SELDOM_LAST, STARTERS
from .marks import SPEAKER_TAG, TAG, inside_tags
from .words import has_words


class Strength(enum.IntEnum):
    """How well a text bears a break. From SENTENCE up a pause may be heard there."""

    GRAPHEME = 0
    ANY_SPACE = 1  # after an abbreviation, between groups of digits, a word or two behind a tag
    SPACE = 2
    PHRASE = 3  # before words that belong together
    OPENER = 4  # where a clause begins, unmarked
    CLAUSE = 5
    SENTENCE = 6
    PARAGRAPH = 7


_NEWLINE = r"(?:\r\n|[\n\r\x85\u2028\u2029])"
# The marks of sentence ends in Unicode's own table, and the ellipsis.
_MARK = r"\p{Sentence_Break=STerm}\p{Sentence_Break=ATerm}…‥"
_STOP = regex.compile(
    rf"""
    (?P<marks>[{_MARK}][{_MARK}\p{{M}}\u200d]* | \u037e | (?<=\p{{Greek}}\p{{M}}*);)   # ";" asks in Greek
    (?P<note>\[\d{{1,3}}\])?                                  # a footnote
    (?P<close>(?:[\p{{Pe}}\p{{Pf}}"'”’]|[\p{{Pi}}](?=[\s\p{{P}}]|\Z))*[\p{{M}}\u200d]*)
    (?P<far>[ \u00a0\u202f]»(?=[\s.,;:!?]|\Z))?               # « Oui. »
    (?P<gap>\s*)
""",
    regex.VERBOSE,
)
# Marks that need no space after them. ASCII ones do: they stand inside numbers, names of files, addresses.
_WIDE = regex.compile(r"[\p{Sentence_Break=STerm}．&&[^!?‼⁇⁈⁉‽]]", regex.V1)
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_LINE_END = regex.compile(rf"{_NEWLINE}\s*")
_NEWLINES = regex.compile(_NEWLINE)
# What may stand before a sentence's first letter: quotes, brackets, dashes, bullets, tags.
_OPENING = regex.compile(rf"(?:{TAG.pattern}|[\s\p{{Ps}}\p{{Pi}}\p{{Pf}}\p{{Pd}}\"'„‚¿¡*_#>•·])*")
_LIST_ITEM = regex.compile(r"[-*•·–—]\s|\p{Nd}{1,3}[.)]\s")
_LINE_START = regex.compile(r"(?:\A|[\n\r\u2028\u2029])[^\S\n\r]*\Z")
_TOKEN = regex.compile(r"[^\s\p{Ps}\p{Pi}\p{Pf}\"'—–,;：，、…]*\Z")
_WORD_BEFORE = regex.compile(r"(\S{1,20}?)\.?[^\S\n\r]+\Z")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]+")
_NO_INITIAL = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_QUOTE = regex.compile(r"[\"'\p{Pf}」』»]")
_CLINGS = regex.compile(r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]")
_VIRAMA = 9  # its class among combining characters
_COUNTING = BEFORE_NUMBER | BEFORE_COUNT
_WRAPPED = 50  # characters; a line this long that ends in no mark was broken by its width


def split_sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of a text, [begin, end) of each; what has no words goes with the sentence before it."""
    places = [0, *sorted(sentence_breaks(text)), len(text)]
    return list(zip(places, places[1:])) if text else []


def sentence_breaks(text: str, begin: int = 0, has_capitals: bool | None = None) -> dict[int, Strength]:
    """Places inside the text where a sentence or paragraph begins, each SENTENCE or PARAGRAPH.

    begin: a break that was found before, from where on they are wanted; what stands before it is looked back at.
    has_capitals: whether there are any, if more than this text is known of the whole."""
    inside = inside_tags(text)
    # Text without capitals (chats, transcripts) tells nothing by a small letter after a full stop.
    if has_capitals is None:
        has_capitals = any(c.isupper() for c in text)
    found: dict[int, Strength] = {}
    for line in _LINE_END.finditer(text):
        if len(_NEWLINES.findall(line.group())) > 1:
            found[line.end()] = Strength.PARAGRAPH
        elif _line_ends_sentence(text, line.start(), line.end()):
            found[line.end()] = Strength.SENTENCE
    for stop in _STOP.finditer(text):
        if not inside[stop.start()] and _ends_sentence(text, stop, has_capitals):
            at = stop.end() if stop.group("gap") else _before_opener(text, stop)
            found.setdefault(at, Strength.SENTENCE)
    for tag in SPEAKER_TAG.finditer(text):
        found[tag.start()] = Strength.PARAGRAPH
    usable = {
        at: how for at, how in found.items() if begin < at < len(text) and not inside[at] and not clings(text, at)
    }
    return _with_words(text, usable, begin)


def clings(text: str, at: int) -> bool:
    """Whether the character at `at` continues the one before: a mark, a joiner, a letter behind a virama, the second
    half of a line end."""
    joined = at > 0 and unicodedata.combining(text[at - 1]) == _VIRAMA and text[at : at + 1].isalpha()
    return joined or _CLINGS.match(text, at) is not None or text[at - 1 : at + 1] == "\r\n"


def _with_words(text: str, breaks: dict[int, Strength], begin: int) -> dict[int, Strength]:
    """Without the breaks that would leave a sentence of punctuation, or of tags, alone."""
    kept: dict[int, Strength] = {}
    last = begin
    tagged = False
    for at in [*sorted(breaks), len(text)]:
        silent = not has_words(text[last:at], tags=False)  # and so is [begin, last)
        tagged |= silent and has_words(text[last:at])
        turn_begins, turn_ends = begin == 0 or SPEAKER_TAG.match(text, begin), SPEAKER_TAG.match(text, at)
        last = at
        if silent and tagged and turn_ends and turn_begins:
            pass  # a turn of its own
        elif silent and (turn_begins or (tagged and not turn_ends and at < len(text))):
            continue  # goes with what follows
        elif silent:
            del kept[begin]  # goes with what is before
        if at < len(text):
            kept[at] = breaks[at]
        begin, tagged = at, False
    return kept


def _ends_sentence(text: str, stop, has_capitals: bool) -> bool:
    after = stop.end()
    if after == len(text):
        return True
    marks, gap = stop.group("marks"), stop.group("gap")
    if not gap:
        return _ends_unspaced(text, stop)
    if len(_NEWLINES.findall(gap)) > 1:
        return True
    first = _first_letter(text, after)
    if has_capitals and first.islower():
        return False
    if _is_ellipsis(marks):
        return not first.isalpha() or first.isupper()
    if marks in ".．․﹒":
        return not _is_abbreviation(text, stop.start(), after)
    return True


def _first_letter(text: str, after: int) -> str:
    """The first character from `after` on that is no quote, bracket, dash or tag; empty at the end."""
    at = _OPENING.match(text, after).end()
    return text[at : at + 1]


def _ends_unspaced(text: str, stop) -> bool:
    """A mark with no space after it: an end in scripts that write without spaces."""
    marks, close, after = stop.group("marks"), stop.group("close"), stop.end()
    follows = text[after]
    if _is_ellipsis(marks):
        return False
    if marks[0] == "．" and (text[stop.start() - 1 : stop.start()].isdigit() or follows.isdigit()):
        return False
    if not any(_WIDE.match(c) for c in marks):
        return marks[-1] in "!?" and not close and _UNSPACED.match(follows) is not None
    if _before_opener(text, stop) < after:
        return True
    # 「走吧。」他说: what follows a closing quote at once still belongs to the sentence
    quoted = _QUOTE.search(close) is not None and follows.isalnum()
    return not quoted and follows not in "，、；：,;:"


def _before_opener(text: str, stop) -> int:
    """The end of an unspaced sentence: before a quote that follows it at once and opens the next one. A straight quote
    opens when none is open in its line."""
    at, close = stop.start("close"), stop.group("close")
    is_open = '"' in close and text.count('"', text.rfind("\n", 0, at) + 1, at) % 2 == 1
    for offset, character in enumerate(close):
        if character == "“" or (character == '"' and not is_open):
            return at + offset
        is_open ^= character == '"'
    return stop.end()


def _is_ellipsis(marks: str) -> bool:
    return all(c in "….‥．․" for c in marks) and (len(marks) > 1 or marks in "…‥")


def _is_abbreviation(text: str, stop: int, after: int) -> bool:
    """Whether the single full stop at `stop` belongs to the word before it. `after` is where the next word begins."""
    token = _TOKEN.search(text, max(0, stop - 40), stop).group()
    next_at = _OPENING.match(text, after).end()
    follows = text[next_at : next_at + 1]
    plain = token.casefold()
    if token.isdecimal():
        if len(token) <= 3 and _LINE_START.search(text, max(0, stop - 40), stop - len(token)):
            return True  # "1. First"
        # "am 3. Mai", "19. Jahrhundert": an ordinal, unless a word at either side speaks against it
        before = _WORD_BEFORE.search(text, max(0, stop - 40), stop - len(token))
        counted = before is not None and before[1].casefold() in _COUNTING
        return len(token) <= 2 and follows.isupper() and not counted and not _starts_sentence(text, next_at)
    if plain in NEVER_LAST:
        return True
    if plain in BEFORE_NUMBER and follows.isdecimal():
        return True
    parts = token.split(".")
    letters = regex.findall(r"\X", token)
    if len(letters) == 1 and token[0].isalpha() and not _NO_INITIAL.match(token):
        return not _starts_sentence(text, next_at)  # "J. R. R. Tolkien"
    if len(parts) > 1 and all(1 <= len(p) <= 3 and p.isalpha() for p in parts):
        return not _starts_sentence(text, next_at)  # "U.S.", "p.m."
    return plain in SELDOM_LAST and not _starts_sentence(text, next_at)


def _starts_sentence(text: str, at: int) -> bool:
    word = _WORD.match(text, at)
    return word is not None and word.group() in STARTERS and text[word.end() : word.end() + 1] != "."


def _line_ends_sentence(text: str, begin: int, end: int) -> bool:
    """Whether a line end that no mark precedes ends a sentence: a heading, a line of verse, an item of a list."""
    line_begin = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
    line = text[line_begin:begin].rstrip()
    if end == len(text) or not line:
        return False
    if _LIST_ITEM.match(text, end):
        return True
    last = line[-1]
    first = _first_letter(text, end)
    if last in ",;:，、；：،؛-–—" or first.islower():
        return False
    if regex.match(rf"[{_MARK}]", last):
        return False  # judged with its mark
    return len(line) < _WRAPPED or not first.isupper()
