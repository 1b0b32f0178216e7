"""What a check heard of a speech, told to people and to programs."""

from __future__ import annotations

from typing import Any

from ..results import Hearing, Pass, Tally

_NAMED = 5  # passes whose words are shown


def summary(tally: Tally) -> str:
    """The end of the last line, ", heard with word error rate 0.02, 3 passes in 4 takes"; empty without a check."""
    heard = [one.heard for one in tally.passes if one.heard is not None]
    if not heard:
        return ""
    rate = sum(one.errors for one in heard) / max(1, sum(one.words for one in heard))
    takes = sum(one.takes for one in heard)
    return f", heard with word error rate {rate:.2f}, {_count(len(heard), 'pass')} in {_count(takes, 'take')}"


def remarks(tally: Tally, texts: dict[int, str]) -> list[str]:
    """A line for each pass that was not heard as it is written; texts: what these say, by number."""
    lines = []
    for one in tally.wrong[:_NAMED]:
        assert one.heard is not None
        words = repr(texts[one.index].strip()[:40])
        differences = "; ".join(map(str, one.heard.differences[:_NAMED]))
        lines.append(f"{words} ...: {differences} (best of {_count(one.heard.takes, 'take')})")
    if (more := len(tally.wrong) - _NAMED) > 0:
        lines.append(f"{more} more of {len(tally.passes)} passes were not heard as they are written")
    return lines


def unheard(tally: Tally) -> int:
    """How many passes the recognizer could not hear, as they are in a language that it does not know."""
    return sum(one.heard is None and one.frames > 0 for one in tally.passes)


def as_dict(one: Pass) -> dict[str, Any]:
    """Of one pass, for programs."""
    heard = one.heard or Hearing("", 0, 0, takes=0)
    return {
        "heard": heard.text if one.heard else None,
        "word_error_rate": round(heard.word_error_rate, 4) if one.heard else None,
        "takes": heard.takes or None,
        "right": heard.right if one.heard else None,
        "differences": [{"kind": d.kind, "wanted": d.wanted, "heard": d.heard} for d in heard.differences],
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}{'es' if what.endswith('s') else 's'}"
