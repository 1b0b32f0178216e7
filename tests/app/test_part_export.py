"""A long text into files: cancelled without a trace, and with subtitles beside the sound."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from s2mlx_app.screens.parts import PartsScreen

from ..fakes import FRAME, RATE, Gate
from .conftest import notices, running, until
from .test_parts import TEXT, exported, label, made, parted

CHAPTERS = "# One\n\nIt begins.\n\n# Two\n\nIt goes on. It ends."


def slowly(studio):
    """Files whose pieces wait at a gate."""
    gate, whole = Gate(), studio.open_sound
    gate.close()

    @contextmanager
    def open_sound(path, rate):
        with whole(path, rate) as file:
            yield SimpleNamespace(write=lambda piece: (gate.pass_through(), file.write(piece)))

    studio.open_sound = open_sound
    return gate


@pytest.mark.parametrize("normalize", [False, True])
async def test_escape_cancels_it_and_leaves_nothing(make_app, studio, tmp_path, normalize):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",), normalize=normalize)
    async with running(app) as pilot:
        await made(app, pilot)
        gate, target = slowly(studio), tmp_path / "whole.flac"
        target.write_bytes(b"before")
        await exported(app, pilot, target)
        await until(pilot, lambda: any(job.what == "save parts" for job in app.jobs.running))
        await pilot.press("escape")
        assert isinstance(app.screen, PartsScreen) and "cancelled" in label(app, "#said")
        gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert "nothing was written" in label(app, "#said")
        assert target not in studio.files and target.read_bytes() == b"before"
        await pilot.press("escape")
        assert app.screen is app.main


async def test_chapters_that_are_whole_stay(make_app, studio, tmp_path):
    parted(studio)
    app = make_app(text=CHAPTERS, cast=("anna",))
    async with running(app) as pilot:
        screen = await made(app, pilot)
        gate = slowly(studio)
        gate.let(3)  # of the second chapter, a little
        await exported(app, pilot, tmp_path / "book.wav", "chapters")
        assert screen.reading.chapters[1][0] == 1
        await until(pilot, lambda: tmp_path / "book-001.wav" in studio.files)
        await pilot.press("escape")
        gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert "book-001.wav is whole" in label(app, "#said") and tmp_path / "book-002.wav" not in studio.files


async def test_subtitles_lie_beside_each_file(make_app, studio, tmp_path):
    parted(studio)
    app = make_app(text=CHAPTERS, cast=("anna",))
    async with running(app) as pilot:
        await made(app, pilot)
        await exported(app, pilot, tmp_path / "book.wav", "chapters", "srt", "vtt")
        await until(pilot, lambda: "saved" in label(app, "#said") and ".srt and .vtt" in label(app, "#said"))
        first, second = ((tmp_path / f"book-00{number}.srt").read_text() for number in (1, 2))
        assert "It begins." in first and "It goes on." not in first and first.startswith("1\n00:00:00,")
        assert "It goes on." in second and "It ends." in second and "#" not in second
        assert (tmp_path / "book-002.vtt").read_text().startswith("WEBVTT")
        begin = second.split("\n\n")[-2].split("\n")[1].split(" --> ")[0]  # behind a part and its pause
        seconds = 60 * int(begin[3:5]) + float(begin[6:].replace(",", "."))
        assert seconds >= 40 * FRAME / RATE


async def test_what_cannot_be_written_says_so(make_app, studio, tmp_path):
    parted(studio)
    app = make_app(text=TEXT, cast=("anna",))
    async with running(app) as pilot:
        await made(app, pilot)
        studio.write_error = OSError(28, "No space left on device")
        await exported(app, pilot, tmp_path / "whole.wav")
        await until(pilot, lambda: "not saved" in label(app, "#said"))
        assert any(notice.severity == "error" for notice in notices(app))


async def test_what_is_whole_before_the_disk_is_full_is_told(make_app, studio, tmp_path):
    parted(studio)
    app, whole = make_app(text=CHAPTERS, cast=("anna",)), studio.open_sound

    def open_sound(path, rate):
        if "002" in path.name:
            raise OSError(28, "No space left on device")
        return whole(path, rate)

    async with running(app) as pilot:
        await made(app, pilot)
        studio.open_sound = open_sound
        await exported(app, pilot, tmp_path / "book.wav", "chapters")
        await until(pilot, lambda: "book-001.wav is whole: the disk is full" in label(app, "#said"))
