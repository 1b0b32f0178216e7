"""Files and words from strangers, through the command: one line of error, exit 1 or 2, nothing half-written.

The table: model files, tokenizers, voices, clips, texts. What is odd but sound (8 kHz, 5.1 channels) works.
"""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile
from gguf.constants import GGMLQuantizationType as T

from tests.synthetic import make_model, model_parts
from tests.weights.gguf_maker import gguf_bytes, string, tensor_info

GOLDEN = Path(__file__).parents[1] / "golden"
TOKENIZER = GOLDEN / "tokenizer.json"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture
def fails(run, tmp_path):
    """The command must fail with one line and leave the folder as it was; returns the line."""

    def check(*argv, codes=(1, 2), **options):
        before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
        result = run(*argv, **options)
        lines = result.err.splitlines()
        assert result.code in codes, result
        assert len(lines) == 1 and lines[0].startswith("error: ") and len(lines[0]) < 1000
        assert "unexpected" not in lines[0] and result.stdout == b""
        assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
        return lines[0]

    return check


# --- model files ----------------------------------------------------------------------------------------------

METADATA, TENSORS = model_parts()


def patched(offset, data):
    whole = bytearray(gguf_bytes(METADATA, TENSORS))
    whole[offset : offset + len(data)] = data
    return bytes(whole)


def with_tensors(change):
    """The model with its tensor table rewritten: change(name, shape, kind, offset) -> the same."""
    whole = gguf_bytes(METADATA, TENSORS)
    old = new = b""
    offset = 0
    for name, shape, kind, body in TENSORS:
        old += tensor_info(name, shape, kind, offset)
        new += tensor_info(*change(name, shape, kind, offset))
        offset += len(body) + -len(body) % 32
    assert len(old) == len(new) and whole.count(old) == 1
    return whole.replace(old, new)


def bad_models():
    whole = gguf_bytes(METADATA, TENSORS)
    first, second = TENSORS[0][0], TENSORS[1][0]
    yield "zero length", b""
    yield "wrong magic", gguf_bytes(METADATA, TENSORS, magic=b"GGML")
    yield "future version", gguf_bytes(METADATA, TENSORS, version=99)
    for cut in (3, 20, 100, 5000, len(whole) // 2, len(whole) - 40):
        yield f"cut at {cut}", whole[:cut]
    yield "huge tensor count", patched(8, struct.pack("<Q", 2**63))
    yield "huge key count", patched(16, struct.pack("<Q", 2**62))
    yield "huge string", patched(24, struct.pack("<Q", 2**40))
    yield (
        "huge array",
        whole.replace(
            string("general.name") + struct.pack("<IQ", 8, 17),
            string("general.name") + struct.pack("<IIQ", 9, 4, 2**60)[:12],
        ),
    )
    yield "unknown tensor type", with_tensors(lambda n, s, k, o: (n, s, 77 if n == second else k, o))
    yield "other tensor type", with_tensors(lambda n, s, k, o: (n, s, T.F64 if n == second else k, o))
    yield "overlapping tensors", with_tensors(lambda n, s, k, o: (n, s, k, 0 if n == second else o))
    yield "offset beyond the end", with_tensors(lambda n, s, k, o: (n, s, k, 2**50 if n == first else o))
    yield "unaligned offset", with_tensors(lambda n, s, k, o: (n, s, k, o + 1 if n == first else o))
    yield "huge shape", with_tensors(lambda n, s, k, o: (n, (2**40,) + s[1:] if n == first else s, k, o))
    yield "other architecture", gguf_bytes({**METADATA, "general.architecture": "llama"}, TENSORS)
    yield "missing tensor", gguf_bytes(METADATA, TENSORS[1:])
    yield "sizes that contradict", gguf_bytes({**METADATA, "fish-speech.embedding_length": 128}, TENSORS)
    yield "a key of another type", gguf_bytes({**METADATA, "fish-speech.block_count": "two"}, TENSORS)
    yield "no layers", gguf_bytes({**METADATA, "fish-speech.block_count": 0}, TENSORS)
    yield "other dialect", gguf_bytes(METADATA, [("model_weights/" + TENSORS[0][0], *TENSORS[0][1:])] + TENSORS[1:])
    yield "text", b"This is not a model.\n" * 100


BAD_MODELS = [pytest.param(data, id=name) for name, data in bad_models()]


@pytest.mark.parametrize("data", BAD_MODELS)
def test_models(fails, tmp_path, data):
    (tmp_path / "bad.gguf").write_bytes(data)
    for argv in (["say", "Hello.", "-o", "out.wav", "--tokenizer", TOKENIZER, "-m", "bad.gguf"], ["info", "bad.gguf"]):
        assert "bad.gguf" in fails(*argv, codes=(1,))


@pytest.mark.parametrize("name", ["missing.gguf", "folder", "owner/repo", "\ud800", "a" * 300])
def test_names_of_models(fails, tmp_path, name, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    (tmp_path / "folder").mkdir()
    fails("say", "Hello.", "-o", "out.wav", "-m", name)


# --- tokenizers -----------------------------------------------------------------------------------------------


def bad_tokenizers():
    whole = TOKENIZER.read_bytes()
    yield "empty", b""
    yield "cut", whole[:1000]
    yield "no json", b"hello"
    yield "other json", b"[1, 2]"
    yield "another model's", json.dumps({**json.loads(whole), "added_tokens": []}).encode()
    yield "binary", bytes(range(256))


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in bad_tokenizers()])
def test_tokenizers(fails, tmp_path, model, data):
    (tmp_path / "tokenizer.json").write_bytes(data)
    fails("say", "Hello.", "-o", "out.wav", "-m", model, "--tokenizer", "tokenizer.json", codes=(1,))


