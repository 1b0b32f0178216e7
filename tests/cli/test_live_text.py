"""Text that comes while it is spoken: FIFOs, pipes, a keyboard."""

import json
import os
import pty
import signal
import subprocess
import threading
import time

import pytest
import soundfile

from ..fakes import FRAME
from .test_process import command, finished


@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def writing(fifo, *steps):
    """A thread that writes bytes, and in between waits until the functions among them say yes."""

    def write():
        with open(fifo, "wb", buffering=0) as file:
            for step in steps:
                if isinstance(step, bytes):
                    file.write(step)
                else:
                    pause = threading.Event()
                    while not step():
                        pause.wait(0.005)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_it_is_spoken_before_the_rest_is_written(run, tts, fifo):
    writing(
        fifo,
        b"One is he",
        b"re. Two",
        lambda: tts.made == 3,
        " für alle.\n".encode()[:3],
        lambda: True,
        b"\xbcr alle.\n",
    )
    result = run("say", "-f", fifo, "-o", "out.wav", "--json")
    assert result.code == 0
    assert [p["text"] for p in result.json["passes"]] == [[0, 13], [13, 27]] and result.json["text_characters"] == 27
    assert soundfile.info("out.wav").frames == 6 * FRAME


def test_what_comes_at_once_is_a_text_like_any(run, tts, fifo):
    writing(fifo, "\ufeffOne is ".encode(), b"here. Two.")
    assert run("say", "-f", fifo, "--no-play", "--json").json["text_characters"] == 17
    assert tts.calls[-1].text == "One is here. Two."


def test_played_text_has_no_gaps_where_its_writer_rests(run, tts, player, fifo):
    writing(fifo, b"One is here. Two", lambda: tts.made == 3, b" are here.")
    assert run("say", "-f", fifo).code == 0
    [device] = player.made
    assert sum(map(len, device.heard)) == 6 * FRAME and device.finished


def test_patience_is_for_what_comes_slowly(run, tts, tmp_path, fifo):
    (tmp_path / "text.txt").write_text("Words.")
    for words in (["Words."], ["-f", "text.txt"]):
        result = run("say", *words, "--patience", "2", "-o", "out.wav")
        assert result.code == 2 and "--patience" in result.error and not tts.loaded
    writing(fifo, b"Well, this ", lambda: tts.made == 3, b"is it.")
    assert run("say", "-f", fifo, "--patience", "0.2", "-o", "out.wav").code == 0 and tts.made == 6
    writing(fifo, b"")
    assert run("say", "-f", fifo, "--patience", "-1", "-o", "out.wav").code == 2


def test_what_is_no_text_ends_it_after_what_was_complete(run, tts, fifo):
    writing(fifo, b"One is here. Two", lambda: tts.made == 3, b" are \xff not. ")
    result = run("say", "-f", fifo, "-o", "out.wav")
    assert result.code == 1 and f"{fifo} is not UTF-8 text (byte 21)" in result.error
    assert "out.wav holds" in result.err and soundfile.info("out.wav").frames == 3 * FRAME
    writing(fifo, b"a\0b")
    assert "a byte of it is 0" in run("say", "-f", fifo, "-o", "other.wav").error


def test_nothing_comes(run, tts, fifo):
    writing(fifo, b"... ", lambda: tts.loaded, b"\n")
    result = run("say", "-f", fifo, "-o", "out.wav")
    assert result.code == 2 and "nothing to say" in result.error and not os.path.exists("out.wav")


@pytest.mark.parametrize("pause", [0.0, 0.02], ids=["fast", "slow"])
@pytest.mark.parametrize("size", [1, 5, 40], ids=["bytes", "tokens", "lines"])
def test_any_writer_of_a_pipe_is_heard_whole_and_in_order(tmp_path, size, pause):
    words = b"First of all. Then the second.\nAnd the last of them."
    process = command("say", "-o", tmp_path / "out.wav", "--json", fake="{}", stdin=subprocess.PIPE)
    for at in range(0, len(words), size):
        process.stdin.write(words[at : at + size])
        process.stdin.flush()
        time.sleep(pause)
    code, out, err = finished(process)
    assert code == 0, err
    found = json.loads(out)
    spans = [one["text"] for one in found["passes"]]
    assert [begin for begin, _ in spans] == [0, *(end for _, end in spans)][:-1] and spans[-1][1] == len(words)
    assert soundfile.info(tmp_path / "out.wav").frames == found["frames"] * FRAME


def test_an_interrupt_while_it_waits_for_text_keeps_what_was_spoken(tmp_path):
    process = command("say", "-o", tmp_path / "out.wav", fake='{"announce": 1}', stdin=subprocess.PIPE)
    process.stdin.write(b"One is here. Two")
    process.stdin.flush()
    while b"spoken" not in (line := process.stderr.readline()):
        assert line
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert soundfile.info(tmp_path / "out.wav").frames == 3 * FRAME
    process.stdin.close()


def test_lines_of_a_keyboard_are_spoken_as_they_are_entered(tmp_path):
    ours, theirs = pty.openpty()
    process = command("say", "-f", "-", "-o", tmp_path / "out.wav", fake='{"announce": 1}', stdin=theirs, stdout=theirs)
    os.close(theirs)
    for line in (b"One\n", b"no end of it\n"):
        os.write(ours, line)
        while b"spoken" not in (said := process.stderr.readline()):
            assert said
    os.write(ours, b"\x04")
    assert process.wait(30) == 0
    assert soundfile.info(tmp_path / "out.wav").frames == 6 * FRAME
    os.close(ours)


def test_markdown_that_comes_slowly_or_at_once(run, tts, fifo, tmp_path):
    writing(fifo, b"**One** is he", b"re. Two\n```\nno", lambda: tts.made == 3, b" code\n```\n[is](http://x.y) here")
    assert run("say", "-f", fifo, "--markdown", "-o", "out.wav").code == 0
    assert " ".join(tts.spoken).split() == "One is here. Two is here".split()
    (tmp_path / "text.md").write_text("# One\n- *two*\n")
    assert run("say", "-f", "text.md", "--markdown", "-o", "out.wav").code == 0
    assert tts.calls[-1].text.split() == ["One", "two"]
    result = run("say", "```code```", "--markdown", "-o", "out.wav")
    assert result.code == 0 and tts.calls[-1].text == "code"
    (tmp_path / "text.md").write_text("```\ncode\n```\n")
    assert "text.md is empty" in run("say", "-f", "text.md", "--markdown", "-o", "out.wav").error
