"""The readers that get files from strangers, each with good files to begin with and files that broke it once.

A reader passes if it returns or raises one of its own errors, in one line. What it must not do: raise anything else,
end the process, take all memory, never return.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from s2mlx.errors import S2Error
from s2mlx.server.refused import Refused
from tests.goldens import GOLDEN

from .inputs import bytes_near, json_near

SEEDS = Path(__file__).with_name("seeds")
RATE = 16000


@dataclass(frozen=True)
class Target:
    """name: of the target, with which the names of its files in seeds/ begin. seeds: good inputs, and bad ones that are
    made here. read(data, folder): what is under test; `folder` is empty. inputs: a strategy made of the seeds. errors:
    what it may raise, in one line."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    read: Callable[[bytes, Path], object]
    inputs: Callable[[Sequence[bytes]], st.SearchStrategy[bytes]] = bytes_near
    errors: tuple[type[BaseException], ...] = (S2Error,)

    def all_seeds(self) -> list[bytes]:
        """Good ones first, then those of seeds/."""
        return [*self.seeds(), *(path.read_bytes() for path in sorted(SEEDS.glob(f"{self.name}-*")))]

    def strategy(self) -> st.SearchStrategy[bytes]:
        return self.inputs(self.all_seeds())

    def try_on(self, data: bytes, folder: Path) -> None:
        """AssertionError, or whatever the reader should not have raised."""
        try:
            self.read(data, folder)
        except self.errors as error:
            text = str(error)
            assert len(text.splitlines()) == 1 and len(text) < 2000, ascii(text)


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# --- models ----------------------------------------------------------------------------------------------------------


@cache
def gguf_seeds() -> list[bytes]:
    from tests.synthetic import model_parts
    from tests.weights.gguf_maker import gguf_bytes

    few = {"general.architecture": "fish-speech", "split.count": 2, "split.no": 0, "a": [1, 2], "b": "text", "c": 1.5}
    metadata, tensors = model_parts(layers=1, fast_layers=1, codec=False, vocab=1280)
    return [
        gguf_bytes(metadata, tensors),
        gguf_bytes(*model_parts(ar=False)),
        gguf_bytes(few, tensors[-2:]),
    ]


def read_gguf(data: bytes, folder: Path) -> None:
    from s2mlx.weights import describe, open_checkpoint

    with open_checkpoint(written(folder, "m-00001-of-00002.gguf", data)) as checkpoint:
        json.dumps(describe(checkpoint))


@cache
def safetensors_seeds() -> list[bytes]:
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b.weight": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]},
    }
    return [json.dumps(header).encode()]


def read_safetensors(data: bytes, folder: Path) -> None:
    """data: the header; its length is right, or the first word of it."""
    from s2mlx.weights.safetensors_file import read_safetensors

    for head in (struct.pack("<Q", len(data)), b""):
        for tensor in read_safetensors(written(folder, "m.safetensors", head + data + bytes(22))).values():
            assert tensor.region.data.nbytes <= len(data) + 40


@cache
def config_seeds() -> list[bytes]:
    from tests.weights.test_official import CONFIG

    packed = {"quantization": {"group_size": 32, "bits": 8, "a": {"group_size": 32, "bits": 4}}}
    return [json.dumps(CONFIG | packed).encode()]


def read_config(data: bytes, folder: Path) -> None:
    from s2mlx.weights import open_checkpoint

    written(folder, "config.json", data)
    header = {"text_model.model.norm.weight": {"dtype": "F32", "shape": [64], "data_offsets": [0, 256]}}
    text = json.dumps(header).encode()
    written(folder, "model.safetensors", struct.pack("<Q", len(text)) + text + bytes(256))
    open_checkpoint(folder)


@cache
def pickle_seeds() -> list[bytes]:
    from tests.weights.test_official import torch_file

    one = np.ones((4, 6), np.float32)
    whole = [torch_file({"a": one}), torch_file({"state_dict": {"generator.a": one, "b": one[0], "n": [1, 2.5, None]}})]
    return [_member(data, "codec/data.pkl") for data in whole]


def _member(archive: bytes, name: str) -> bytes:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        return file.read(name)


def read_pickle(data: bytes, folder: Path) -> None:
    """data: the pickle in a sound archive."""
    from s2mlx.weights.torch_file import read_torch
    from tests.weights.test_official import zipped

    path = written(folder, "codec.pth", zipped({"codec/data.pkl": data, "codec/data/0": bytes(96)}))
    for tensor in read_torch(path).values():
        assert tensor.region.data.nbytes <= 96


@cache
def pth_seeds() -> list[bytes]:
    from tests.weights.test_official import torch_file

    return [torch_file({"a": np.ones((4, 6), np.float32), "b": {"c": np.zeros(3, np.float32)}})]


def read_pth(data: bytes, folder: Path) -> None:
    from s2mlx.weights.torch_file import read_torch

    read_torch(written(folder, "codec.pth", data))


# --- tokens, codes, voices -------------------------------------------------------------------------------------------