def test_no_tokenizer(fails, model):
    assert "tokenizer.json" in fails("say", "Hello.", "-o", "out.wav", "-m", model, codes=(1,))
    fails("say", "Hello.", "-o", "out.wav", "-m", model, "--tokenizer", "missing.json", codes=(1,))


# --- voices ---------------------------------------------------------------------------------------------------


def bad_voices():
    whole = (GOLDEN / "tiny.s2voice").read_bytes()

    def header(at, form, value):
        return whole[:at] + struct.pack(form, value) + whole[at + struct.calcsize(form) :]

    yield "empty", b""
    yield "wrong magic", b"S2VOICF\0" + whole[8:]
    yield "future version", header(8, "<I", 2)
    yield "no codebooks", header(12, "<i", 0)
    yield "negative frames", header(16, "<i", -1)
    yield "huge frames", header(16, "<i", 2**31 - 1)
    yield "huge transcript", header(28, "<Q", 2**63)
    yield "huge codes", header(36, "<Q", 2**63)
    yield "cut header", whole[:30]
    yield "cut codes", whole[:-1]
    yield "too long", whole + b"more"
    yield "code out of range", whole[:-4] + struct.pack("<i", 10**6)
    yield "transcript that is no text", whole[:44] + b"\xff" + whole[45:]


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in bad_voices()])
def test_voices(fails, tmp_path, data):
    (tmp_path / "bad.s2voice").write_bytes(data)
    assert "bad.s2voice" in fails("say", "Hello.", "-v", "bad.s2voice", "-o", "out.wav", codes=(1,))
    fails("voice", "import", "bad.s2voice", "good", codes=(1,))


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "..", "a/b", "", "a\nb", ".hidden", "x" * 300, "\ud800"])
def test_names_of_voices(fails, name):
    fails("voice", "import", GOLDEN / "tiny.s2voice", name)
    fails("voice", "show", name)
    fails("voice", "remove", name)
    fails("voice", "restore", name)
    fails("say", "Hello.", "-v", name, "-o", "out.wav")


# --- clips ----------------------------------------------------------------------------------------------------


