"""Stage `lexicon`: pronunciations. flite's phones of common words, and letter rules for others, learned from many."""

import collections
import json
import math
import re
import subprocess

from . import config, text
from .dictionary import Dictionary

PHONES = [
    "aa",
    "ae",
    "ah",
    "ao",
    "aw",
    "ax",
    "ay",
    "b",
    "ch",
    "d",
    "dh",
    "eh",
    "er",
    "ey",
    "f",
    "g",
    "hh",
    "ih",
    "iy",
    "jh",
    "k",
    "l",
    "m",
    "n",
    "ng",
    "ow",
    "oy",
    "p",
    "r",
    "s",
    "sh",
    "t",
    "th",
    "uh",
    "uw",
    "v",
    "w",
    "y",
    "z",
    "zh",
]
PHONE_CHAR = {p: chr(0xE000 + i) for i, p in enumerate(PHONES)}  # private-use characters
CHAR_PHONE = {c: p for p, c in PHONE_CHAR.items()}
IN_SENTENCES = {"a": "ax", "the": "dh ax", "of": "ah v", "from": "f r ah m", "or": "ao r"}  # not as when said alone
CONTRACTIONS = [
    "i'm",
    "i've",
    "i'd",
    "i'll",
    "it's",
    "that's",
    "what's",
    "there's",
    "here's",
    "he's",
    "she's",
    "we're",
    "we've",
    "we'll",
    "you're",
    "you've",
    "you'll",
    "they're",
    "they've",
    "don't",
    "doesn't",
    "didn't",
    "isn't",
    "aren't",
    "wasn't",
    "weren't",
    "can't",
    "couldn't",
    "won't",
    "wouldn't",
    "shouldn't",
    "haven't",
    "hasn't",
    "let's",
    "o'clock",
    "who's",
    "where's",
    "how's",
    "i'd",
    "he'll",
    "she'll",
    "it'll",
    "we'd",
    "they'd",
    "they'll",
]
VOICE = "rms"
RULE_WORDS = config.size(90000, 4000)  # the most frequent ones, of which rules are learned
HELD_OUT = 20  # of those that are not listed every so many-th is not learned of, and tells how well others come out
RULE_CHUNK = 6
RULE_GAIN = 4  # a rule must get at least so many more words right than it breaks


