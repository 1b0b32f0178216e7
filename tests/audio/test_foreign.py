"""Formats that a tool of the system converts: found, fed, limited, and judged. The tools are scripts of the tests."""

import os

import numpy as np
import pytest

from s2mlx.audio import foreign, read_audio, write_audio
from s2mlx.audio.wav import wav_header
from s2mlx.errors import AudioError

from .test_files import RATE, refused, tone


def fake_tool(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


M4A = b"\0\0\0\x20ftypM4A \0\0\0\0" + b"\0" * 100


def test_m4a_without_a_converter_says_how_to_convert(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign.shutil, "which", lambda name: None)
    (tmp_path / "memo.m4a").write_bytes(M4A)
    message = refused(tmp_path / "memo.m4a")
    assert "ffmpeg" in message and "afconvert" in message and "m4a" in message


@pytest.mark.parametrize("tool", ["ffmpeg", "afconvert"])
def test_m4a_through_the_converter(tmp_path, monkeypatch, tool):
    (tmp_path / "bin").mkdir()
    write_audio(tmp_path / "answer.wav", tone(), RATE)
    # Copies a known clip to the last argument, as both tools name their output last.
    fake_tool(tmp_path / "bin", tool, f'for last; do :; done; /bin/cp "{tmp_path}/answer.wav" "$last"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    clip = tmp_path / "a name; $(with) -odd 'parts'.m4a"
    clip.write_bytes(M4A)
    assert np.array_equal(read_audio(clip, RATE), read_audio(tmp_path / "answer.wav", RATE))


def test_converter_that_fails_or_hangs(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "a.m4a").write_bytes(M4A)
    fake_tool(tmp_path / "bin", "ffmpeg", "echo first >&2; echo moov atom not found >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "moov atom not found" in refused(tmp_path / "a.m4a")
    fake_tool(tmp_path / "bin", "ffmpeg", "exit 0")
    assert "ffmpeg cannot convert" in refused(tmp_path / "a.m4a")
    fake_tool(tmp_path / "bin", "ffmpeg", "exec /bin/sleep 60")
    monkeypatch.setattr(foreign, "TIMEOUT", 0.0)
    assert "did not finish" in refused(tmp_path / "a.m4a")
    fake_tool(tmp_path / "bin", "ffmpeg", "")
    (tmp_path / "bin" / "ffmpeg").write_text("#!/no/such/interpreter\n")
    assert "could not be started" in refused(tmp_path / "a.m4a")


@pytest.mark.parametrize("header", [True, False])
def test_a_converter_that_knows_no_limit_is_stopped(tmp_path, monkeypatch, header):
    """afconvert takes no length: it would write hours to the disk before they are refused."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "a.m4a").write_bytes(M4A)
    start = wav_header(RATE, 2**30) if header else bytes(44)
    (tmp_path / "start").write_bytes(start + bytes((2 * RATE if header else foreign._USUAL_RATE) * 12))
    fake_tool(
        tmp_path / "bin",
        "afconvert",
        f'for last; do :; done; /bin/cp "{tmp_path}/start" "$last"; echo $$ > "{tmp_path}/pid"; exec /bin/sleep 60',
    )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "is longer than 10 s; cut out the part" in refused(tmp_path / "a.m4a", max_seconds=10)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


# --- written by a tool ---------------------------------------------------------------------------------------------


def test_m4a_is_written_by_the_tool_that_is_there(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    for tool in ("ffmpeg", "afconvert"):  # afconvert, once there, goes first; both name the result last
        script = (
            'for last; do :; done; for one; do case "${one#file:}" in *.wav) source="${one#file:}";; esac; done; '
            f'/bin/cp "$source" "${{last#file:}}"; echo {tool} >> {tmp_path}/called'
        )
        fake_tool(tmp_path / "bin", tool, script)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        write_audio(tmp_path / "out.m4a", tone(), RATE)
        os.rename(tmp_path / "out.m4a", tmp_path / "out.wav")
        assert np.abs(read_audio(tmp_path / "out.wav", RATE) - tone()).max() < 1e-4
    assert (tmp_path / "called").read_text().split() == ["ffmpeg", "afconvert"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "called", "out.wav"]


def test_m4a_without_a_tool_names_them(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AudioError, match="afconvert .* or ffmpeg"):
        write_audio(tmp_path / "out.m4a", tone(), RATE)
    fake_tool(tmp_path, "ffmpeg", "echo no encoder >&2; exit 1")
    with pytest.raises(AudioError, match="no encoder"):
        write_audio(tmp_path / "out.m4a", tone(), RATE)
    fake_tool(tmp_path, "ffmpeg", "exec /bin/sleep 600")
    monkeypatch.setattr(foreign, "TIMEOUT", 0.0)
    monkeypatch.setattr(foreign, "_SLOWEST", 2**40)
    with pytest.raises(AudioError, match="did not finish writing .m4a"):
        write_audio(tmp_path / "out.m4a", tone(), RATE)
    assert [path.name for path in tmp_path.iterdir()] == ["ffmpeg"]
