"""Words before they are tokens: turns of speakers, sentences, and the passes in which a long text is spoken.

Everything here is about characters of one string: a span is [begin, end), spans follow each other without a gap, and
together they are the text. Knows no model and no tokenizer.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