def pronounce(words, batch=40):
    """-> {word: "ph on es"} as flite says each word alone"""
    found = {}
    for at in range(0, len(words), batch):
        part = words[at : at + batch]
        done = subprocess.run(
            ["flite", "-voice", VOICE, "-ps", "-o", "none", "-t", " ".join(w + "." for w in part)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        spoken = [s.strip() for s in re.split(r"\bpau\b", done) if s.strip()]
        if len(spoken) == len(part):
            found.update(zip(part, spoken))
        elif len(part) > 1:
            found.update(pronounce(part, 1))
    return found


def align(pairs, rounds=5):
    """pairs [(letters, phones)] -> for each the phones of every letter (0, 1 or 2 of them), by expectation maximization
    on best paths."""
    score = collections.defaultdict(lambda: math.log(1e-4))
    aligned = []
    for turn in range(rounds):
        aligned, count = [], collections.Counter()
        for word, phones in pairs:
            n, m = len(word), len(phones)
            best = [[-1e9] * (m + 1) for _ in range(n + 1)]
            came = [[0] * (m + 1) for _ in range(n + 1)]
            best[0][0] = 0.0
            for i in range(n):
                for j in range(max(0, m - 2 * (n - i)), min(m, 2 * i) + 1):
                    for take in (0, 1, 2):
                        if j + take <= m:
                            s = best[i][j] + (
                                score[word[i], phones[j : j + take]] if turn else -abs(i / n - j / m) - (take != 1)
                            )
                            if s > best[i + 1][j + take]:
                                best[i + 1][j + take], came[i + 1][j + take] = s, take
            if best[n][m] < -1e8:
                continue
            j, parts = m, []
            for i in range(n, 0, -1):
                parts.append(phones[j - came[i][j] : j])
                j -= came[i][j]
            parts.reverse()
            aligned.append((word, parts))
            count.update(zip(word, parts))
        total = collections.Counter()
        for (letter, _), c in count.items():
            total[letter] += c
        score = collections.defaultdict(
            lambda: math.log(1e-4), {k: math.log(c / total[k[0]]) for k, c in count.items()}
        )
    return aligned


def learn_rules(aligned):
    """-> {chunk: phones} longest chunk first; "^" and "$" in a chunk stand for the word's ends."""
    seen = collections.defaultdict(collections.Counter)
    for word, parts in aligned:
        letters, marked = "^" + word + "$", [()] + [tuple(p) for p in parts] + [()]
        for i in range(len(letters)):
            for n in range(1, RULE_CHUNK + 1):
                chunk = letters[i : i + n]
                if len(chunk) == n and chunk.strip("^$"):
                    seen[chunk][sum(marked[i : i + n], ())] += 1
    rules = {}
    for chunk in sorted(seen, key=lambda c: (len(c), c)):
        best, right = seen[chunk].most_common(1)[0]
        if len(chunk.strip("^$")) == 1 and len(chunk) == 1:
            rules[chunk] = best
            continue
        if right >= RULE_GAIN and right > 0.6 * sum(seen[chunk].values()):
            usual = spell(chunk, rules)
            if usual != best and right - seen[chunk][usual] >= RULE_GAIN:
                rules[chunk] = best
    return dict(sorted(rules.items(), key=lambda rule: (-len(rule[0]), rule[0])))


def spell(chunk, rules):
    """What shorter rules make of the letters, longest first from the left."""
    out, i = (), 0
    while i < len(chunk):
        if chunk[i] in "^$" and not any(chunk[i : i + n] in rules for n in range(2, len(chunk) - i + 1)):
            i += 1
            continue
        for n in range(len(chunk) - i, 0, -1):
            if chunk[i : i + n] in rules and n < len(chunk):
                out += rules[chunk[i : i + n]]
                i += n
                break
        else:
            i += 1
    return out


def apply_rules(word, rules):
    """As the tokenizer does it: every rule in turn, over the whole word. rules: those of `learn_rules`. -> phones"""
    rest = "^" + word + "$"
    for chunk, phones in rules.items():
        if chunk in rest:
            said = "".join(map(PHONE_CHAR.get, phones))
            rest = rest.replace(chunk, "^" * chunk.startswith("^") + said + "$" * chunk.endswith("$"))
    return tuple(CHAR_PHONE[c] for c in rest if c in CHAR_PHONE)


def run():
    words = text.common_words(RULE_WORDS)
    names = {w.lower() for key in ("NAME", "MONTH", "DAY") for w in text.LISTS[key]}
    listed = {w.lower() for value in text.LISTS.values() for item in value for w in re.findall("[A-Za-z]+", item)}
    held = {w for t in text.EVERYDAY + text.LONGER + text.HARDER for w in re.findall("[a-z]+", t.lower())}
    known = list(dict.fromkeys(words[: config.LEXICON_WORDS] + sorted(names | listed) + CONTRACTIONS))
    said = pronounce(sorted(known)) | IN_SENTENCES
    said = {w: tuple(said[w].split()) for w in known if w in said}
    look = Dictionary().pronounce
    others = {w: phones for w in words if w not in said and (phones := tuple(look(w)))}
    fresh = set(list(others)[::HELD_OUT])
    learned = {w: phones for w, phones in (said | others).items() if re.fullmatch("[a-z]{2,}", w) and w not in fresh}
    rules = learn_rules(align(list(learned.items())))
    entries = {w: " ".join(phones) for w, phones in said.items() if apply_rules(w, rules) != phones}
    errors = [distance(others[w], apply_rules(w, rules)) for w in fresh]
    config.work("lexicon.json").write_text(
        json.dumps(dict(words=entries, rules=[(chunk, " ".join(phones)) for chunk, phones in rules.items()]))
    )
    config.note(
        "lexicon",
        words=len(said),
        listed=len(entries),
        rules=len(rules),
        unknown_words_right=round(errors.count(0) / len(fresh), 3),
        unknown_phone_errors=round(sum(e / len(others[w]) for e, w in zip(errors, fresh)) / len(fresh), 3),
        held_out_words_unknown=len(held - set(said)),
    )


def distance(a, b):
    from .asr import distance as words_apart

    return words_apart(a, b)


if __name__ == "__main__":
    run()
