"""Ids against those of the reference tokenizer, odd text, tokens typed by users, damaged files."""

from __future__ import annotations

import dataclasses
import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend

from s2mlx.config import ModelConfig
from s2mlx.errors import ModelError, UsageError
from s2mlx.text.tokenizer import find_tokenizer, load_tokenizer
from tests.goldens import GOLDEN, SHARED, TINY

CASES = json.loads((GOLDEN / "tokens.json").read_text())["strings"]
CONTROL = [
    "<|im_start|>",
    "<|im_end|>",
    "<|voice|>",
    "<|semantic:5|>",
    "<|semantic:255|>",
    "<|endoftext|>",
    "<|pad|>",
    "<|phoneme_start|>",
    "<|audio_pad|>",
]


@pytest.mark.parametrize(
    "case", [c for c in CASES if not any(s in c["text"] for s in CONTROL)], ids=lambda c: repr(c["text"])
)
def test_same_ids_as_the_reference(tokenizer, case):
    assert tokenizer.encode(case["text"]) == case["hf"]


def test_control_tokens_by_name(tokenizer):
    named = json.loads((GOLDEN / "tokens.json").read_text())
    assert tokenizer.special("<|im_start|>") == named["im_start"]
    assert tokenizer.special("<|im_end|>") == named["im_end"]
    assert tokenizer.special("<|voice|>") == named["voice"]
    assert tokenizer.special("<|semantic:255|>") == TINY.semantic_end
    with pytest.raises(ModelError, match="no token <|semantic:256|>"):
        tokenizer.special("<|semantic:256|>")


@pytest.mark.parametrize("name", CONTROL)
@pytest.mark.parametrize("form", ["{}", "a{}b", "{0}{0}", " {} ", "<{}>", "<|{}|>"])
def test_typed_control_tokens_stay_text(tokenizer, name, form):
    text = form.format(name)
    ids = tokenizer.encode(text)
    assert max(ids) < 1000  # control tokens begin there
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize(
    "text", ["<|speaker:0|>Hi", "[whisper] hi", "<think>x</think>", "<tool_call>", "<|fim_prefix|>"]
)
def test_every_added_token_of_the_real_file_stays_text(real_tokenizer, text):
    ids = real_tokenizer.encode(text)
    assert max(ids) < 151643
    assert real_tokenizer.decode(ids) == text


def test_all_added_tokens_of_the_real_file(real_tokenizer):
    for name in real_tokenizer._added:
        assert max(real_tokenizer.encode(name)) < 151643, name


ODD = [
    "😀👍🏽👨‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿🇩🇪🇩",
    "e\u0301\u0323\u0302 q\u0307\u0323",
    "a" + "\u0301" * 200,
    "你好，世界。「引用」𠮷野家",
    "한국어 조합 ㅎㅏㄴ",
    "ﷺ مرحبا ۱۲۳",
    "नमस्ते क्ष्म",
    "\x00\x01\x1b[31m\x7f\x85",
    "\u200b\u200d\ufeff\u2028\u2029\u202e",
    "\r\n\r\r\n\t",
    "\ufffd\ufffe\uffff\U0010ffff",
    "ａｂｃ ①② ﬁ Å",
    "x" * 5000,
    "   ",
    "\U000e0001\U0001f3fb",
]


