"""Stage 4: tokenizer.json. Its normalizer turns words into phones, so the model never has to learn to spell.

A Sequence of Replace rules: the prompt's fixed strings -> one character each; lower case; numbers and signs -> words;
the lexicon's words -> phone characters; letter rules for all other words; punctuation -> one pause mark. The rest is
dropped. The model is a BPE without merges: one character, one token.
"""

import json

from . import config
from .lexicon import PHONES

FIRST_PHONE, FIRST_FIXED = 0xE000, 0xE100  # private-use characters
PAUSE = "\ue0ff"
START, END = "\ue0fd", "\ue0fe"  # a word's ends, while the letter rules run
CONTROL = ["<|im_start|>", "<|im_end|>", "<|voice|>", "<|pad|>", "<|audio_pad|>"]
FIXED = [
    "system\n",
    "user\n",
    "assistant\n",
    "convert the provided text to speech reference to the following:\n\nText:\n",
    "convert the provided text to speech",
    "\n\nSpeech:\n",
    "\n",
]
SPEAKER = chr(FIRST_FIXED + len(FIXED))
SEMANTIC_BEGIN, SEMANTIC = 128, 1024
PHONE_CHAR = {p: chr(FIRST_PHONE + i) for i, p in enumerate(PHONES)}
ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SIGNS = {
    "dr.": "doctor",
    "mr.": "mister",
    "mrs.": "missis",
    "ms.": "miss",
    "etc.": "and so on",
    "e.g.": "for example",
    "vs.": "versus",
    "&": " and ",
    "%": " percent ",
    "+": " plus ",
    "=": " equals ",
    "\u20ac": " euros ",
    "\u00a3": " pounds ",
    "@": " at ",
    "\u2019": "'",
    "\u2018": "'",
}


def replace(pattern, content, literal=False):
    return {"type": "Replace", "pattern": {"String" if literal else "Regex": pattern}, "content": content}


def year_rules():
    """1984 and 2026 in twos, 1900 and 1905 as people say them; with a comma inside it is a number."""
    rules, end = [], r"(?!\d|,\d)"
    for d in range(1, 10):
        year = rf"(?<![\d,.$])1{d}"
        rules += [
            replace(rf"{year}(?=[1-9]\d{end})", f" {TEENS[d]} "),
            replace(rf"{year}00{end}", f" {TEENS[d]} hundred "),
            replace(rf"{year}0(?=[1-9]{end})", f" {TEENS[d]} oh "),
        ]
    return rules + [replace(rf"(?<![\d,.$])20(?=[1-9]\d{end})", " twenty ")]


def money_rules():
    """$25 -> 25 dollars"""
    sums = "|".join(r"\$" + r"[\d.]" * n for n in range(1, 8))
    return [
        replace(r"(?<=\$\d),(?=\d{3})|(?<=\$\d\d),(?=\d{3})|(?<=\$\d\d\d),(?=\d{3})", ""),
        replace(rf"(?<={sums})(?<=\d)(?!\d|\.\d)", " dollars "),
        replace("$", "", True),
    ]


def number_rules():
    """Digits by their place: thousands, hundreds, tens; longer numbers and those with a leading zero digit by digit."""
    rules = [replace(r"(?<=\d) ?p\.?m\b\.?", " pee em "), replace(r"(?<=\d) ?a\.?m\b\.?", f" {PHONE_CHAR['ey']} em ")]
    rules += year_rules() + money_rules()
    rules += [
        replace(r"(?<=\d),(?=\d{3}(?!\d))", ""),
        replace(r"(?<=\d)\.(?=\d)", " point "),
        replace(r"(?<=\d):00", " o'clock"),
        replace(r"(?<=\d):(?=\d)", " "),
        replace(r"(?<=\d)(?:st|nd|rd|th)\b", ""),
    ]
    for d in range(10):  # numbers of five and more digits, and after a zero: every digit alone
        rules.append(replace(rf"(?<!\d){d}(?=\d{{4}})", f" {ONES[d]} "))
    rules.append(replace(r"(?<!\d)0(?=\d)", " zero "))
    for d in range(1, 10):
        rules.append(replace(rf"(?<!\d){d}(?=\d{{3}}(?!\d))", f" {ONES[d]} thousand "))
    rules.append(replace(r"(?<!\d)0+(?=[1-9])", " "))
    for d in range(1, 10):
        rules.append(replace(rf"(?<!\d){d}(?=\d\d(?!\d))", f" {ONES[d]} hundred "))
    rules += [replace(r"(?<= )0+(?=[1-9])", ""), replace(r"(?<= )0+(?!\d)", "")]
    for d in range(10):
        rules.append(replace(rf"(?<!\d)1{d}(?!\d)", f" {TEENS[d]} "))
    for d in range(2, 10):
        rules += [replace(rf"(?<!\d){d}0(?!\d)", f" {TENS[d]} "), replace(rf"(?<!\d){d}(?=\d(?!\d))", f" {TENS[d]} ")]
    return rules + [replace(str(d), f" {ONES[d]} ", True) for d in range(10)]


