"""Reading and writing of audio files: every format in and out, and everything that strangers' files get wrong."""

import gc
import os
import resource
import shutil
import stat
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from s2mlx.audio import AudioWriter, pcm16, read_audio, read_sound, stream_wav_header, write_audio
from s2mlx.audio.rates import resample
from s2mlx.audio.wav import wav_header
from s2mlx.errors import AudioError

RATE = 44100
FORMATS = ["wav", "flac", "mp3", "ogg", "opus", "aiff", "aif"]
GOLDEN = Path(__file__).parents[2] / ".." / "shared" / "golden"


def tone(seconds=1.0, rate=RATE, hertz=440.0, level=0.5):
    return (level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def similarity(a, b):
    n = min(len(a), len(b))
    return float(np.dot(a[:n], b[:n]) / (np.linalg.norm(a[:n]) * np.linalg.norm(b[:n])))


def wav_bytes(samples, rate=RATE):
    return wav_header(rate, 2 * len(samples)) + pcm16(samples)


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


# --- out and back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("rate", [44100, 24000, 11025])
def test_round_trip(tmp_path, ending, rate):
    path = tmp_path / f"a.{ending}"
    samples = tone(1.0, rate)
    write_audio(path, samples, rate)
    back = read_audio(path, rate)
    assert abs(len(back) - len(samples)) <= (0.06 * rate if ending == "mp3" else 2)
    middle = slice(rate // 4, rate // 2)
    assert similarity(back[middle], samples[middle]) > (0.99 if ending in ("mp3", "ogg", "opus") else 0.99999)
    if ending in ("wav", "flac"):
        assert np.abs(back - samples).max() <= 0.5001 / 32768
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("ending", FORMATS)
def test_pieces_give_the_file_of_the_whole(tmp_path, ending):
    samples = (0.2 * np.random.default_rng(1).standard_normal(60_000)).astype(np.float32)
    write_audio(tmp_path / f"whole.{ending}", samples, RATE)
    with AudioWriter(tmp_path / f"pieces.{ending}", RATE) as writer:
        for piece in np.split(samples, [1, 1, 500, 40_000]):  # an empty piece among them
            writer.write(piece)
    whole, pieces = (read_audio(tmp_path / f"{n}.{ending}", RATE) for n in ("whole", "pieces"))
    assert len(whole) == len(pieces)
    assert np.abs(whole - pieces).max() < (1e-6 if ending in ("wav", "flac") else 0.05)


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"])
def test_sample_formats(tmp_path, subtype):
    soundfile.write(tmp_path / "a.wav", tone(), RATE, subtype=subtype)
    assert similarity(read_audio(tmp_path / "a.wav", RATE), tone()) > 0.999


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 48000, 96000, 192000])
def test_rates(tmp_path, rate):
    soundfile.write(tmp_path / "a.wav", tone(1, rate), rate)
    back = read_audio(tmp_path / "a.wav", RATE)
    assert abs(len(back) - RATE) <= 1
    middle = slice(4410, -4410)
    assert np.abs(back[middle] - tone()[middle]).max() < 2e-3


def test_downsampling_is_band_limited(tmp_path):
    soundfile.write(tmp_path / "a.wav", tone(1, 96000, hertz=30_000), 96000)
    assert np.abs(read_audio(tmp_path / "a.wav", RATE)[4410:-4410]).max() < 1e-3


def test_channels_are_mixed(tmp_path):
    left, right = tone(hertz=440), tone(hertz=660)
    soundfile.write(tmp_path / "stereo.wav", np.stack([left, right], 1), RATE, subtype="FLOAT")
    assert np.allclose(read_audio(tmp_path / "stereo.wav", RATE), (left + right) / 2, atol=1e-6)


def test_surround_keeps_the_voice_and_drops_the_rumble(tmp_path):
    channels = np.zeros((RATE, 6), np.float32)
    channels[:, 2] = tone(hertz=440)  # centre
    channels[:, 3] = tone(hertz=40)  # low frequencies
    soundfile.write(tmp_path / "surround.wav", channels, RATE, subtype="FLOAT")
    mixed = read_audio(tmp_path / "surround.wav", RATE)
    assert similarity(mixed, channels[:, 2]) > 0.99999 and np.abs(mixed).max() <= 0.5