@pytest.mark.parametrize("text", ODD, ids=lambda t: ascii(t[:12]))
def test_odd_text_comes_back(real_tokenizer, text):
    assert real_tokenizer.decode(real_tokenizer.encode(text)) == unicodedata.normalize("NFC", text)


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_comes_back(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == unicodedata.normalize("NFC", text)
    assert all(i < 1000 for i in ids)


@pytest.mark.parametrize("text", ["\ud800", "ab\udcffc", "\ud83d\ude00"])
def test_lone_surrogates_are_refused(tokenizer, text):
    with pytest.raises(UsageError, match="not valid Unicode at character"):
        tokenizer.encode(text)


def test_decode_names_an_unknown_id(tokenizer):
    with pytest.raises(ValueError, match="99999"):
        tokenizer.decode([1, 99999])
    with pytest.raises(ValueError, match="-1"):
        tokenizer.decode([-1])


def test_agreement_with_the_config(tokenizer):
    with pytest.raises(ModelError, match=r"<\|semantic:0\|> is 1012 there and 151678 in the model"):
        tokenizer.check(ModelConfig())
    with pytest.raises(ModelError, match=r"<\|semantic:256\|> is absent there"):
        tokenizer.check(dataclasses.replace(TINY, semantic_end=1268))
    with pytest.raises(ModelError, match="beyond the model's 1005"):
        tokenizer.check(dataclasses.replace(TINY, vocab_size=1005))
    with pytest.raises(ModelError, match="does not belong"):
        load_tokenizer(GOLDEN / "tokenizer.json", ModelConfig())


# --- files ---------------------------------------------------------------------------------------------------------

GOOD = json.loads((GOLDEN / "tokenizer.json").read_text())


def without(*names):
    return {**GOOD, "added_tokens": [t for t in GOOD["added_tokens"] if t["content"] not in names]}


@pytest.mark.parametrize(
    "content, complaint",
    [
        (b"", "not a tokenizer file"),
        (b"\xff\xfe\x00", "not UTF-8 at byte 0"),
        (b"{}", "no model"),
        (b"[" * 100_000, "not a tokenizer file"),
        (b"GGUF" + bytes(100), "not a tokenizer file"),
        ((GOLDEN / "tokenizer.json").read_bytes()[:30_000], "not a tokenizer file"),
        (json.dumps({**GOOD, "model": None}).encode(), "it has no model"),
        (b"[1]", "it has no model"),
        (json.dumps({**GOOD, "model": {**GOOD["model"], "type": "Unigram"}}).encode(), "not BPE"),
        # the library aborts the process on this one
        (
            json.dumps({**GOOD, "model": {**GOOD["model"], "continuing_subword_prefix": "a"}}).encode(),
            "no continuing_subword_prefix",
        ),
        (json.dumps({**GOOD, "model": {**GOOD["model"], "dropout": 0.5}}).encode(), "no dropout"),
        (
            json.dumps({**GOOD, "model": {**GOOD["model"], "vocab": {"a": 1 << 40}}}).encode(),
            "an id is not a number below",
        ),
        (json.dumps({**GOOD, "model": {**GOOD["model"], "vocab": ["a"]}}).encode(), "no vocabulary"),
        (json.dumps({**GOOD, "added_tokens": None}).encode(), "no added tokens"),
        (json.dumps({**GOOD, "added_tokens": [{"id": -1, "content": "x"}]}).encode(), "added token"),
        (json.dumps(without("<|im_end|>", "<|voice|>")).encode(), r"lacks <\|im_end\|>, <\|voice\|>; use the one"),
        (json.dumps({**GOOD, "added_tokens": []}).encode(), r"lacks <\|im_start\|>"),
    ],
)
def test_damaged_files(tmp_path, content, complaint):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=complaint) as caught:
        load_tokenizer(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def replace(pattern, content="b", kind="Regex"):
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


SPLIT = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
FOREIGN = {
    "a character map": (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
        "is 'Precompiled'; known",
    ),
    "a map in a sequence": (
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Precompiled"}]}},
        "is 'Precompiled'; known",
    ),
    "a sequence in a sequence": (
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": []}]}},
        "is 'Sequence'; known",
    ),
    "no list": ({"normalizer": {"type": "Sequence", "normalizers": {}}}, "no list"),
    "no part": ({"normalizer": "NFC"}, "is None; known"),
    "a part of no type": ({"normalizer": {}}, "is None; known"),
    "a type that is none": ({"normalizer": {"type": ["NFC"]}}, "known: NFC"),
    "another normalizer": ({"normalizer": {"type": "BertNormalizer"}}, "known: NFC"),
    "an empty pattern": ({"normalizer": replace("")}, "no pattern, or an empty one"),
    "an empty text for a pattern": ({"normalizer": replace("", kind="String")}, "no pattern, or an empty one"),
    "another pattern": ({"normalizer": replace("a", kind="Glob")}, "no pattern, or an empty one"),
    "two patterns": (
        {"normalizer": {"type": "Replace", "pattern": {"String": "a", "Regex": "b"}, "content": "c"}},
        "no pattern, or an empty one",
    ),
    "content that is no text": ({"normalizer": replace("a", 3)}, "the content of its normalizer Replace is 3"),
    "long content": ({"normalizer": replace("a", "b" * 1001)}, "puts in 1001 characters"),
    "no expression": ({"normalizer": replace("([")}, "Oniguruma error"),
    "another pre-tokenizer": ({"pre_tokenizer": {"type": "Metaspace"}}, "known: ByteLevel, Split"),
    "an empty split": ({"pre_tokenizer": SPLIT | {"pattern": {"Regex": ""}}}, "no pattern, or an empty one"),
    "another post-processor": ({"post_processor": {"type": "TemplateProcessing"}}, "known: ByteLevel"),
    "a sequence of post-processors": ({"post_processor": {"type": "Sequence", "processors": []}}, "known: ByteLevel"),
    "another decoder": ({"decoder": {"type": "WordPiece"}}, "known: ByteLevel"),
    "a flag that is none": ({"decoder": BYTES | {"use_regex": 1}}, "the use_regex of its decoder ByteLevel is 1"),
    "bytes to fall back to": ({"model": {**GOOD["model"], "byte_fallback": True}}, "no byte_fallback"),
}


def loaded(folder, change):
    (folder / "tokenizer.json").write_text(json.dumps({**GOOD, **change}))
    return load_tokenizer(folder)


@pytest.mark.parametrize("change, complaint", FOREIGN.values(), ids=FOREIGN)
def test_parts_that_no_tokenizer_of_ours_has_are_refused_by_name(tmp_path, change, complaint):
    with pytest.raises(ModelError, match=complaint) as caught:
        loaded(tmp_path, change)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    "part", [{"normalizer": replace("(x+)+$")}, {"pre_tokenizer": SPLIT | {"pattern": {"Regex": "(x|xx)+c"}}}]
)
def test_a_panic_of_the_library_is_an_error_as_any_other(tmp_path, part):
    """It panics where an expression takes too many tries, and a panic is no `Exception`."""
    tokenizer = loaded(tmp_path, part)
    with pytest.raises(ModelError, match="not a tokenizer file that can be used: .*retry-limit"):
        tokenizer.encode(60 * "x" + "b")
    assert tokenizer.encode("y")


