"""Prefilled voices on the disk: the same codes as without, and never those of another model, voice or way."""

import dataclasses
import shutil
from importlib.metadata import version

import mlx.core as mx
import numpy as np
import pytest

from s2mlx import __version__
from s2mlx.files import KeptFiles
from s2mlx.layers.cache import KVCache
from s2mlx.networks.load import load_model
from s2mlx.options import Options
from s2mlx.request import disk_prefixes as room
from s2mlx.request.disk_prefixes import DiskPrefixes, disk_prefixes, fingerprint
from s2mlx.request.engine import Engine, load_engine
from s2mlx.voices import Voice
from s2mlx.weights import compiled
from tests import goldens
from tests.synthetic import make_model

TEXT, LONG = "Good morning in the house?", "The same words come again and again here. " * 20
TOKENIZER = goldens.GOLDEN / "tokenizer.json"
OPTIONS = Options(max_frames=12, min_frames=12)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model") / "m.gguf", layers=2, fast_layers=1)


@pytest.fixture(scope="module")
def model(path):
    return load_model(path, TOKENIZER)


@pytest.fixture
def voice():
    return Voice(np.arange(900).reshape(10, 90) % 64, "Some words.", 44100, 256, "me")


@pytest.fixture
def kept(tmp_path, monkeypatch):
    folder = KeptFiles(tmp_path / "prefixes", 1 << 30)
    monkeypatch.setattr(room, "kept_prefixes", lambda: folder)
    return folder


@pytest.fixture
def fed(model, monkeypatch):
    """How many positions were prefilled, call by call."""
    counts, prefill = [], type(model.dual_ar).prefill
    monkeypatch.setattr(
        type(model.dual_ar),
        "prefill",
        lambda self, matrix, *a: counts.append(matrix.shape[1]) or prefill(self, matrix, *a),
    )
    return counts


def say(model, text, voices, options=OPTIONS, *, disk=True, keep_going=lambda: True, **facts):
    """In an engine of its own, as a new process would have one."""
    given = {"tokenizer": TOKENIZER, "compat": None, "memory_limit": None} | facts
    engine = Engine(model, disk_prefixes(model, **given) if disk else None)
    return np.concatenate([c.codes for c in engine.speak(text, voices, options, 7, keep_going)], axis=1)


@pytest.mark.parametrize("text", [TEXT, LONG], ids=["one pass", "a batch"])
def test_the_codes_are_those_of_a_run_without(model, voice, kept, fed, text):
    want = say(model, text, [voice], disk=False)
    cold = sum(fed)
    assert not kept.entries()
    first = say(model, text, [voice])
    fed.clear()
    second = say(model, text, [voice])
    np.testing.assert_array_equal(first, want)
    np.testing.assert_array_equal(second, want)
    assert sum(fed) < cold - voice.frames
    [entry] = kept.entries()
    assert entry.about["voices"] == ["me"] and entry.about["model"] == model.config.name
    assert entry.about["positions"] > voice.frames


def test_a_cache_comes_back_as_it_was(model, kept):
    """Bytes and what follows from them, in both types that caches have."""
    for dtype in (mx.float32, mx.float16):
        disk = DiskPrefixes(kept, "a model", 3, 2, 8, dtype)
        pairs = [(mx.random.normal((1, 2, 70, 8)).astype(dtype), mx.random.normal((1, 2, 70, 8)).astype(dtype))] * 3
        assert disk.write(b"columns", KVCache.of_pairs(pairs), {})
        back = disk.read(b"columns")
        assert back.offset == 70 and back.dtype == dtype
        assert all(mx.array_equal(a, b) for mine, theirs in zip(back.pairs(), pairs) for a, b in zip(mine, theirs))
        assert DiskPrefixes(kept, "a model", 4, 2, 8, dtype).read(b"columns") is None
        assert DiskPrefixes(kept, "another", 3, 2, 8, dtype).read(b"columns") is None


