from .pace import estimate_seconds as estimate_seconds
from .read_aloud import SENTENCES_TO_READ as SENTENCES_TO_READ
from .read_aloud import languages as languages
from .read_aloud import sentences_to_read as sentences_to_read
from .sentences import split_sentences as split_sentences
from .splitting import Span as Span
from .splitting import split_passes as split_passes
from .splitting import split_turns as split_turns