@pytest.mark.parametrize("expression", ["y*", "^", "c|"])
def test_an_expression_that_matches_nothing_at_the_start(tmp_path, expression):
    """On these the library panics when it normalizes and splits in one go."""
    assert loaded(tmp_path, {"normalizer": replace(expression, "")}).encode("xaay")


def test_replacements_that_grow_and_grow_are_stopped(tmp_path):
    """Three of them make 10^9 characters of one."""
    steps = [replace("a", "a" * 1000, "String")] * 3
    tokenizer = loaded(tmp_path, {"normalizer": {"type": "Sequence", "normalizers": steps}})
    with pytest.raises(ModelError, match="more than 64 times as long"):
        tokenizer.encode("a" * 100)
    assert tokenizer.decode(tokenizer.encode("xyz")) == "xyz"


def test_a_watched_normalizer_does_what_the_library_does(tmp_path):
    steps = [
        replace("&", " and ", "String"),
        {"type": "NFKD"},
        {"type": "StripAccents"},
        {"type": "Lowercase"},
        replace(r"(?<=\d),(?=\d{3})", ""),
        replace("(?<=a)(?!b)", " dollars "),
        replace("1", " one ", "String"),
    ]
    change = {"normalizer": {"type": "Sequence", "normalizers": steps}}
    ours, theirs = loaded(tmp_path, change), Backend.from_str(json.dumps({**GOOD, **change}))
    theirs.encode_special_tokens = True
    for text in ("Ab & \u00c9a 1,234 \ufdfa \u0130", "", "a", "<|im_end|> 1"):
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "tokenizer.json"
    with open(path, "wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(ModelError, match="too much"):
        load_tokenizer(path)


def test_no_file(tmp_path):
    with pytest.raises(ModelError, match="no tokenizer at"):
        load_tokenizer(tmp_path / "nowhere.json")


def test_a_file_that_cuts_and_pads_is_not_obeyed(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(
        json.dumps(
            {**GOOD, "truncation": {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}}
        )
    )
    assert load_tokenizer(path).decode(load_tokenizer(path).encode("a long enough text")) == "a long enough text"


@given(st.data())
@settings(max_examples=120, deadline=None)
def test_mutated_files_load_or_raise_model_error(tmp_path_factory, data):
    raw = bytearray((GOLDEN / "tokenizer.json").read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, 3500) | st.integers(0, len(raw) - 1))
        piece = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"-", b"9999999999", b"null", b"[]", b"{", b'"', b"\\ud800"])
        )
        raw[at : at + data.draw(st.integers(0, 20))] = piece
    path = tmp_path_factory.mktemp("t") / "tokenizer.json"
    path.write_bytes(raw)
    try:
        loaded = load_tokenizer(path)
    except ModelError:
        return
    loaded.encode("Hello <|im_end|> 你好 [x] 3")


# --- where it is looked for ----------------------------------------------------------------------------------------


def place(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text("{}")
    return folder / "tokenizer.json"


def test_search_order(tmp_path, monkeypatch):
    model = tmp_path / "models" / "s2" / "model.gguf"
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    model.parent.mkdir(parents=True)
    with pytest.raises(ModelError) as caught:
        find_tokenizer(model)
    for folder in (model.parent, model.parent.parent, here):
        assert str(folder) in str(caught.value)
    expected = place(here)
    assert find_tokenizer(model) == expected
    expected = place(model.parent.parent)
    assert find_tokenizer(model) == expected
    expected = place(model.parent)
    assert find_tokenizer(model) == expected
    assert find_tokenizer(model.parent) == expected  # a checkpoint folder


def test_search_from_a_relative_path(tmp_path, monkeypatch):
    expected = place(tmp_path)
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert find_tokenizer("model.gguf") == expected


def test_search_follows_a_link(tmp_path, monkeypatch):
    expected = place(tmp_path / "store")
    (tmp_path / "store" / "model.gguf").touch()
    (tmp_path / "links" / "deep").mkdir(parents=True)
    (tmp_path / "links" / "deep" / "m.gguf").symlink_to(tmp_path / "store" / "model.gguf")
    monkeypatch.chdir(tmp_path / "links" / "deep")
    assert find_tokenizer("m.gguf") == expected


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is not in this checkout")
def test_whole_golden_folder_has_it(tokenizer):
    assert find_tokenizer(SHARED / "golden" / "tiny-f16.gguf").parent.name == "golden"