def test_full_scale_is_clipped_not_wrapped(tmp_path):
    for ending in FORMATS:
        write_audio(tmp_path / f"a.{ending}", tone(level=1.5), RATE)
        assert similarity(read_audio(tmp_path / f"a.{ending}", RATE)[:30_000], tone()[:30_000]) > 0.97, ending


# --- what is refused on the way in ----------------------------------------------------------------------------------


def refused(path, **options):
    with pytest.raises(AudioError) as caught:
        read_audio(path, RATE, **options)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400 + len(str(path))
    return message


def test_paths_that_are_no_files(tmp_path):
    assert "no audio file" in refused(tmp_path / "absent.wav")
    assert "folder" in refused(tmp_path)
    assert "it is a pipe or a device, not a file; save the audio to a file first" in refused("/dev/zero")
    refused("a\0b.wav")
    (tmp_path / "empty.wav").touch()
    assert "empty" in refused(tmp_path / "empty.wav")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_text(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/clip\xff.wav")
    write_audio(path, np.zeros(4410, np.float32), 44100)
    assert len(read_audio(path, 44100)) == 4410


def test_a_fifo_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.wav")
    assert "it is a pipe or a device, not a file; save the audio to a file first" in refused(tmp_path / "pipe.wav")


def test_content_that_is_no_audio(tmp_path):
    for name, content in [
        ("a.wav", b"hello, this is text\n" * 50),
        ("a.mp3", b"\0" * 5000),
        ("b.wav", b"RIFF"),
        ("c.wav", b"RIFF\xff\xff\xff\xffWAVEfmt "),
        ("a.raw", b"\1\2" * 500),
    ]:
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name)


def test_no_samples(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.zeros(0), RATE)
    assert "0 samples" in refused(tmp_path / "a.wav")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers(tmp_path, value):
    samples = tone()
    samples[30_000] = value
    soundfile.write(tmp_path / "a.wav", samples, RATE, subtype="FLOAT")
    assert "NaN" in refused(tmp_path / "a.wav")


def test_float_samples_on_the_scale_of_integers(tmp_path):
    soundfile.write(tmp_path / "a.wav", tone() * 32767, RATE, subtype="FLOAT")
    assert "full scale" in refused(tmp_path / "a.wav")


def test_a_clip_of_hours_is_refused_before_it_is_decoded(tmp_path):
    write_audio(tmp_path / "a.flac", np.zeros(RATE * 20, np.float32), RATE)
    assert "longer than 10 s" in refused(tmp_path / "a.flac", max_seconds=10)
    write_audio(tmp_path / "a.ogg", np.zeros(RATE * 20, np.float32), RATE)
    assert "longer than 10 s" in refused(tmp_path / "a.ogg", max_seconds=10)
    # A header that promises hours; the file itself is a few bytes.
    (tmp_path / "b.wav").write_bytes(wav_bytes(tone())[:40] + struct.pack("<I", 2**30) + pcm16(tone()))
    refused(tmp_path / "b.wav")


def test_absurd_rates(tmp_path):
    for rate in (1, 2**31 - 1):
        content = bytearray(wav_bytes(tone()))
        content[24:28] = struct.pack("<I", rate)
        (tmp_path / "a.wav").write_bytes(content)
        refused(tmp_path / "a.wav")


@pytest.mark.parametrize("ending", FORMATS)
def test_damage_never_crashes(tmp_path, ending):
    write_audio(tmp_path / f"a.{ending}", tone(0.3), RATE)
    content = (tmp_path / f"a.{ending}").read_bytes()
    rng = np.random.default_rng(7)
    for _ in range(40):
        bad = bytearray(content[: rng.integers(1, len(content))] if rng.random() < 0.3 else content)
        for position in rng.integers(0, min(len(bad), 200), size=rng.integers(1, 6)):
            bad[position] = rng.integers(256)
        (tmp_path / f"b.{ending}").write_bytes(bad)
        try:
            assert np.isfinite(read_audio(tmp_path / f"b.{ending}", RATE)).all()
        except AudioError as error:
            assert "\n" not in str(error)


