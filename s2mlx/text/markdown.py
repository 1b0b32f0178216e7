"""Markdown as words to read aloud, while it is still being written: language models write it.

Left out: code blocks, addresses, rules, the frames of tables, HTML, what a model thinks before it answers, and the
signs of headings, lists, quotes and emphasis. Kept: the words, those of a link or a picture, code inside a sentence,
the numbers of lists, and what is meant for the voice (`[tags]`, speaker tags).

As in CommonMark and GitHub's tables, but for what only the rest of the text would tell: nothing waits for longer than
its line or, inside a sentence, `_PATIENCE` characters.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

import regex

# How models mark what they think: what opens it, what closes it.
_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<longcat_think>": "</longcat_think>",
    "<|think:start|>": "<|think:end|>",
    "<|channel>thought": "<channel|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel|>commentary<|message|>": "<|end|>",
}
_PATIENCE = 600  # characters for which something that was begun is waited for; then it is plain words
_LONGEST_SIGN = 16  # characters that tell how a line begins

# Whole lines that are not words.
_BLANK = regex.compile(r"[ \t]*\r?\n")
_FENCE = regex.compile(r"[ \t]*(?:(?P<mark>`{3,})[^`\n]*|(?P<mark>~{3,})[^\n]*)\n")
_RULE = regex.compile(
    r"[ ]{0,3}(?:(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|(?:-[ \t]*+){2,}+|=++[ \t]*+)\r?\n"
    r"|[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+\r?\n"
)
_DEFINITION = regex.compile(r"[ ]{0,3}\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]*[^\s][^\n]*\n")
_INDENTED = regex.compile(r"(?:[ ]{4}|[ ]{0,3}\t)[^\n]*\n")
_ROW = regex.compile(r"[ \t]*\|(?P<cells>[^\n]*)\n")
_CELL_END = regex.compile(r"(?<!\\)\|")
# What lines of words begin with.
_WORD_FIRST = regex.compile(r"(?:\*{1,3}|_{1,3}|[\"'“(])?\p{L}")
_QUOTE = regex.compile(r"[ ]{0,3}>[ \t]?")
_HEADING = regex.compile(r"[ ]{0,3}#{1,6}(?:[ \t]{1,4}|(?=\r?\n))")
_ITEM = regex.compile(r"[ \t]*[-*+•][ \t]{1,4}(?:\[[ xX]\][ \t]{1,4})?")
_NUMBER = regex.compile(r"[ \t]*(?=\d{1,9}[.)][ \t])")
_NOTE = regex.compile(r"[ ]{0,3}\[\^[^\[\]\s]{1,9}\]:[ \t]?")
# Inside a line.
_PLAIN = regex.compile(r"(?:[^\\`*_~\[!&<hw\r\n#]+|(?<=[A-Za-z0-9])[hw])+")
_CODE = regex.compile(r"(?P<mark>`+)(?!`)(?P<words>(?:[^`\n]|\n(?![ \t]*\n)|(?!(?P=mark)(?!`))`+)*+)(?P=mark)(?!`)")
_LINK = regex.compile(
    r"!?\[(?P<words>(?:[^\[\]\n\\]|\\[^\n]|!?\[[^\[\]\n]*\](?:\([^()\n]*\))?)*+)\]"
    r"(?:\((?:[^()\n]|\([^()\n]*\))*+\)|\[\d{0,4}\])|(?P<words>)\[\^[^\[\]\s]{1,40}\]"
)
_ENTITY = regex.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_TRAIL = r".,;:!?'\")\]*_~"  # what behind an address belongs to the sentence
_WEB = regex.compile(
    rf"(?:https?://|www\.)(?:[{_TRAIL}]*+[!-~&&[^<>{_TRAIL}]])*+(?=[{_TRAIL}]*(?:[^!-~]|[<>]))", regex.V1
)
_ANGLE = regex.compile(
    rf"""(?P<speaker><\|?speaker:[0-9]{{1,4}}\|?>) | (?P<thought>{"|".join(map(regex.escape, _THOUGHTS))})
    | (?P<remark><!--) | (?P<line></?(?:br|p|li|div|tr|h[1-6]|hr)\s*/?>)
    | (?P<html><(?:/?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?|[A-Za-z][A-Za-z0-9+.-]+:[^\s<>]*|[^\s<>@|]+@[^\s<>@|]+)>)
    | (?P<control><\|channel\|>[a-z ]{{1,40}}<\|message\|>|<\|(?!channel\|?>|think:start)[^|<>\s]{{1,40}}\|>)""",
    regex.VERBOSE | regex.IGNORECASE,
)
_RUN = regex.compile(r"\*+|_+|~+")
_WORDLIKE = regex.compile(r"[\p{L}\p{M}\p{N}]")


class MarkdownReader:
    """Takes Markdown as it is written, gives back the words to speak: the same for the same text, however it is cut.

    thinking: the text begins within a thought, which the prompt has opened. chapters: where in the words the headings
    of the first two ranks begin.
    """

    def __init__(self, thinking: bool = False):
        self._text, self._at = "\n", 1  # what was written and is not read yet begins at `_at`; one character before
        self._closed = False
        self._until = "</think>" if thinking else None  # what ends the thought or the remark
        self._fence: str | None = None  # the marks that ended the block of code
        self._line_begins, self._after_blank, self._in_list, self._set_apart = True, True, False, False
        self._line_ends = 2  # how many the words so far end in
        self._given, self._chapter = 0, False  # how many characters they are; a chapter begins here
        self.chapters: list[int] = []

    def write(self, text: str) -> str:
        """More of the text. The words that are certain now."""
        self._text = self._text[self._at - 1 :] + text
        self._at = 1
        return self._read()

    def close(self) -> str:
        """The end of the text. The words that were held back."""
        added = self._text[-1] != "\n"
        self._closed = True
        words = self.write("\n" if added else "")
        return words.rstrip("\n") if added else words

    def _read(self) -> str:
        spoken = []
        while self._at < len(self._text) and (words := self._next()) is not None:
            spoken.append(self._spaced(words))
            self._given += len(spoken[-1])
            if self._chapter:
                self.chapters.append(self._given)
                self._chapter = False
        return "".join(spoken)

    def _spaced(self, words: str) -> str:
        """Two line ends tell of a new paragraph; what was left out leaves no more of them."""
        bare = words.lstrip("\n")
        words = "\n" * min(len(words) - len(bare), 2 - self._line_ends) + bare
        self._line_ends = (0 if bare else self._line_ends) + len(words) - len(words.rstrip("\n"))
        return words

    def _next(self) -> str | None:
        """Read one thing: its words. None while more must be known."""
        if self._until is not None:
            return self._thought(self._until)
        if self._fence is not None:
            return self._code_line(self._fence)
        return self._line_start() if self._line_begins else self._inline()

    def _take(self, end: int, words: str = "") -> str:
        """The text up to `end` is read, and means `words`."""
        self._at = end
        return words

    def _match(self, pattern: regex.Pattern, patience: int | None = None) -> regex.Match | None:
        """As it stands; `.partial` while it may become one."""
        end = len(self._text) if patience is None else min(len(self._text), self._at + patience)
        found = pattern.match(self._text, self._at, end, partial=True)
        final = self._closed or end < len(self._text)
        return pattern.match(self._text, self._at, end) if found is not None and found.partial and final else found

    # -- over lines

    def _thought(self, end: str) -> str | None:
        at = self._text.find(end, self._at)
        if at >= 0:
            self._until, self._line_begins = None, True
            return self._take(at + len(end))
        keep = 0 if self._closed else len(end) - 1
        return self._take(len(self._text) - keep) if len(self._text) - keep > self._at else None

    def _code_line(self, fence: str) -> str | None:
        end = self._text.find("\n", self._at) + 1
        if not end:
            return None
        line = self._text[self._at : end].strip(" \t\r\n>")
        if len(line) >= len(fence) and set(line) == set(fence):
            self._fence = None
        return self._take(end)

    # -- where a line begins

    def _line_start(self) -> str | None:
        if not _WORD_FIRST.match(self._text, self._at):
            shown = self._text[self._at : self._at + 2 * _LONGEST_SIGN].lstrip(" \t")
            if len(shown) < _LONGEST_SIGN and self._text.find("\n", self._at) < 0:
                return None
            for kind in (_BLANK, _FENCE, _RULE, _DEFINITION, _ROW, _INDENTED):
                if kind is _INDENTED and (self._in_list or not self._after_blank):
                    continue
                if found := self._match(kind):
                    return None if found.partial else self._line_without_words(kind, found)
            for kind in (_QUOTE, _HEADING, _ITEM, _NUMBER, _NOTE):
                if (found := self._match(kind)) and not found.partial:
                    return self._sign(kind, found.end())
        self._in_list &= not self._after_blank or self._text[self._at] in " \t"
        self._line_begins = self._after_blank = False
        return ""

    def _line_without_words(self, kind: regex.Pattern, found: regex.Match) -> str:
        self._after_blank = kind in (_BLANK, _INDENTED)
        if kind is _BLANK:
            return self._take(found.end(), "\n")
        if kind is _FENCE:
            self._fence = found["mark"]
        if kind is _ROW:
            cells = [inner for cell in _CELL_END.split(found["cells"]) if (inner := _inner(cell.strip()))]
            return self._take(found.end(), f"\n{', '.join(cells)}\n\n" if cells else "\n")
        return self._take(found.end(), "\n" if kind in (_FENCE, _RULE) else "")

    def _sign(self, kind: regex.Pattern, end: int) -> str:
        """Headings and items are set apart from what precedes them; behind a quote's sign a line begins."""
        self._after_blank = False
        if kind is _QUOTE:
            return self._take(end)
        self._line_begins = False
        self._in_list |= kind in (_ITEM, _NUMBER)
        self._set_apart = kind is _HEADING
        self._chapter = kind is _HEADING and self._text.count("#", self._at, end) <= 2
        return self._take(end, "\n")

    # -- inside a line

    def _inline(self) -> str | None:
        if found := _PLAIN.match(self._text, self._at):
            return self._take(found.end(), found.group())
        sign = self._text[self._at]
        if sign in "\r\n":
            return self._newline()
        if sign in "*_~":
            return self._emphasis()
        if sign == "\\":
            return self._escape()
        if sign == "#":
            return self._closing_sign()
        if sign == "<":
            return self._angle()
        kinds = {"`": _CODE, "[": _LINK, "!": _LINK, "&": _ENTITY, "h": _WEB, "w": _WEB}
        found = self._match(kinds[sign], _PATIENCE)
        if found is None:
            return self._take(self._at + 1, sign) if sign != "`" else self._take(self._end_of_run())
        if found.partial:
            return None
        words = ""
        if sign == "`":
            words = found["words"]
        elif sign == "&":
            words = html.unescape(found.group())
        elif sign in "[!":
            words = _inner(found["words"])
        return self._take(found.end(), words)

    def _newline(self) -> str | None:
        """A line end, once it is known to be a whole one."""
        if self._text[self._at] == "\r" and self._at + 1 == len(self._text) and not self._closed:
            return None
        end = self._at + (2 if self._text.startswith("\r\n", self._at) else 1)
        apart, self._set_apart = self._set_apart, False
        self._line_begins = True
        return self._take(end, "\n\n" if apart else "\n")

    def _end_of_run(self) -> int:
        end = self._at
        while end < len(self._text) and self._text[end] == self._text[self._at]:
            end += 1
        return end

    def _emphasis(self) -> str | None:
        """Asterisks and the like are signs beside a word; between words, or numbers, they are what they are."""
        end = self._end_of_run()
        if end == len(self._text) and not self._closed:
            return None
        run, before, after = self._text[self._at : end], self._text[self._at - 1], self._text[end : end + 1]
        if run[0] == "*":
            kept = before.isspace() and after.isspace() or before.isdigit() and after.isdigit()
        elif run[0] == "_":
            kept = _WORDLIKE.match(before) is not None and _WORDLIKE.match(after) is not None
        else:
            kept = len(run) == 1
        return self._take(end, run if kept else "")

    def _escape(self) -> str | None:
        after = self._text[self._at + 1 : self._at + 2]
        if not after:
            return None
        if after in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~":
            return self._take(self._at + 2, after)
        return self._take(self._at + 1, "" if after in "\r\n" else "\\")

    def _closing_sign(self) -> str | None:
        """`## Title ##`."""
        end = self._end_of_run()
        if not self._set_apart or self._text[self._at - 1] not in " \t":
            return self._take(end, self._text[self._at : end])
        while end < len(self._text) and self._text[end] in " \t":
            end += 1
        if end == len(self._text):
            return None
        return self._take(end, "" if self._text[end] in "\r\n" else self._text[self._at : end])

    def _angle(self) -> str | None:
        found = self._match(_ANGLE, _PATIENCE)
        if found is None:
            return self._take(self._at + 1, "<")
        if found.partial:
            return None
        words = {"speaker": found.group(), "line": "\n"}.get(found.lastgroup or "", "")
        if found["thought"]:
            self._until = _THOUGHTS[found["thought"].lower()]
        elif found["remark"]:
            self._until = "-->"
        return self._take(found.end(), words)


def _inner(words: str) -> str:
    """What stands in a link or a cell."""
    reader = MarkdownReader()
    reader._line_begins = False
    return reader.write(words) + reader.close()


def read_markdown(pieces: Iterable[str], thinking: bool = False) -> Iterator[str]:
    """The words to speak of Markdown that comes in pieces, as soon as they are certain. See `MarkdownReader`."""
    reader = MarkdownReader(thinking)
    for piece in pieces:
        if words := reader.write(piece):
            yield words
    if words := reader.close():
        yield words
