"""Words before they are tokens: turns of speakers, sentences, and the passes in which a long text is spoken.

Everything here is about characters of one string: a span is [begin, end), spans follow each other without a gap, and
together they are the text. Knows no model and no tokenizer.
"""

from .pace import estimate_seconds
from .passes import Span, split_passes, split_turns
from .sentences import sentences

__all__ = ["Span", "estimate_seconds", "sentences", "split_passes", "split_turns"]
