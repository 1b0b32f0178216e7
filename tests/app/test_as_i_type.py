"""Sentences are spoken as soon as they are finished: typed by hand, or written by another program."""

import os
from types import SimpleNamespace

import pytest
from s2mlx_app.engine.outside_text import OutsideText, outside_text
from s2mlx_app.speaking.unspoken_text import UnspokenText

from s2mlx.errors import S2Error, UsageError
from s2mlx.text import split_sentences

from ..fakes import FakeSynthesizer
from .conftest import running, until


def spoken(studio):
    return [words.strip() for words in studio.engine.spoken]


async def typed(pilot, words):
    names = {" ": "space", ".": "full_stop", "\n": "enter", "!": "exclamation_mark", ",": "comma"}
    await pilot.press(*(names.get(char, char) for char in words))


def test_a_sentence_is_finished_when_a_word_follows_or_its_writer_rests():
    text = UnspokenText(split_sentences)
    text.change("I met Dr. ")
    assert text.finished(rested=True) == "" and text.finished(rested=False) == ""
    text.change("I met Dr. Smith.")
    assert text.finished(rested=False) == "" and text.finished(rested=True) == "I met Dr. Smith."
    text.change("I met Dr. Smith. He ")
    assert text.finished(rested=False) == "I met Dr. Smith. "
    text.send("I met Dr. Smith. ")
    assert text.waiting == "He " and text.finished(rested=True) == ""
    text.change("I met Dr. Smith. He left\n")
    assert text.finished(rested=True) == "He left\n"


def test_what_was_sent_stays_sent_wherever_it_moves():
    text = UnspokenText(split_sentences)
    text.begin("Before. ")
    text.change("Before. One. Two. Thr")
    text.send("One. ")
    text.send("Two. ")
    assert text.find((0, 4)) == (8, 12) and text.find((5, 10)) == (13, 18) and text.find((10, 12)) is None
    assert text.change("Now before. One. Two. Thr") and text.waiting == "Thr" and text.find((5, 9)) == (17, 21)
    assert text.change("Now before. One. Too. Thr") and text.waiting == "Thr"
    assert text.find((5, 9)) is None and text.find((0, 4)) == (12, 16)
    assert text.change("") and text.waiting == ""
    assert not text.change("Anew.") and text.finished(rested=True) == "Anew."


def test_an_edit_over_the_border_counts_as_said():
    text = UnspokenText(split_sentences)
    text.change("One. Two")
    text.send("One. ")
    assert text.change("One, or two") and text.waiting == "wo"


async def test_each_sentence_is_spoken_when_it_is_finished(make_app, studio):
    app = make_app(text="It was there. ")
    async with running(app) as pilot:
        await pilot.press("f12", "end")
        assert app.main.typing.on and "as you type" in str(app.main.editor.border_subtitle)
        await typed(pilot, "One boat. Two")
        await until(pilot, lambda: spoken(studio) == ["One boat."])
        assert app.main.speech.is_live
        await typed(pilot, " boats.")
        await until(pilot, lambda: spoken(studio) == ["One boat.", "Two boats."])  # nobody types any more
        await until(pilot, lambda: "when it is finished" in app.main.status.state)
        await pilot.press("f12")
        await until(pilot, lambda: not app.jobs.running)
        [entry] = app.history.entries()
        assert entry.text == "One boat. Two boats." and not app.main.typing.on and len(studio.engine.calls) == 1
        await typed(pilot, " Three. Four")
        await pilot.pause(0.8)
        assert len(spoken(studio)) == 2


async def test_edits_in_what_was_spoken_are_told_of_once(make_app, studio):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("f12")
        await typed(pilot, "One boat. Two")
        await until(pilot, lambda: spoken(studio))
        await pilot.press("home", "x")
        assert "not spoken again" in app.main.status.state
        app.main.say("")
        await pilot.press("y", "end")
        assert app.main.status.state != "not spoken again"
        await typed(pilot, " boats. A")
        await until(pilot, lambda: spoken(studio) == ["One boat.", "Two boats."])
        assert app.main.editor.text == "xyOne boat. Two boats. A"


async def test_a_long_text_is_made_while_nobody_writes(make_app, studio):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("f12")
        await typed(pilot, "One boat. ")
        await until(pilot, lambda: spoken(studio) == ["One boat."])
        live = app.main.speech.audible
        await pilot.press("f7")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("a")
        await until(pilot, lambda: app.desk.queue and app.desk.is_made(app.desk.queue[0]))
        assert live.takes_more  # and would speak what is typed
        await pilot.press("escape", "escape")


async def test_escape_ends_the_sound_and_the_switch(make_app, studio):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("f12")
        await typed(pilot, "One boat. Two")
        await until(pilot, lambda: app.main.speech.is_live and spoken(studio))
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)
        assert not app.main.typing.on and studio.players[0].stopped and "stopped" in app.main.status.state
        assert not app.main.editor.border_subtitle


async def test_another_screen_ends_the_speech_and_the_next_sentence_begins_one(make_app, studio):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("f12")
        await typed(pilot, "One boat. Two")
        await until(pilot, lambda: spoken(studio))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: not app.jobs.running)
        await pilot.press("escape")
        await typed(pilot, " boats. A")
        await until(pilot, lambda: spoken(studio) == ["One boat.", "Two boats."])
        assert len(studio.engine.calls) == 2 and app.main.typing.on
        assert studio.engine.calls[1].options.seed == 7  # the voice that the model made up