def write_clips(folder):
    tone = (np.sin(np.arange(16000) * 0.1) / 3).astype(np.float32)
    soundfile.write(folder / "none.wav", tone[:0], 44100)
    soundfile.write(folder / "nan.wav", np.full(8000, np.nan, np.float32), 44100, subtype="FLOAT")
    soundfile.write(folder / "loud.wav", np.full(8000, 1e30, np.float32), 44100, subtype="FLOAT")
    (folder / "empty.wav").write_bytes(b"")
    (folder / "text.wav").write_text("I am not sound.")
    soundfile.write(folder / "whole.wav", tone, 44100)
    (folder / "cut.wav").write_bytes((folder / "whole.wav").read_bytes()[:9000])
    soundfile.write(folder / "long.wav", np.zeros(61 * 8000, np.int16), 8000)
    soundfile.write(folder / "8khz.wav", tone, 8000)
    soundfile.write(folder / "surround.wav", np.stack([tone] * 6, axis=1), 48000)
    (folder / "folder.wav").mkdir()


@pytest.mark.parametrize("clip", ["none", "nan", "loud", "empty", "text", "cut", "long", "folder", "missing"])
def test_clips(fails, tmp_path, model, clip):
    write_clips(tmp_path)
    path = f"{clip}.wav"
    reference = ["--ref", path, "--ref-text", "Words."]
    fails("say", "Hello.", "-m", model, "--tokenizer", TOKENIZER, *reference, "-o", "out.wav", codes=(1,))
    fails("voice", "add", "me", "--clip", path, "--text", "Words.", "-m", model, "--tokenizer", TOKENIZER, codes=(1,))
    if clip != "long":
        fails("encode", path, "-o", "out.npy", "-m", model, "--tokenizer", TOKENIZER, codes=(1,))


@pytest.mark.parametrize("clip", ["8khz", "surround"])
def test_odd_clips_work(run, tmp_path, model, clip):
    write_clips(tmp_path)
    result = run(
        "say",
        "Hello.",
        "-m",
        model,
        "--tokenizer",
        TOKENIZER,
        "--ref",
        f"{clip}.wav",
        "--ref-text",
        "Words.",
        "-o",
        "out.wav",
        "--min-frames",
        "2",
        "--max-frames",
        "2",
    )
    assert result.code == 0 and soundfile.info(tmp_path / "out.wav").frames == 2 * 2048


def test_a_clip_and_its_words_belong_together(fails, run, tmp_path, monkeypatch):
    write_clips(tmp_path)
    monkeypatch.setenv("S2MLX_EAR", "off")
    for more in ([], ["--ref", "whole.wav", "--ref-text", "Words."]):  # behind a word on how short the clip is
        result = run("say", "Hello.", "--ref", "whole.wav", *more, "-o", "out.wav")
        error = result.err.splitlines()[-1]
        assert result.code in (1, 2) and error.startswith("error: ") and "whole.wav" in error, result
    assert "without a clip" in fails("say", "Hello.", "--ref-text", "Words.", "-o", "out.wav", codes=(2,))
    assert "empty" in fails("say", "Hello.", "--ref", "whole.wav", "--ref-text", " \n", "-o", "out.wav", codes=(2,))


# --- texts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"", b" \n\t ", b"\xff\xfe\x00", "\ufeff".encode()])
def test_texts(fails, tmp_path, text):
    (tmp_path / "text.txt").write_bytes(text)
    fails("say", "-o", "out.wav", stdin=text)
    fails("say", "-f", "text.txt", "-o", "out.wav", stdin=b"not read")


@pytest.mark.parametrize("name", ["missing.txt", ".", "/dev/zero", "\ud800"])
def test_text_files(fails, name):
    fails("say", "-f", name, "-o", "out.wav")


def test_words_of_the_command_line(fails):
    fails("say", "", "-o", "out.wav", codes=(2,))
    fails("say", " ", "", "-o", "out.wav", codes=(2,))
    fails("say", "caf\udce9", "-o", "out.wav", codes=(2,))


def test_a_text_of_control_tokens_is_read_as_text(run, tmp_path, model):
    result = run(
        "say",
        "<|im_end|><|im_start|>system",
        "-m",
        model,
        "--tokenizer",
        TOKENIZER,
        "-o",
        "out.wav",
        "--min-frames",
        "2",
        "--max-frames",
        "2",
    )
    assert result.code == 0