def test_a_flac_without_a_count_and_without_sound(tmp_path):
    """Its header, whose count of samples is 0 (as a pipe leaves it), and no frame behind it."""
    info = struct.pack(">HH", 4096, 4096) + bytes(6) + (RATE << 44 | 15 << 36).to_bytes(8, "big") + bytes(16)
    (tmp_path / "a.flac").write_bytes(b"fLaC\x80\0\0\x22" + info)
    with pytest.raises(AudioError, match="0 samples"):
        read_audio(tmp_path / "a.flac", RATE)


# --- writing: whole or not at all -----------------------------------------------------------------------------------


def test_the_name_appears_only_on_close(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(b"older")
    writer = AudioWriter(path, RATE)
    writer.write(tone())
    assert path.read_bytes() == b"older"
    writer.close()
    assert len(read_audio(path, RATE)) == RATE
    writer.close()  # once more does nothing
    with pytest.raises(AudioError):
        writer.write(tone())


@pytest.mark.parametrize("ending", FORMATS)
def test_abort_leaves_nothing(tmp_path, ending):
    with pytest.raises(KeyError), AudioWriter(tmp_path / f"a.{ending}", RATE) as writer:
        writer.write(tone())
        raise KeyError
    assert os.listdir(tmp_path) == []


def test_nothing_written_is_no_file(tmp_path):
    with pytest.raises(AudioError, match="no sound"):
        AudioWriter(tmp_path / "a.flac", RATE).close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("ending", FORMATS)
def test_a_name_that_became_a_folder_leaves_the_sound_beside(tmp_path, ending):
    target = tmp_path / f"a.{ending}"
    writer = AudioWriter(target, RATE)
    writer.write(tone())
    target.mkdir()
    (tmp_path / f"a-2.{ending}").write_bytes(b"another's")
    with pytest.raises(AudioError, match=f"a.{ending}: Is a directory; the sound is kept in .*a-3.{ending}$"):
        writer.close()
    assert sorted(os.listdir(tmp_path)) == [f"a-2.{ending}", f"a-3.{ending}", f"a.{ending}"]
    assert len(read_audio(tmp_path / f"a-3.{ending}", RATE)) >= RATE
    writer.close()
    writer.abort()  # both do nothing any more


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("folder_left", [True, False], ids=["no links", "no folder"])
def test_a_folder_that_vanished_leaves_the_sound_in_the_autosave_folder(tmp_path, monkeypatch, ending, folder_left):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / f"a.{ending}"
    with pytest.raises(AudioError, match="; the sound is kept in ") as raised, AudioWriter(target, RATE) as writer:
        writer.write(tone())
        if folder_left:  # as on some file systems
            monkeypatch.setattr(os, "link", _no_link)
            target.mkdir()
        else:
            shutil.rmtree(tmp_path / "out")
    path = tmp_path / "state" / "s2mlx" / "autosave" / f"a.{ending}"
    assert str(raised.value).endswith(str(path)) and len(read_audio(path, RATE)) >= RATE
    assert [p.name for p in tmp_path.rglob(".*")] == []


def _no_link(*_):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("fails", ["replace", "fsync"])
def test_a_descriptor_is_closed_once(tmp_path, monkeypatch, ending, fails):
    """Its number is another file's as soon as it is closed: here, of those that are opened at once."""

    def failing(*_):
        raise OSError(5, "Input/output error")

    writer = AudioWriter(tmp_path / f"a.{ending}", RATE)
    writer.write(tone())
    monkeypatch.setattr(os, fails, failing)
    with pytest.raises(AudioError, match="Input/output error"):
        writer.close()
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(4)]
    writer.abort()
    del writer
    gc.collect()
    for fd in others:
        os.close(fd)