async def test_leaving_while_text_is_awaited(make_app, studio):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("f12")
        await typed(pilot, "One boat. Two")
        await until(pilot, lambda: spoken(studio))
        await pilot.press("ctrl+q")
    assert app.leave() and studio.engine.closed


async def test_the_whole_text_is_spoken_by_its_key_and_the_rest_after_that(make_app, studio):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("f12")
        await typed(pilot, "One boat. Two")
        await until(pilot, lambda: spoken(studio))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(studio.engine.calls) == 2)
        assert studio.engine.calls[1].text == "One boat. Two"
        await typed(pilot, " more. Three")
        await until(pilot, lambda: spoken(studio) == ["One boat.", "more."])


async def test_what_another_program_writes_comes_in_and_is_spoken(make_app, studio):
    read, write = os.pipe()
    app = make_app(text="")
    app.main.typing.arriving = OutsideText(read, "stdin")
    async with running(app) as pilot:
        os.write(write, b"One boat. Tw")
        await until(pilot, lambda: spoken(studio) == ["One boat."])
        os.write(write, "o bateaux d'\N{LATIN SMALL LETTER E WITH ACUTE}".encode()[:-1])
        os.write(write, "\N{LATIN SMALL LETTER E WITH ACUTE}".encode()[-1:])
        await until(pilot, lambda: app.main.editor.text.endswith("d'\N{LATIN SMALL LETTER E WITH ACUTE}"))
        os.close(write)
        await until(pilot, lambda: len(spoken(studio)) == 2)  # the end of the pipe ends the sentence
        assert spoken(studio)[1].startswith("Two bateaux")


async def test_a_program_waits_for_the_voice(make_app, studio):
    studio.engine = FakeSynthesizer(frames=1)
    studio.engine.gate.close()
    read, write = os.pipe()
    os.set_blocking(write, False)
    app = make_app(text="")
    app.main.typing.arriving = OutsideText(read, "stdin")
    async with running(app) as pilot:
        line, full = b"A line of words. " * 200, 0
        while full < 20:
            try:
                os.write(write, line)
                full = 0
            except BlockingIOError:
                full += 1
            await pilot.pause(0.02)
        assert 10_000 < len(app.main.editor.text) < 40_000
        await pilot.press("escape")
    os.close(write)


async def test_a_fifo_is_read_again_and_bad_bytes_are_told_of(make_app, studio, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    app = make_app(text="")
    app.main.typing.arriving = outside_text(str(fifo))
    async with running(app) as pilot:
        for words in ("One boat. ", "Two boats. "):
            fifo.write_text(words)
            await until(pilot, lambda words=words: words.strip() in spoken(studio))
        fifo.write_bytes(b"\xff\xfe")
        await until(pilot, lambda: "not UTF-8" in app.main.status.state)


def test_a_file_that_is_there_does_not_arrive(tmp_path):
    (tmp_path / "text").write_text("Words.")
    assert outside_text(str(tmp_path / "text")) is None


def test_a_file_is_what_the_app_begins_with(tmp_path, monkeypatch):
    """And a pipe is refused where nobody would see that it is not read."""
    from s2mlx_app import start as module

    class Began(Exception):
        pass

    def begin(studio, config, state, *, text, **options):
        raise Began(text)

    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(module, "S2App", begin)
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setattr("sys.stdin", terminal)
    nothing = dict(model=None, tokenizer=None, voice=None, device=None, text=None)
    (tmp_path / "text").write_text("Words.")
    with pytest.raises(Began, match="Words"):
        module.start(**nothing, file=str(tmp_path / "text"))
    with pytest.raises(S2Error, match="cannot read"):
        module.start(**nothing, file=str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="keyboard"):
        module.start(**nothing, file="-")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: False))
    with pytest.raises(UsageError, match="tui -f -"):
        module.start(**nothing)


async def test_a_control_sequence_cut_between_two_reads_is_none_of_the_text(make_app, studio):
    read, write = os.pipe()
    app = make_app(text="")
    app.main.typing.arriving = OutsideText(read, "stdin")
    async with running(app) as pilot:
        os.write(write, b"One \x1b[3")
        await until(pilot, lambda: app.main.editor.text == "One ")
        os.write(write, b"1mred\x1b[0m boat.\r")
        await until(pilot, lambda: app.main.editor.text == "One red boat.")
        os.write(write, b"\nTwo")
        await until(pilot, lambda: app.main.editor.text == "One red boat.\nTwo")
        os.write(write, b"\x1b]0;ti")
        os.close(write)
        await until(pilot, lambda: " ".join(spoken(studio)).split() == ["One", "red", "boat.", "Two"])
        assert "\x1b" not in app.main.editor.text


async def test_the_end_of_a_program_s_text_is_spoken_though_it_came_before_the_model(make_app, studio):
    studio.load_gate.close()
    read, write = os.pipe()
    app = make_app(text="")
    app.main.typing.arriving = OutsideText(read, "stdin")
    async with app.run_test() as pilot:
        os.write(write, b"One boat. Two")
        os.close(write)
        await until(pilot, lambda: app.main.editor.text == "One boat. Two")
        await until(pilot, lambda: app.main.typing._ended)
        studio.load_gate.open()
        await until(pilot, lambda: " ".join(spoken(studio)) == "One boat. Two", 10)
    app.leave()
