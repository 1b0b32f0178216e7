"""`s2mlx ask`: a model that is told what to write, a synthesizer without a model, and real ones in a terminal."""

import io
import signal

import pytest
import soundfile

from s2mlx.errors import GenerationError
from tests.language.scripted import ScriptedModel

from ..fakes import FRAME

STORY = "<think>\nShort.\n</think>\n**Once** there was a lamp. It shone:\n\n```\nlamp()\n```\nThe [end](http://x.y)."


@pytest.fixture
def writer(monkeypatch, tts):
    """writer(answer, ...): the language model of every name."""

    def use(*answers):
        model = ScriptedModel(*answers)
        monkeypatch.setattr("s2mlx.language.chat.LanguageModel", lambda path: model)
        monkeypatch.setattr("s2mlx.language.find_language_model", lambda name: name, raising=False)
        return model

    return use


def test_an_answer_is_shown_whole_and_its_words_are_spoken(run, tts, writer, player):
    model = writer(STORY)
    result = run("ask", "Tell", "me a story.", "--lm", "any")
    assert result.code == 0 and result.out == STORY + "\n" and not result.err
    assert "".join(tts.spoken).split() == "Once there was a lamp. It shone: The end.".split()
    assert sum(map(len, player.made[0].heard)) == tts.made * FRAME
    [asked] = model.asked
    assert asked.messages[-1] == {"role": "user", "content": "Tell me a story."}
    assert "read aloud" in asked.messages[0]["content"] and "[laughing]" in asked.messages[0]["content"]
    assert tts.calls[-1].lead is not None


def test_into_a_file_nobody_listens(run, tts, writer):
    model = writer("One. Two.")
    result = run("ask", "Count.", "-o", "out.wav", "--system", "Be brief.", "--seed", "4", "--lm-temperature", "0")
    assert result.code == 0 and result.out == "One. Two.\n" and tts.calls[-1].lead is None
    assert soundfile.info("out.wav").frames == tts.made * FRAME
    asked = model.asked[0]
    assert asked.messages[0] == {"role": "system", "content": "Be brief."} and asked.temperature == 0
    assert asked.seed is not None


def test_sound_on_stdout_leaves_the_words_to_stderr(run, writer):
    writer("One.")
    result = run("ask", "Count.", "-o", "-")
    assert result.stdout[:4] == b"RIFF" and result.err == "One.\n"


def test_who_reads_no_more_of_the_words_still_hears_them(run, tts, writer, monkeypatch):
    from s2mlx.cli import ask

    writer("One two. Three.")
    plain, faults = ask._Speaker.answer, []

    class Closed(io.StringIO):
        def write(self, text):
            if self.written > 3:
                raise BrokenPipeError
            self.written += 1

        written = 0

    def answer(self, *args, **more):
        self._shown_on = Closed()
        plain(self, *args, **more)

    monkeypatch.setattr(ask._Speaker, "answer", answer)
    monkeypatch.setattr("threading.excepthook", faults.append)
    assert run("ask", "Count.", "-o", "out.wav").code == 0 and not faults
    assert soundfile.info("out.wav").frames == tts.made * FRAME


def test_a_pipe_is_the_question(run, writer):
    model = writer("Yes.")
    assert run("ask", "-o", "out.wav", stdin="Is it für you?".encode()).code == 0
    assert model.asked[0].messages[-1]["content"] == "Is it für you?"


def test_an_answer_that_was_cut_says_so(run, writer):
    writer("One two three.")
    result = run("ask", "Count.", "-o", "out.wav", "--max-tokens", "7")
    assert result.out == "One two\n" and "--max-tokens" in result.err


def test_escape_sequences_of_a_model_steer_no_terminal(run, writer, player):
    writer("One \x1b[31m two.")
    assert run("ask", "Count.", tty=("stdout",)).out == "One ␛[31m two.\n"


@pytest.mark.parametrize(
    ("argv", "stdin", "said"),
    [
        ([], None, "there is no question"),
        ([], b" \n", "there is no question"),
        (["Hi.", "-o", "out.txt"], None, "out.txt"),
        (["Hi.", "-o", "out.wav", "-a", "1"], None, "nothing is played"),
        (["Hi.", "--max-tokens", "0"], None, "whole number"),
        (["Hi.", "--lm-temperature", "-1"], None, "a number from 0"),
    ],
)
def test_what_cannot_be_asked(run, writer, tts, argv, stdin, said):
    writer("Hi.")
    result = run("ask", *argv, stdin=stdin)
    assert result.code in (1, 2) and said in result.error and not tts.loaded


def test_a_model_that_fails_ends_it_after_what_was_complete(run, tts, writer, monkeypatch):
    model = writer("One is here. Two is he")
    write = model.write

    def failing(messages, **how):
        yield from list(write(messages, **how))[:-1]
        raise GenerationError("the language model failed: no more")

    monkeypatch.setattr(model, "write", failing)
    result = run("ask", "Count.", "-o", "out.wav")
    assert result.code == 1 and "no more" in result.error and result.out == "One is here. Two is he\n"
    assert "".join(tts.spoken).strip() == "One is here."


def test_an_answer_without_words(run, writer):
    writer("```\ncode\n```\n")
    result = run("ask", "Code?", "-o", "out.wav")
    assert result.code == 1 and "nothing of the answer" in result.error and "code" in result.out


@pytest.fixture
def lines(monkeypatch):
    """lines(line, ...): what is typed at the prompt, then Ctrl-D; what is an exception is raised instead."""

    def use(*typed):
        typed = list(typed)

        def read(prompt=""):
            line = typed.pop(0) if typed else EOFError()
            if isinstance(line, BaseException):
                raise line
            return line

        monkeypatch.setattr("builtins.input", read)

    return use


@pytest.mark.parametrize("bad", [UnicodeDecodeError("utf-8", b"caf\xe9", 3, 4, "unexpected end"), "caf\udce9"])
def test_a_line_that_is_no_text_is_one_clear_error(run, tts, writer, lines, player, bad):
    writer("I am well.")
    lines(bad)
    result = run("ask", "Hello?", tty=("stdout", "stderr"))
    assert result.code == 1 and result.err.count("not UTF-8") == 1 and "Traceback" not in result.err


def test_a_conversation(run, tts, writer, lines, player):
    model = writer("I am well.", "You said it.", "Bye.")
    lines("And you?", "", "What did I say?")
    result = run("ask", "Hello?", tty=("stdout", "stderr"))
    assert result.code == 0 and result.out.startswith("I am well.\nYou said it.\nBye.\n")
    assert [each["content"] for each in model.asked[-1].messages[1:]] == [
        "Hello?",
        "I am well.",
        "And you?",
        "You said it.",
        "What did I say?",
    ]
    assert len(player.made) == 3


def test_in_a_conversation_one_answer_may_be_stopped_or_fail(run, tts, writer, lines, player):
    model = writer("One is here. Two is here.", "```\ncode\n```", "Three.")
    lines("Code?", "And now?")
    plain, stopped = tts.sound, []

    def sound(frames):
        if not stopped:
            stopped.append(frames)
            signal.raise_signal(signal.SIGINT)
        return plain(frames)

    tts.sound = sound
    result = run("ask", "Hello?", tty=("stdout", "stderr"))
    assert result.code == 0 and "nothing of the answer can be read aloud" in result.err
    assert len(model.asked) == 3 and result.out.rstrip().endswith("Three.")


def test_an_interrupt_at_the_prompt_ends_it(run, writer, lines, player):
    writer("One.")
    lines(KeyboardInterrupt())
    assert run("ask", "Hello?", tty=("stdout", "stderr")).code == 130
