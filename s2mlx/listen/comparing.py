"""Words compared as people hear them: what was to be said, what was heard, and where the two differ.

Word error rate: (replaced + missing + added words) / words wanted, by the alignment (Levenshtein) of fewest errors.
Words that are spelled apart but sound alike are the same, as are words written in one or in two ("every one").
"""

from __future__ import annotations

from dataclasses import dataclass

from .sounds import sound
from .spelling import SpelledWord, spelled

_MOST = 3  # words that may be one word on the other side
_Way = tuple[int, tuple[int, int, bool]]  # errors so far; words of each that the last step took, whether they are alike


@dataclass(frozen=True)
class Difference:
    """Words in a row that differ. kind: "missing", "added", "doubled" (added, and just said) or "instead".

    wanted, heard: as they stand in the two texts, either may be empty; span: their characters in the wanted text; of
    added words the place where they came, begin and end the same.
    """

    kind: str
    wanted: str
    heard: str
    span: tuple[int, int]

    def __str__(self) -> str:
        return {
            "missing": f'"{self.wanted}" was not heard',
            "added": f'"{self.heard}" was heard besides',
            "doubled": f'"{self.heard}" was heard twice',
            "instead": f'"{self.heard}" was heard for "{self.wanted}"',
        }[self.kind]


@dataclass(frozen=True)
class Comparison:
    """words: how many were wanted; missing, added, replaced: how many of them are wrong, in which way."""

    words: int
    missing: int = 0
    added: int = 0
    replaced: int = 0
    differences: tuple[Difference, ...] = ()

    @property
    def errors(self) -> int:
        return self.missing + self.added + self.replaced

    @property
    def rate(self) -> float:
        """Word error rate: 0 is perfect; more than 1 where much was added."""
        return self.errors / max(1, self.words)


def compare(wanted: str, heard: str, language: str = "en") -> Comparison:
    """Align two texts word by word. Tags such as `[laugh]` are no words."""
    left, right = spelled(wanted, language), spelled(heard, language)
    same = _Same(wanted, heard, left, right, english=language.partition("-")[0] == "en")
    steps = _steps(left, right, same)
    counts = {(1, 0): 0, (0, 1): 0, (1, 1): 0}
    differences: list[Difference] = []
    run: tuple[int, int] | None = None
    for m, n, right_step, i, j in [*steps, (0, 0, True, len(left), len(right))]:
        if not right_step:
            counts[m, n] += 1
            run = run or (i, j)
        elif run is not None:
            differences.append(_difference(wanted, heard, left, right, (run[0], i), (run[1], j)))
            run = None
    return Comparison(len(left), counts[1, 0], counts[0, 1], counts[1, 1], tuple(differences))


class _Same:
    """Whether some words of one text are some of the other."""

    def __init__(self, wanted: str, heard: str, left: list[SpelledWord], right: list[SpelledWord], english: bool):
        self._texts, self._words, self._english = (wanted, heard), (left, right), english

    def __call__(self, i: int, m: int, j: int, n: int) -> bool:
        a, b = ("".join(w.text for w in words[k : k + c]) for words, k, c in zip(self._words, (i, j), (m, n)))
        if a == b:
            return True
        if not self._english or (m > 1 and n > 1 and m + n > 4):
            return False
        for x in {" ".join(w.text for w in self._words[0][i : i + m]), self._raw(0, i, m)}:
            for y in {" ".join(w.text for w in self._words[1][j : j + n]), self._raw(1, j, n)}:
                if (phones := sound(x)) and phones == sound(y):
                    return True
        return False

    def _raw(self, side: int, at: int, count: int) -> str:
        """The words as they were written; empty if they are a part only of what stands there ("is" of "isn't")."""
        words = self._words[side]
        chosen = words[at : at + count]
        before, after = words[at - 1 : at] if at else [], words[at + count : at + count + 1]
        if any(w.begin == chosen[0].begin for w in before) or any(w.end == chosen[-1].end for w in after):
            return ""
        return self._texts[side][chosen[0].begin : chosen[-1].end].lower()


def _steps(left: list[SpelledWord], right: list[SpelledWord], same: _Same) -> list[tuple[int, int, bool, int, int]]:
    """The cheapest way through both: (words taken of each, whether they are the same, where it began), in order."""
    rows, columns = len(left) + 1, len(right) + 1
    cost = [[0] * columns for _ in range(rows)]
    way: list[list[tuple[int, int, bool]]] = [[(0, 0, True)] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            if i == j == 0:
                continue
            best: _Way | None = None
            if i and j:
                alike = left[i - 1].text == right[j - 1].text or same(i - 1, 1, j - 1, 1)
                best = (cost[i - 1][j - 1] + (not alike), (1, 1, alike))
                if not alike:
                    best = _joined(i, j, cost, same, best)
            for m, n in ((1, 0), (0, 1)):
                if i >= m and j >= n and (best is None or cost[i - m][j - n] + 1 < best[0]):
                    best = (cost[i - m][j - n] + 1, (m, n, False))
            assert best is not None
            cost[i][j], way[i][j] = best
    steps, i, j = [], rows - 1, columns - 1
    while i or j:
        m, n, alike = way[i][j]
        i, j = i - m, j - n
        steps.append((m, n, alike, i, j))
    return steps[::-1]


def _joined(i: int, j: int, cost: list[list[int]], same: _Same, best: _Way) -> _Way:
    """Words written in one here and in several there; `best` if there is nothing cheaper."""
    for m in range(1, _MOST + 1):
        for n in range(1, _MOST + 1):
            if m + n > 2 and i >= m and j >= n and cost[i - m][j - n] < best[0] and same(i - m, m, j - n, n):
                best = (cost[i - m][j - n], (m, n, True))
    return best


def _difference(
    wanted: str,
    heard: str,
    left: list[SpelledWord],
    right: list[SpelledWord],
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> Difference:
    """The one that spans these words of the two."""
    a, b = left[rows[0] : rows[1]], right[columns[0] : columns[1]]
    said = heard[b[0].begin : b[-1].end] if b else ""
    if a:
        span = a[0].begin, a[-1].end
        return Difference("instead" if b else "missing", wanted[slice(*span)], said, span)
    at = left[rows[0] - 1].end if rows[0] else 0
    n, texts = len(b), [word.text for word in right]
    here = texts[columns[0] : columns[1]]
    twice = here in (texts[max(0, columns[0] - n) : columns[0]], texts[columns[1] : columns[1] + n])
    return Difference("doubled" if twice else "added", "", said, (at, at))
