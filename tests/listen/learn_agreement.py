"""What the bounds of `s2mlx.listen.agreement` catch: `python -m tests.listen.learn_agreement [--rows FILE] [--print]`

The bundled voice speaks the sentences of its card, in each of its voices, as they are; and broken on purpose: words
left out or said twice, the half of a sentence, words of another behind it, another one instead. A recognizer hears
them, and a table tells how many would be spoken again. --rows: a file that what was heard is kept in, and read from
where it has it already; --print: only what is in that file.
"""

import argparse
import json
import random
import sys
from collections import defaultdict
from pathlib import Path

import s2mlx
from s2mlx.files.folders import assets_dir
from s2mlx.listen import compare, find_ear, wrong
from s2mlx.weights.catalog import DEMO

VOICES = (None, "clara", "marcus", "bruno", "nora", "robin")
KINDS = {
    "clean": "as written",
    "skip": "{} left out",
    "double": "{} said twice",
    "half": "the first half alone",
    "invented": "four words more",
    "other": "another sentence",
}


def sentences():
    sys.path.insert(0, str(assets_dir() / "nano"))
    from recipe.held_out import EVERYDAY, LONGER

    return [*EVERYDAY, *LONGER], len(EVERYDAY)


def broken(text, other, draw):
    """(how, the words that are spoken instead) of each way in which a model goes wrong."""
    words, others = text.rstrip(".?!").split(), other.rstrip(".?!").split()
    for count in (1, 2, 3):
        if len(words) >= count + 2:
            at = draw.randrange(1, len(words) - count + 1)
            yield f"skip{count}", words[:at] + words[at + count :]
            at = draw.randrange(0, len(words) - count + 1)
            yield f"double{count}", words[: at + count] + words[at:]
    yield "half", words[: max(1, len(words) // 2)]
    yield "invented", words + others[:4]
    yield "other", others


def plan(texts, everyday):
    """(how, voice, seed, the text that is wanted, what is spoken) of each try; half of the broken ones of each text."""
    for voice in VOICES:
        for i, text in enumerate(texts[:everyday] if voice else texts):
            yield f"clean {voice or 'no voice'}", voice, 1000 + i, text, text
    draw = random.Random(3)
    for i, text in enumerate(texts):
        ways = list(broken(text, texts[(i + 7) % len(texts)], draw))
        chosen = [way for j, way in enumerate(ways) if (i + j) % 2 == 0] if i < everyday else ways[:6:2] + ways[1:6:4]
        for how, words in chosen:
            yield how, None, 1000 + i, text, " ".join(words).strip(" ,") + "."


def rows(kept, only_kept):
    """{"how", "wanted", "spoken", "heard", "finish"}; what is in the file `kept` is read, the rest is made."""
    done = {}
    if kept and kept.exists():
        for line in kept.read_text().splitlines():
            row = json.loads(line)
            done[row["how"], row["spoken"]] = row
    if only_kept:
        yield from done.values()
        return
    ear = find_ear()
    with s2mlx.load(DEMO) as tts:
        for how, voice, seed, wanted, spoken in plan(*sentences()):
            if (how, spoken) not in done:
                audio = tts.say(spoken, voice=voice, seed=seed)
                heard = ear.hear(audio.samples, audio.sample_rate).text
                row = {"how": how, "wanted": wanted, "spoken": spoken, "heard": heard, "finish": audio.finish_reason}
                if kept:
                    with kept.open("a") as file:
                        print(json.dumps(row), file=file)
                done[how, spoken] = row
            yield done[how, spoken]


def table(found):
    """Lines: how many of each kind would be spoken again."""
    counts = defaultdict(lambda: [0, 0, 0, 0])
    for row in found:
        compared = compare(row["wanted"], row["heard"])
        count = counts[row["how"]]
        for i, value in enumerate((1, bool(wrong(compared, row["wanted"])), compared.errors, compared.words)):
            count[i] += value
    yield "| speech | passes | spoken again | word error rate |"
    yield "|---|--:|--:|--:|"
    for how, (passes, again, errors, words) in sorted(counts.items(), key=lambda item: _order(item[0])):
        yield f"| {_name(how)} | {passes} | {again} | {errors / words:.2f} |"


def _order(how):
    return next(i for i, kind in enumerate(KINDS) if how.startswith(kind)), how


def _name(how):
    kind = next(kind for kind in KINDS if how.startswith(kind))
    rest = how[len(kind) :].strip()
    words = {"1": "a word", "2": "two words", "3": "three words"}.get(rest, rest)
    return KINDS[kind].format(words) + (f", {words}" if "{" not in KINDS[kind] and words else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--print", action="store_true")
    args = parser.parse_args()
    print("\n".join(table(rows(args.rows, args.print))))


if __name__ == "__main__":
    main()
