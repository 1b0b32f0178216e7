"""Files only: a pipe is refused at once, where opening it would wait for ever."""

from __future__ import annotations

import os

import pytest

from s2mlx.audio import read_audio
from s2mlx.errors import S2Error
from s2mlx.files import open_regular, read_npy, read_text_file
from s2mlx.voices import Voice
from s2mlx.weights import open_checkpoint


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize(
    "read",
    [
        read_npy,
        Voice.load,
        open_checkpoint,
        lambda path: read_audio(path, 44100),
        lambda path: read_text_file(path, pipes=False),
    ],
    ids=["codes", "voice", "model", "clip", "settings"],
)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_are_refused(pipe, read, kind):
    path = pipe if kind == "pipe" else "/dev/zero"
    with pytest.raises(S2Error, match="it is a pipe or a device, not a file"):
        read(path)


@pytest.mark.parametrize("part", ["config.json", "model.safetensors", "codec.safetensors", "codec.pth"])
def test_a_model_folder_with_a_pipe_in_it(pipe, tmp_path, part):
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_bytes(b"{}")
    (folder / part).unlink(missing_ok=True)
    os.mkfifo(folder / part)
    with pytest.raises(S2Error):
        open_checkpoint(folder)


def test_a_folder_and_a_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        open_regular(tmp_path)
    (tmp_path / "file").write_bytes(b"data")
    with open_regular(tmp_path / "file") as file:
        assert file.read() == b"data"
