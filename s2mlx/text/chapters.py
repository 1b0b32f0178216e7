"""Where a long text has its paragraphs and chapters."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from .controls import clean_text
from .markdown import MarkdownReader
from .words import has_words

PARAGRAPH, CHAPTER = "paragraph", "chapter"
_EMPTY_LINE = regex.compile(r"\n[^\S\n]*\n\s*|\f\s*")
# A line of its own: Markdown's first two ranks; or, behind an empty line and with a capital, the word for a chapter
# with a number, a colon or nothing behind it: prose begins lines with "Part of me" too.
_HEADING = regex.compile(
    r"""^(?: \#{1,2}[ ]+\S.*
      | (?<=\A\s*|\n[^\S\n]*\n\s*|\f\s*) (?=\p{Lu})
        (?i:chapter|part|book|prologue|epilogue|kapitel|teil|prolog|epilog|chapitre|partie|cap[ií]tulo|parte|capitolo
          |hoofdstuk|deel|rozdział|глава|часть|κεφάλαιο)
        (?: [^\S\n]* | [^\S\n]*:.{0,80}
          | [^\S\n]+ (?: \d+ | [IVXLCDM]+ | [Α-Ω]ʹ? | (?i:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve
              |thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty(?:-\w+)?|thirty(?:-\w+)?|the[ ]first
              |the[ ]second|the[ ]third|the[ ]last|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|un|une
              |deux|trois|quatre|cinq|sept|huit|neuf|dix|premi[eè]re?|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve
              |diez|primer[oa]|segund[oa]|tercer[oa]|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|prim[oa]|second[oa]
              |terz[oa]|een|één|twee|vijf|zes|zeven|negen|tien|pierwszy|drugi|trzeci|czwarty|piąty
              |(?:перв|втор|трет|четв|пят|шест|седьм|восьм|девят|десят)\w{2,6}) )
            (?: [^\S\n]* | [^\S\n]*[.:,)—–-].{0,80} | [^\S\n]+[\p{Lu}\p{Pi}"(].{0,80} )
        )
      | 第.{1,8}[章回部卷].{0,60}
    )$""",
    regex.VERBOSE | regex.MULTILINE,
)


def read_chapters(text: str) -> tuple[str, list[int]]:
    """The words of a text in Markdown, and where in them its chapters begin."""
    reader = MarkdownReader()
    words = reader.write(text) + reader.close()
    return words, reader.chapters


def split_text(text: str, how: str | None, chapters: Iterable[int] = ()) -> list[tuple[int, int]]:
    """[begin, end) of each part; together they are the text. One without words goes with the next, the last with the
    one before. how: PARAGRAPH, CHAPTER or None for the whole. chapters: places where some begin without a sign."""
    if how == PARAGRAPH:
        places = [found.end() for found in _EMPTY_LINE.finditer(text)]
    elif how == CHAPTER:
        places = sorted({*(found.start() for found in _HEADING.finditer(text)), *chapters})
    else:
        places = []
    parts: list[tuple[int, int]] = []
    begin = 0
    for end in [*(at for at in places if 0 < at < len(text)), len(text)]:
        if has_words(clean_text(text[begin:end])):
            parts.append((begin, end))
            begin = end
    if begin < len(text) and parts:
        parts[-1] = (parts[-1][0], len(text))
    return parts or [(0, len(text))]