def build(lexicon):
    rules = [replace(text, chr(FIRST_FIXED + i), True) for i, text in enumerate(FIXED[:-1])]
    rules += [
        replace(r"<\|speaker:\d+\|>", SPEAKER),
        replace("^\n$", chr(FIRST_FIXED + len(FIXED) - 1)),
        replace(r"\[[^\]]*\]", " "),
        {"type": "NFKD"},
        {"type": "Lowercase"},
        {"type": "StripAccents"},
    ]
    rules += [replace(sign, word, True) for sign, word in SIGNS.items()] + number_rules()
    phones = {w: "".join(PHONE_CHAR[p] for p in said.split()) for w, said in lexicon["words"].items()}
    for word in sorted(phones, key=lambda w: ("'" not in w, w)):
        rules.append(replace(rf"\b{word}\b", phones[word]))
    rules += [
        replace(r"(?<![a-z])'|'(?![a-z])", ""),
        replace(r"(?<![a-z])(?=[a-z])", START),
        replace(r"(?<=[a-z])(?![a-z])", END),
    ]
    for chunk, said in lexicon["rules"]:
        content = "".join(PHONE_CHAR[p] for p in said.split())
        content = (START if chunk[0] == "^" else "") + content + (END if chunk[-1] == "$" else "")
        rules.append(replace(chunk.replace("^", START).replace("$", END), content, True))
    rules += [replace(r"[.,;:!?()\u2013\u2014\u2026\"\u201c\u201d-]+(?=[\s.,;:!?()\"\u201d-]|$)", PAUSE)]
    keep = "".join([*PHONE_CHAR.values(), PAUSE, SPEAKER, *(chr(FIRST_FIXED + i) for i in range(len(FIXED)))])
    rules += [
        replace(f"[^{keep}]+", ""),
        replace(f"{PAUSE}+", PAUSE),
        replace(f"^{PAUSE}", ""),
        replace(f"{PAUSE}$", ""),
    ]
    return rules


def vocabulary():
    """-> {token: id}: control tokens, phones, marks, spare ids, then the semantic range"""
    names = CONTROL + list(PHONE_CHAR.values()) + [PAUSE, SPEAKER] + [chr(FIRST_FIXED + i) for i in range(len(FIXED))]
    names += [f"<|spare:{i}|>" for i in range(SEMANTIC_BEGIN - len(names))]
    return {n: i for i, n in enumerate(names + [f"<|semantic:{i}|>" for i in range(SEMANTIC)])}


def run():
    lexicon = json.loads(config.work("lexicon.json").read_text())
    vocab = vocabulary()
    special = [
        dict(id=vocab[n], content=n, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
        for n in vocab
        if n in CONTROL or n.startswith("<|semantic:")
    ]
    model = dict(
        type="BPE",
        dropout=None,
        unk_token=None,
        continuing_subword_prefix=None,
        end_of_word_suffix=None,
        fuse_unk=False,
        byte_fallback=False,
        ignore_merges=False,
        vocab=vocab,
        merges=[],
    )
    path = config.work("tokenizer.json")
    path.write_text(
        json.dumps(
            dict(
                version="1.0",
                truncation=None,
                padding=None,
                added_tokens=special,
                normalizer=dict(type="Sequence", normalizers=build(lexicon)),
                pre_tokenizer=None,
                post_processor=None,
                decoder=None,
                model=model,
            ),
            ensure_ascii=True,
        )
    )
    config.note("tokenizer", rules=len(build(lexicon)), bytes=path.stat().st_size)


if __name__ == "__main__":
    run()