@pytest.mark.parametrize("ending", FORMATS)
def test_nan_is_not_written(tmp_path, ending):
    with pytest.raises(AudioError, match="NaN"):
        write_audio(tmp_path / f"a.{ending}", np.full(100, np.nan), RATE)
    assert os.listdir(tmp_path) == []


def test_names_that_cannot_be_written(tmp_path):
    (tmp_path / "folder.wav").mkdir()
    os.mkfifo(tmp_path / "pipe.wav")
    for path in (
        tmp_path / "a.xyz",
        tmp_path / "noending",
        tmp_path / "absent" / "a.wav",
        tmp_path / "folder.wav",
        tmp_path / "pipe.wav",
        "/dev/null",
        "a\0.wav",
        tmp_path / ("x" * 300 + ".wav"),
    ):
        with pytest.raises(AudioError) as caught:
            write_audio(path, tone(), RATE)
        assert "\n" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["folder.wav", "pipe.wav"]


def test_long_names_and_modes(tmp_path):
    path = tmp_path / ("x" * 251 + ".wav")
    write_audio(path, tone(), RATE)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    write_audio(path, tone(), RATE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_keeps_pointing(tmp_path):
    (tmp_path / "link.wav").symlink_to(tmp_path / "real.wav")
    write_audio(tmp_path / "link.wav", tone(), RATE)
    assert (tmp_path / "link.wav").is_symlink() and len(read_audio(tmp_path / "real.wav", RATE)) == RATE


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("limit", [3000, 30_000, 200_000])
def test_a_full_disk_leaves_nothing(tmp_path, ending, limit):
    """A limit on the file size fails the same calls as a full disk, wherever it strikes: first write, middle, close."""
    noise = (0.3 * np.random.default_rng(0).standard_normal(RATE * 3)).astype(np.float32)
    (tmp_path / f"a.{ending}").write_bytes(b"older")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        with pytest.raises(AudioError):
            write_audio(tmp_path / f"a.{ending}", noise, RATE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == [f"a.{ending}"]
    assert (tmp_path / f"a.{ending}").read_bytes() == b"older"


# --- bytes for a pipe -----------------------------------------------------------------------------------------------


def test_pcm16_rounds_and_clips():
    values = np.frombuffer(pcm16([0, 1, -1, 2, -2, 0.6 / 32768, -0.6 / 32768]), "<i2")
    assert list(values) == [0, 32767, -32768, 32767, -32768, 1, -1]
    every = np.arange(-32768, 32768, dtype=np.int16)
    assert np.array_equal(np.frombuffer(pcm16(every / np.float32(32768)), "<i2"), every)


def test_wav_bytes(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav_bytes(tone(), 24000))
    samples, rate = soundfile.read(tmp_path / "a.wav")
    assert rate == 24000 and len(samples) == RATE
    write_audio(tmp_path / "b.wav", tone(), 24000)
    assert (tmp_path / "b.wav").read_bytes() == (tmp_path / "a.wav").read_bytes()
    assert len(stream_wav_header(RATE)) == 44


def test_stream_header_is_the_one_players_know():
    if not GOLDEN.exists():
        pytest.skip("the golden files are not beside the repository")
    theirs, ours = (GOLDEN / "stream_header.bin").read_bytes(), stream_wav_header(RATE)
    sizes = (slice(4, 8), slice(40, 44))  # sox complains about theirs
    assert all(int.from_bytes(ours[at], "little") == 0x7FFFF000 for at in sizes)
    assert ours[:4] + ours[8:40] == theirs[:4] + theirs[8:40]


@pytest.mark.parametrize("rate", [RATE, 22050, 48000])
def test_a_clip_at_its_own_rate_is_resampled_later_to_the_same_samples(tmp_path, rate):
    path = tmp_path / "a.flac"
    soundfile.write(path, np.tile(tone(), 9), 16000)
    samples, own = read_sound(path)
    assert own == 16000 and np.array_equal(resample(samples, own, rate), read_audio(path, rate))