def test_another_voice_model_tokenizer_or_way_is_another_entry(path, model, voice, kept, tmp_path, monkeypatch):
    say(model, TEXT, [voice])
    ways = [
        lambda: say(model, TEXT, [dataclasses.replace(voice, transcript="Other words.")]),
        lambda: say(model, TEXT, [voice], compat="s2cpp"),
        lambda: say(model, TEXT, [voice], memory_limit=1 << 30),
        lambda: monkeypatch.setattr(room, "__version__", "9.9") or say(model, TEXT, [voice]),
        lambda: monkeypatch.setenv("S2MLX_KERNELS", "off") or say(model, TEXT, [voice]),
        lambda: monkeypatch.setenv("S2MLX_HOST_BLAS", "off") or say(model, TEXT, [voice]),
    ]
    if not compiled.available():
        del ways[-2]  # nothing to switch off
    else:  # the code of another llvmlite, or of another CPU, may round otherwise
        ways.insert(
            -2, lambda: monkeypatch.setattr(compiled, "version", lambda name: "99.0") or say(model, TEXT, [voice])
        )
    for number, way in enumerate(ways, 2):
        way()
        assert len(kept.entries()) == number
    monkeypatch.setenv("S2MLX_HOST_BLAS", "2")  # how many threads makes no number different
    monkeypatch.delenv("S2MLX_KERNELS", raising=False)
    monkeypatch.setattr(room, "__version__", __version__)
    monkeypatch.setattr(compiled, "version", version)
    say(model, TEXT, [voice])
    assert len(kept.entries()) == len(ways) + 1
    other = shutil.copy(path, tmp_path / "m.gguf")
    data = bytearray((tmp_path / "m.gguf").read_bytes())
    data[-9] ^= 1
    (tmp_path / "m.gguf").write_bytes(data)
    say(load_model(tmp_path / "m.gguf", TOKENIZER), TEXT, [voice])
    assert len(kept.entries()) == len(ways) + 2 and other


def test_a_damaged_entry_is_read_anew(model, voice, kept, fed):
    want = say(model, TEXT, [voice])
    [entry] = kept.entries()
    data = bytearray(entry.path.read_bytes())
    data[len(data) // 2] ^= 4
    entry.path.write_bytes(data)
    fed.clear()
    np.testing.assert_array_equal(say(model, TEXT, [voice]), want)
    assert sum(fed) > voice.frames and kept.read(entry.path.stem) is not None


def test_only_voices_that_come_again_are_kept(model, voice, kept):
    """Not what a request borrows from itself, not a few positions, not what was stopped."""
    say(model, TEXT, [])
    say(model, LONG, [])
    say(model, TEXT, [dataclasses.replace(voice, codes=voice.codes[:, :3])])
    left = iter([True] * 3)
    say(model, TEXT, [voice], keep_going=lambda: next(left, False))
    assert kept.entries() == []


def test_loading_asks_for_it(path, kept):
    def load(**options):
        return load_engine(path, TOKENIZER, None, None, None, lambda: True, **options)

    assert load().prefixes._disk is None and load(prefix_cache=True).prefixes._disk is not None


def test_without_a_home_there_is_none(model, monkeypatch):
    from s2mlx.errors import S2Error

    def nowhere():
        raise S2Error("this user has no home folder")

    monkeypatch.setattr(room, "kept_prefixes", nowhere)
    assert disk_prefixes(model, TOKENIZER, None, None) is None


def test_a_fingerprint_sees_files_folders_and_parts(tmp_path):
    for name in ("m-00001-of-00002.gguf", "m-00002-of-00002.gguf"):
        (tmp_path / name).write_bytes(bytes(100_000))
    seen = list(fingerprint(tmp_path / "m-00001-of-00002.gguf"))
    assert [name for name, *_ in seen] == ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"]
    assert list(fingerprint(tmp_path)) == seen
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(bytes(99_999) + b"x")
    assert list(fingerprint(tmp_path)) != seen
