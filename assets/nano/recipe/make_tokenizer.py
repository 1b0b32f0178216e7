"""Stage `tokenizer`: tokenizer.json. Its normalizer turns words into phones, so the model never has to learn to spell.

A Sequence of Replace rules: the prompt's fixed strings -> one character each; lower case; numbers and signs -> words;
the lexicon's words -> phone characters; letter rules for all other words; punctuation -> one pause mark; what else is
between words -> one mark of a gap. The model is a BPE without merges: one character, one token.
"""

import json

from . import config
from .lexicon import PHONE_CHAR

FIRST_FIXED = 0xE100  # private-use characters, behind those of the phones
PAUSE = "\ue0ff"
GAP = "\ue0f9"  # between two words
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
ALONE, ORDINAL = "\ue0fb", "\ue0fc"  # before a digit or letter that is said alone; after a number that names a place
LONGEST_ALONE = 12  # digits or letters in a row
SPELT = "AI API ATM BBQ CEO CIA CPU DIY EU FAQ FBI GPU HIV IBM IOU IQ OK UFO UK UN URL US USA USB VIP".split()
SAID = "BRR DR HMM MR MRS MS PSST SHH ST TSK VS".split()  # without a vowel, and no letters all the same
LETTERS = dict(
    A="ey", B="b iy", C="s iy", D="d iy", E="iy", F="eh f", G="jh iy", H="ey ch", I="ay", J="jh ey", K="k ey",
    L="eh l", M="eh m", N="eh n", O="ow", P="p iy", Q="k y uw", R="aa r", S="eh s", T="t iy", U="y uw", V="v iy",
    W="d ah b ax l y uw", X="eh k s", Y="w ay", Z="z iy",
)  # fmt: skip
SPEAKER = chr(FIRST_FIXED + len(FIXED))
SEMANTIC_BEGIN, SEMANTIC = 128, 1024
# Codes of the file that mean nothing and are never chosen. The first S2-nano had 1024: so a voice that it made is seen
# not to fit, and is made again from its clip, where else its codes would be taken for other sounds.
SPARE = 8
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
    """$25 -> 25 dollars, $1.50 -> 1 dollar 50"""
    whole, sums = ("|".join(r"\$" + digits * n for n in range(1, 12)) for digits in (r"[\d,]", r"[\d.,]"))
    return [
        replace(rf"(?<={whole})\.(?=\d\d(?!\d))", " dollars "),
        replace(rf"(?<={sums})(?<=\d)(?!\d|[.,]\d| dollars)", " dollars "),
        replace(r"\$1 dollars", "1 dollar"),
        replace("$", "", True),
    ]


def group_rules():
    """Commas between groups of three: 2,000,000 -> 2 million, 25,300 -> 25 thousand 300."""
    last = r"(?:,000|,00(?=\d)|,0(?=\d\d)|,(?=[1-9]\d\d))"
    return [
        replace(r"(?<=\d),(?:000|00(?=\d,)|0(?=\d\d,)|(?=\d{3},))(?=\d{0,3},\d{3}(?!\d|,\d))", " million "),
        replace(r"(?<=million ),000(?!\d)", ""),
        replace(rf"(?<=million ){last}(?!\d{{4}})", " "),
        replace(rf"(?<=\d)(?=,\d{{3}}(?!\d|,\d)){last}", " thousand "),
    ]


def alone_rules():
    """Every digit is said alone after a point, in numbers of five and more digits, and after a leading zero."""
    rules = [replace(r"(?<=\d)\.(?=\d)", " point " + ALONE), replace(r"(?<!\d)(?=\d{5})", ALONE)]
    rules.append(replace(rf"(?<![\d{ALONE}])(?=0\d)", ALONE))
    return rules + [replace(rf"(?<={ALONE}\d)(?=\d)", " " + ALONE)] * LONGEST_ALONE


def ordinal_rules():
    """What the mark of an ordinal makes of the word before it: twenty one + mark -> twenty first."""
    irregular = dict(one="first", two="second", three="third", five="fifth", eight="eighth", nine="ninth")
    irregular |= dict(twelve="twelfth") | {ten: ten[:-1] + "ieth" for ten in TENS[2:]}
    rules = [replace(rf"{word} *{ORDINAL}", nth) for word, nth in irregular.items()]
    return [*rules, replace(rf"(?<=[a-z]) *{ORDINAL}", "th "), replace(ORDINAL, "", True)]


def capital_rules():
    """Words in capitals that are said letter by letter: those without a vowel, and known ones."""
    spelt = rf"(?!(?:{'|'.join(SAID)})s?\b)(?:[B-DF-HJ-NP-TV-XZ]{{2,5}}|{'|'.join(SPELT)})"
    rules = [replace(rf"(?<![A-Za-z'])(?={spelt}(?:s|'s)?(?![A-Za-z]))", ALONE)]
    rules += [replace(rf"(?<={ALONE}[A-Z])(?=[A-Z])", " " + ALONE)] * LONGEST_ALONE
    for letter, said in LETTERS.items():
        rules.append(replace(ALONE + letter, " " + "".join(PHONE_CHAR[p] for p in said.split()) + " ", True))
    return rules


def number_rules():
    """Digits by their place: thousands, hundreds, tens."""
    rules = [replace(r"(?<=\d) ?p\.?m\b\.?", " pee em "), replace(r"(?<=\d) ?a\.?m\b\.?", f" {PHONE_CHAR['ey']} em ")]
    rules += [replace(r"(?<![\w.,])-(?=\d)", " minus "), replace(r"(?<=\d)(?:st|nd|rd|th)\b", ORDINAL)]
    rules += year_rules() + money_rules() + group_rules()
    rules += [replace(r"(?<=\d):00", " o'clock"), replace(r"(?<=\d):0(?=[1-9](?!\d))", " oh ")]
    rules += [replace(r"(?<=\d):(?=\d)", " "), *alone_rules()]
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
    rules += [replace(str(d), f" {ONES[d]} ", True) for d in range(10)]
    return rules + [replace(ALONE, "", True), *ordinal_rules()]


def build(lexicon):
    rules = [replace(text, chr(FIRST_FIXED + i), True) for i, text in enumerate(FIXED[:-1])]
    rules += [
        replace(r"<\|speaker:\d+\|>", SPEAKER),
        replace("^\n$", chr(FIRST_FIXED + len(FIXED) - 1)),
        replace(r"\[[^\]]*\]", " "),
        *capital_rules(),
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
    marks = "".join([SPEAKER, *(chr(FIRST_FIXED + i) for i in range(len(FIXED)))])
    keep = "".join(PHONE_CHAR.values()) + PAUSE + marks
    rules += [
        replace(f"[^{keep}]+", GAP),
        replace(f"{GAP}*{PAUSE}[{GAP}{PAUSE}]*", PAUSE),
        replace(f"^[{GAP}{PAUSE}]|[{GAP}{PAUSE}]$", ""),
        replace(f"(?<=[{marks}])[{GAP}{PAUSE}]|{GAP}(?=[{marks}])", ""),
    ]
    return rules


def vocabulary():
    """-> {token: id}: control tokens, phones, marks, spare ids, then the semantic range"""
    fixed = [chr(FIRST_FIXED + i) for i in range(len(FIXED))]
    names = [*CONTROL, *PHONE_CHAR.values(), PAUSE, SPEAKER, *fixed, GAP]
    names += [f"<|spare:{i}|>" for i in range(SEMANTIC_BEGIN - len(names))]
    return {n: i for i, n in enumerate(names + [f"<|semantic:{i}|>" for i in range(SEMANTIC + SPARE)])}


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