@cache
def tokenizer_seeds() -> list[bytes]:
    whole = json.loads((GOLDEN / "tokenizer.json").read_bytes())
    model, added = whole["model"], whole["added_tokens"]
    few = {token: i for token, i in model["vocab"].items() if i < 260}
    small = whole | {
        "model": model | {"vocab": few, "merges": []},
        "added_tokens": [token for token in added if "semantic" not in token["content"] or ":0|" in token["content"]],
    }
    replace = [
        {"type": "Replace", "pattern": {kind: pattern}, "content": content}
        for kind, pattern, content in (
            ("String", "a", "bb"),
            ("Regex", r"(?<=\d),(?=\d{3})", ""),
            ("Regex", "x*", "y"),
            ("String", "", "b"),
            ("Regex", "", "b"),
        )
    ]
    steps = [
        [{"type": "NFKD"}, {"type": "Lowercase"}, *replace[:3]],
        [{"type": "StripAccents"}, replace[3]],
        replace[4:],
    ]
    files = [small, *(small | {"normalizer": {"type": "Sequence", "normalizers": each}} for each in steps)]
    return [json.dumps(file).encode() for file in files]


def read_tokenizer(data: bytes, folder: Path) -> None:
    from s2mlx.text.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(written(folder, "tokenizer.json", data))
    for text in ("Hello <|im_end|> 你好 [x] 1,234", "", "a" * 200):
        assert len(tokenizer.encode(text)) < 1_000_000


@cache
def npy_seeds() -> list[bytes]:
    files = []
    for array in (
        np.zeros((10, 4), np.int32),
        np.ones(3, ">f8"),
        np.zeros((2, 3), np.uint8, order="F"),
        np.zeros((0, 2)),
    ):
        file = io.BytesIO()
        np.save(file, array)
        files.append(file.getvalue())
    return files


NPY_WORDS = [b"'|O'", b"'0f8'", b"'<f0'", b"(-1,)", b"(True, 5)", b"True", b"(10,)", b"'<M8[ns]'", b"[('a','<i4')]"]


def read_npy(data: bytes, folder: Path) -> None:
    from s2mlx.files import read_npy

    found = read_npy(written(folder, "x.npy", data))
    assert found.dtype.kind in "iuf" and found.nbytes <= len(data)


@cache
def voice_seeds() -> list[bytes]:
    from s2mlx.voices import Voice

    codes = np.arange(20, dtype=np.int32).reshape(10, 2)
    return [Voice(codes, words).to_bytes() for words in ("Words.", "", "wörter\n" * 3)]


def read_voice(data: bytes, folder: Path) -> None:
    from s2mlx.voices import Voice

    voice = Voice.load(written(folder, "x.s2voice", data))
    assert Voice.load(written(folder, "again.s2voice", voice.to_bytes())) == voice


# --- sound, text, settings -------------------------------------------------------------------------------------------


