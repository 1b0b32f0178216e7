"""Training sentences: everyday templates and word salads over the common words (60 and 40 %), and of
more words (10 and 90 %). Our own text."""

import random
import re

from .held_out import EVERYDAY, HARDER, LONGER, RARE, REFERENCE, RUN_ON
from .wordlists import AVOID, AVOID_EXACT, LISTS, SALADS, TEMPLATES

SEED = 20
TEMPLATE_SHARE = 0.6
MAX_LETTERS = 72


def decent(word):
    return word not in AVOID_EXACT and not any(word.startswith(start) for start in AVOID)


def common_words(count):
    """The `count` most frequent plain lower-case English words."""
    from wordfreq import top_n_list

    found = [w for w in top_n_list("en", 3 * count) if re.fullmatch(r"[a-z]{2,13}|a|i", w)]
    return [w for w in found if re.search("[aeiouy]", w)][:count]


def key(text):
    return re.sub("[^a-z ]", "", text.lower())


class Writer:
    """Makes sentences that differ from each other and from the held-out ones."""

    def __init__(self, seed, salad_words, template_share=TEMPLATE_SHARE):
        self.random, self.template_share = random.Random(seed), template_share
        self.words = [w for w in salad_words if len(w) > 2]
        self.deck = []
        self.seen = {key(t) for t in [*EVERYDAY, *LONGER, *HARDER, *REFERENCE, *RARE, *RUN_ON]}

    def word(self):
        if not self.deck:
            self.deck = self.words[:]
            self.random.shuffle(self.deck)
        return self.deck.pop()

    def draft(self):
        if self.random.random() < self.template_share:
            template = self.random.choice(TEMPLATES)
            return re.sub(r"\{(\w+)\}", lambda m: self.random.choice(LISTS[m[1]]), template)
        return re.sub(r"\bX\b", lambda m: self.word(), self.random.choice(SALADS))

    def sentence(self):
        while True:
            text = self.draft()
            if len(text) <= MAX_LETTERS and key(text) not in self.seen:
                self.seen.add(key(text))
                return text[0].upper() + text[1:]


JOINTS = [
    ", and ",
    ", but ",
    ", so ",
    " because ",
    " when ",
    " while ",
    " and ",
    " before ",
    " after ",
    " until ",
    ", because ",
    ", if ",
]
LONG_LETTERS = (70, 140)


def long_sentence(writer):
    """Two or three statements made one."""
    while True:
        text = writer.sentence()[:-1]
        for _ in range(writer.random.choice((1, 1, 2))):
            more = writer.sentence()[:-1]
            text += writer.random.choice(JOINTS) + (more if more.startswith("I ") else more[0].lower() + more[1:])
        if LONG_LETTERS[0] <= len(text) <= LONG_LETTERS[1]:
            return text + "."


def corpus(count, long_count, varied_count, seed=SEED, words=5000, varied_words=20000):
    """`count` sentences, `long_count` long ones, then `varied_count` of words from a larger list, one in four long."""
    known = [w for w in common_words(varied_words + 10000) if decent(w)]
    writer = Writer(seed, known[:words])
    plain = [writer.sentence() for _ in range(count)] + [long_sentence(writer) for _ in range(long_count)]
    varied = Writer(seed + 1, known[:varied_words], template_share=0.1)
    varied.seen |= writer.seen
    return plain + [long_sentence(varied) if i % 4 == 3 else varied.sentence() for i in range(varied_count)]
