"""Stage `lexicon`: pronunciations. flite's phones of common words, and letter rules learned from them for others."""

import collections
import json
import math
import re
import subprocess

from . import config, text

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
RULE_CHUNK = 5
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
    """-> [(chunk, phones)] longest chunk first; "^" and "$" in a chunk stand for the word's ends."""
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
    return sorted(rules.items(), key=lambda r: (-len(r[0]), r[0]))


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
    """As the tokenizer does it: every rule in turn, over the whole word. rules: learn_rules's list."""
    rest = list("^" + word + "$")
    for chunk, phones in rules:
        at = 0
        while at + len(chunk) <= len(rest):
            if rest[at : at + len(chunk)] == list(chunk):
                inner = list(phones)
                keep_end = ["$"] if chunk.endswith("$") else []
                keep_start = ["^"] if chunk.startswith("^") else []
                rest[at : at + len(chunk)] = keep_start + [(p,) for p in inner] + keep_end
                at += len(keep_start) + len(inner)
            else:
                at += 1
    return tuple(p[0] for p in rest if isinstance(p, tuple))


def run():
    words = text.common_words(config.LEXICON_WORDS + 4000)
    names = {w.lower() for key in ("NAME", "MONTH", "DAY") for w in text.LISTS[key]}
    listed = {w.lower() for value in text.LISTS.values() for item in value for w in re.findall("[A-Za-z]+", item)}
    held = {w for t in text.EVERYDAY + text.LONGER + text.HARDER for w in re.findall("[a-z]+", t.lower())}
    known = list(dict.fromkeys(words[: config.LEXICON_WORDS] + sorted(names | listed) + CONTRACTIONS))
    said = pronounce(sorted(set(words) | set(known)))
    said.update(IN_SENTENCES)
    known = [w for w in known if w in said]
    rules = learn_rules(align([(w, tuple(said[w].split())) for w in known if re.fullmatch("[a-z]{2,}", w)]))
    entries = {w: said[w] for w in known if " ".join(apply_rules(w, rules)) != said[w]}
    fresh = [w for w in words[config.LEXICON_WORDS :] if w not in known and w in said]
    right = wrong = 0
    for w in fresh:
        wanted = said[w].split()
        errors = distance(wanted, list(apply_rules(w, rules)))
        right += errors == 0
        wrong += errors / len(wanted)
    config.work("lexicon.json").write_text(json.dumps(dict(words=entries, rules=[(c, " ".join(p)) for c, p in rules])))
    config.note(
        "lexicon",
        words=len(known),
        listed=len(entries),
        rules=len(rules),
        unknown_words_right=round(right / len(fresh), 3),
        unknown_phone_errors=round(wrong / len(fresh), 3),
        held_out_words_unknown=len(held - set(known)),
    )


def distance(a, b):
    from .asr import distance as words_apart

    return words_apart(a, b)


if __name__ == "__main__":
    run()