@cache
def audio_seeds() -> list[bytes]:
    import soundfile

    files, sound = [], np.sin(np.arange(800) / 9).astype(np.float32) / 2
    kinds = [("WAV", "PCM_16"), ("WAV", "FLOAT"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III")]
    kinds += [("AIFF", "PCM_24"), ("CAF", "PCM_16"), ("W64", "PCM_16"), ("AU", "ULAW")]
    for container, subtype in kinds:
        file = io.BytesIO()
        channels = np.stack([sound, -sound], axis=1) if container == "AIFF" else sound
        soundfile.write(file, channels, RATE, subtype, format=container)
        files.append(file.getvalue())
    return files


def read_audio(data: bytes, folder: Path) -> None:
    from s2mlx.audio import read_audio

    assert np.isfinite(read_audio(written(folder, "x.wav", data), 44100, max_seconds=30)).all()


def read_text(data: bytes, folder: Path) -> None:
    from s2mlx.files import read_text_file

    read_text_file(written(folder, "x.txt", data)).encode("utf-8")


def read_defaults(data: bytes, folder: Path, name: str = "defaults.toml") -> None:
    from s2mlx.files.defaults import read_defaults
    from s2mlx.weights import find_model

    (folder / "s2mlx").mkdir()
    written(folder / "s2mlx", name, data)
    with _variable("XDG_CONFIG_HOME", str(folder)):
        if (model := read_defaults().get("model")) is not None:
            find_model(model)


def read_model_name(data: bytes, folder: Path) -> None:
    """The older file that holds nothing but the name of the model."""
    read_defaults(data, folder, "model")


class _variable:
    """An environment variable with another value for a while."""

    def __init__(self, name: str, value: str):
        self.name, self.value = name, value

    def __enter__(self):
        self.before = os.environ.get(self.name)
        os.environ[self.name] = self.value

    def __exit__(self, *_):
        if self.before is None:
            del os.environ[self.name]
        else:
            os.environ[self.name] = self.before


def read_settings(data: bytes, folder: Path) -> None:
    """The app's settings: whatever is in the file, there are settings, and lines to show; they can be written back."""
    from s2mlx_app.state.settings import SettingsFile

    path = written(folder, "settings.json", data)
    found = SettingsFile(path)
    assert all(isinstance(line, str) for line in found.complaints)
    assert not found.complaints or path.with_name("settings.json.broken").read_bytes() == data
    assert not SettingsFile(path).complaints
    found.now.options()
    found.change(language="de" if found.now.language != "de" else "en")
    found.save()
    assert SettingsFile(path).now.language == found.now.language


def read_state(data: bytes, folder: Path) -> None:
    """The app's session, with the bytes in the place of each of its files in turn."""
    from s2mlx_app.state.session import Session

    own = folder / "takes" / "0"
    own.mkdir(parents=True)
    for name in ("text.json", "1.take", "2.recording", "take.npy", "take.json"):
        (own / "take.json").write_text('{"rate": 1000}')
        path = written(own, name, data)
        session = Session(folder)
        session.adopt_broken_recordings()
        assert isinstance(session.text(), str)
        for take in session.unsaved_takes():
            assert len(take.samples) and take.rate > 0 and np.isfinite(take.samples).all()
        assert len(list(own.glob("*.broken"))) == len(session.complaints)
        assert all(file.read_bytes() == data for file in own.glob(f"{path.name}.broken"))
        session.drop_takes(session.unsaved_takes())
        session.leave()
        for file in own.glob("*.broken"):
            file.unlink()


def read_history(data: bytes, folder: Path) -> None:
    from s2mlx_app.state.history import History

    written(folder, "20260101-000000.json", data)
    history = History(folder, lambda *_: None, lambda path, rate: np.zeros(1, np.float32))
    entries = history.entries()
    assert len(entries) + len(history.complaints) == 1
    for entry in entries:
        entry.speech_options()
        assert isinstance(entry.command(), str)
        json.dumps(dataclasses.asdict(entry)).encode()


def read_request(data: bytes, folder: Path) -> None:
    from s2mlx.server.speech_request import parse_speech

    for strict in (False, True):
        request = parse_speech(data, strict=strict)
        request.text.encode("utf-8")


SETTINGS = [
    {"model": "x", "temperature": 0.7, "seed": 3, "theme": "s2-dark", "cast": ["a", None], "languages": {"a": "de"}},
    {"rate": 1.25, "top_p": 0.8, "memory_limit_gb": 8, "prebuffer": 0.5, "trim": True, "output": "Speaker"},
]
NOTES = [{"rate": 16000, "transcript": "x", "name": "n"}, {"text": "hello"}]
TAKES = [
    json.dumps(NOTES[0] | more).encode() + b"\n" + np.ones(20000, "<f4").tobytes() for more in ({}, {"samples": 20000})
]
ENTRY = {
    "text": "Hello.",
    "voices": ["clara"],
    "seed": 3,
    "options": {"temperature": 0.7},
    "model": None,
    "model_name": "S2",
    "when": "2026-01-01T00:00:00",
    "seconds": 1.5,
    "frames": 30,
    "rtf": 0.5,
    "finish_reason": "stop",
    "rate": 44100,
}
REQUEST = {
    "model": "s2",
    "input": "Hello there.",
    "voice": "clara",
    "response_format": "wav",
    "speed": 1.0,
    "stream_format": "audio",
    "temperature": 0.5,
    "seed": 1,
}
DEFAULTS = [b"# mine\nmodel = 's2-pro-q6_k'\nvoice = 'clara'\nbatch = 4\n", b"play = true\n[a]\nb = [1, 2]\n"]
MODEL_NAMES = [b"[" * 3000, b"~/models/s2.gguf\n", b"s2-nano", b"owner/repo:file.gguf", b"~nobody/x"]
as_json = lambda *values: lambda: [json.dumps(value).encode() for value in values]

TARGETS = {
    target.name: target
    for target in (
        Target("gguf", gguf_seeds, read_gguf),
        Target("safetensors", safetensors_seeds, read_safetensors, json_near),
        Target("config", config_seeds, read_config, json_near),
        Target("pickle", pickle_seeds, read_pickle),
        Target("pth", pth_seeds, read_pth),
        Target("tokenizer", tokenizer_seeds, read_tokenizer, json_near),
        Target("npy", npy_seeds, read_npy, lambda seeds: bytes_near(seeds, NPY_WORDS, head=128)),
        Target("s2voice", voice_seeds, read_voice),
        Target("audio", audio_seeds, read_audio),
        Target(
            "text", lambda: [b"A text.\n", "Zwölf 你好 😀".encode(), "\ufeffmark".encode(), b"\xff\xfea\0"], read_text
        ),
        Target("defaults", lambda: DEFAULTS, read_defaults),
        Target("modelname", lambda: MODEL_NAMES, read_model_name),
        Target("settings", as_json(*SETTINGS), read_settings, json_near, errors=()),
        Target("state", lambda: [*as_json(*NOTES)(), *npy_seeds(), *TAKES], read_state, errors=()),
        Target("history", as_json(ENTRY), read_history, json_near, errors=()),
        Target("request", as_json(REQUEST), read_request, json_near, errors=(Refused,)),
    )
}
