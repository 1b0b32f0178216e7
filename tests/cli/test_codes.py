"""`s2mlx encode` and `decode` with a fake codec: files, streams, and .npy files from strangers."""

import io

import numpy as np
import pytest
import soundfile

from ..fakes import FRAME, RATE


@pytest.fixture
def clip(tmp_path):
    soundfile.write(tmp_path / "clip.wav", np.zeros(RATE, np.float32), RATE)
    return "clip.wav"


@pytest.fixture
def codes(tmp_path):
    np.save(tmp_path / "codes.npy", np.zeros((10, 4), np.int32))
    return "codes.npy"


def test_encode(run, tts, clip, tmp_path):
    assert run("encode", clip, "-o", "out.npy").code == 0
    saved = np.load(tmp_path / "out.npy")
    assert saved.dtype == np.int32 and saved.shape == (10, 22)
    assert np.array_equal(np.load(io.BytesIO(run("encode", clip, "-o", "-").stdout)), saved)


def test_decode(run, tts, codes, tmp_path):
    assert run("decode", codes, "-o", "out.wav", "--chunk", "2").code == 0
    assert tts.codec.chunk == 2
    assert soundfile.info(tmp_path / "out.wav").frames == 4 * FRAME
    assert len(run("decode", codes, "-o", "-", "--raw").stdout) == 2 * 4 * FRAME
    assert run("decode", codes, "-o", "-").stdout[:4] == b"RIFF"


@pytest.mark.parametrize(
    "argv",
    [
        ["encode", "clip.wav"],
        ["encode", "clip.wav", "-o", "no/x.npy"],
        ["decode", "codes.npy"],
        ["decode", "codes.npy", "-o", "x.txt"],
        ["decode", "codes.npy", "-o", "x.wav", "--chunk", "0"],
    ],
)
def test_wrong_calls_end_before_the_model_loads(run, tts, clip, codes, argv):
    result = run(*argv)
    assert result.code in (1, 2) and result.error and not tts.loaded


def test_nothing_binary_on_a_terminal(run, tts, clip, codes):
    for argv in (["encode", clip], ["decode", codes]):
        result = run(*argv, "-o", "-", tty=("stdout",))
        assert result.code == 2 and "terminal" in result.error and result.stdout == b"" and not tts.loaded


def bad_codes():
    def npy(array, **options):
        buffer = io.BytesIO()
        np.save(buffer, array, **options)
        return buffer.getvalue()

    whole = npy(np.zeros((10, 4), np.int32))
    archive = io.BytesIO()
    np.savez(archive, a=np.zeros(3))
    yield "empty", b""
    yield "no npy", b"hello"
    yield "cut header", whole[:20]
    yield "cut data", whole[:-8]
    yield "huge claim", whole.replace(b"(10, 4)", b"(10, 4000000000)")
    yield "floats", npy(np.zeros((10, 4)))
    yield "one dimension", npy(np.zeros(40, np.int32))
    yield "no frames", npy(np.zeros((10, 0), np.int32))
    yield "other rows", npy(np.zeros((9, 4), np.int32))
    yield "beyond 32 bits", npy(np.full((10, 4), 2**40))
    yield "pickle", npy(np.array([[{}]], dtype=object), allow_pickle=True)
    yield "archive", archive.getvalue()
    yield "no item size", b"\x93NUMPY\x01\x00\x40\x00" + whole[10:].replace(b"'<i4'", b"'0f8'")[:54].ljust(64)
    yield "truths in the shape", whole.replace(b"(10, 4), }  ", b"(True, 4), }")
    yield "objects in the header", whole.replace(b"'<i4'", b"'|O' ")


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in bad_codes()])
def test_codes_from_strangers(run, tts, tmp_path, data):
    (tmp_path / "bad.npy").write_bytes(data)
    result = run("decode", "bad.npy", "-o", "out.wav")
    assert result.code == 1 and "bad.npy" in result.error and "unexpected" not in result.error
    assert not (tmp_path / "out.wav").exists()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize("book, code", [(0, 4096), (0, -1), (1, 4096), (9, 100_007)])
def test_codes_that_no_codebook_has_are_refused(run, tts, tmp_path, book, code):
    codes = np.zeros((10, 4), np.int64)
    codes[book, 2] = code
    np.save(tmp_path / "bad.npy", codes)
    result = run("decode", "bad.npy", "-o", "out.wav")
    assert result.code == 1 and not (tmp_path / "out.wav").exists()
    assert "bad.npy: 1 of 40 codes are outside this model's codebooks, 0 to 4095; " in result.error
    assert f"the first is {code} in codebook {book}, frame 2" in result.error


def test_every_code_that_the_model_can_make_passes(run, tts, tmp_path):
    """The head of the residual codes is wider than their codebooks."""
    np.save(tmp_path / "top.npy", np.full((10, 1), 4095, np.uint16))
    assert run("decode", "top.npy", "-o", "out.wav").code == 0


def test_codes_from_a_pipe(run, tts, clip, codes, tmp_path):
    piped = run("decode", "-", "-o", "-", stdin=(tmp_path / codes).read_bytes())
    assert piped.code == 0 and piped.stdout == run("decode", codes, "-o", "-").stdout
    for data in (b"", b"hello", npy(np.zeros((10, 4), np.int32))[:-8], npy(np.full((10, 1), -1))):
        result = run("decode", "-", "-o", "out.wav", stdin=data)
        assert result.code == 1 and result.error.startswith("error: stdin")
    assert run("decode", "-", "-o", "out.wav").code == 2  # a keyboard
