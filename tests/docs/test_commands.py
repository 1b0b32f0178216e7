"""Whatever the papers show as a command runs, or, where it needs what is not here, is at least one that could."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from s2mlx.cli.main import COMMANDS, command_parser, main

from .markdown import ROOT, blocks, commands, lines, papers, piped

# What stands beside our own command in the papers. A new word here is one more thing to ask of a reader.
OTHERS = {
    "python3", "python", ".venv/bin/pip", ".venv/bin/python", ".venv/bin/ruff", ".venv/bin/mypy", "pip", "uv", "sox",
    "echo",
    "cat", "curl", "eval", "mlx.launch",
}  # fmt: skip
BIG = {"s2-pro", "s2-pro-f16", "s2-pro-q6_k"}  # models that are not here


def shown():
    """(paper, command line, its `s2mlx` commands) of all papers."""
    for paper in papers():
        for block in blocks(paper, "sh"):
            for line in lines(block):
                ours = [
                    words[1:] for words in map(launched, commands(line)) if words[0] in ("s2mlx", ".venv/bin/s2mlx")
                ]
                yield str(paper.relative_to(ROOT)), line, ours


def launched(words):
    """What a launcher starts, or the words as they are."""
    return words[words.index("--") + 1 :] if words[0] == "mlx.launch" else words


def parsed(words):
    """The options of a command line of ours, as its parser takes them; raises for one that is wrong."""
    _, parser = command_parser(words[0])
    return parser.parse(words[1:])


def lacks(words) -> str | None:
    """What a test does not have, of what a command needs."""
    args = parsed(words)
    if words[0] in ("tui", "record", "serve", "download", "devices"):
        return {"tui": "a terminal", "record": "a microphone", "serve": "a client", "download": "the network"}.get(
            words[0], "sound devices"
        )
    if words[0] in ("ask", "direct"):
        return "a language model"
    if words[0] == "doctor" or words[0] == "bench" and not (args.chips or args.files or args.buffers):
        return "minutes"
    if words[:2] == ["voice", "add"] and args.text is None and find_spec("moonshine_voice") is None:
        return 'a recognizer: pip install "s2mlx[ear]"'
    if BIG & set(words):
        return "a model of gigabytes"
    return None


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the files that the papers' examples speak of, and a home of its own with the voice `me`."""
    import s2mlx

    folder = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("S2MLX_")]:
            patch.delenv(name)
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / "home" / name.lower()))
        patch.chdir(folder)
        for name in ("chapter.txt", "book.txt"):
            (folder / name).write_text("It was a fine day. The boat went out. Nobody knew it then.\n")
        with s2mlx.load() as tts:
            clip = tts.say("The words that Anna says in the clip.", voice="nora", seed=1)
            for name in ("anna.wav", "bert.wav", "clip.flac", "me.wav"):
                clip.save(name)
            s2mlx.VoiceLibrary().add("me", tts.clone("me.wav", transcript="The words that Anna says in the clip."))
        yield folder


def test_there_are_commands_in_the_papers():
    assert len({line for _, line, ours in shown() if ours}) > 25
    assert {words[0] for _, _, ours in shown() for words in ours} >= {
        "say",
        "config",
        "info",
        "bench",
        "convert",
        "voice",
    }


@pytest.mark.parametrize("paper, line, ours", [pytest.param(*each, id=each[1][:60]) for each in shown()])
def test_a_command_is_one_that_the_parser_takes(paper, line, ours, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for words in ours:
        assert words[0] in COMMANDS
        parsed(words)
    strange = {words[0] for words in commands(line)} - OTHERS - {"s2mlx", ".venv/bin/s2mlx"}
    assert not strange, f"{paper}: {strange} is no command that the reader has been told of"


@pytest.mark.parametrize("option", ["--no-such-option", "--rate=fast"])
def test_a_wrong_option_would_be_found(option):
    with pytest.raises(Exception, match="no-such-option|rate"):
        parsed(["say", "Hello.", option])


@pytest.mark.parametrize("paper", sorted({paper for paper, _, ours in shown() if ours}))
def test_the_commands_of_a_paper_run(paper, desk, monkeypatch, capfd):
    """In their order, in one folder; what would be played goes to a file, and no pass is longer than half a second."""
    monkeypatch.chdir(desk)
    monkeypatch.setenv("S2MLX_MAX_FRAMES", "8")
    for _, line, ours in (each for each in shown() if each[0] == paper):
        for words in ours:
            if lacks(words) is None and not piped(line):
                if words[0] == "say" and not parsed(words).output:
                    words = [*words, "-o", "spoken.wav"]
                assert main(words) == 0, f"{line}\n{capfd.readouterr().err}"


@pytest.mark.parametrize("line", sorted({line for _, line, ours in shown() if piped(line) and ours}))
def test_the_pipes_of_the_papers_run(line, desk, tmp_path):
    """With the real shell and the real command; what plays at their end counts bytes instead."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("s2mlx", f'exec {sys.executable} -m s2mlx "$@"'), ("sox", f"cat > {tmp_path / 'heard'}")):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=desk, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "heard").read_bytes()[:4] == b"RIFF"


@pytest.mark.parametrize(
    "paper, block",
    [(str(p.relative_to(ROOT)), block) for p in papers() for block in blocks(p, "python")],
    ids=lambda value: value[:40].replace("\n", " "),
)
def test_the_python_of_the_papers_runs(paper, block, desk, monkeypatch):
    monkeypatch.chdir(desk)
    exec(compile(block, paper, "exec"), {"__name__": "__main__"})


def test_the_two_commands_that_set_up():
    """The first makes it speak; the second, which CI cuts out by its marker, passes the tests."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first, second = (block.strip() for block in blocks(ROOT / "README.md", "sh")[:2])
    assert first.startswith("python3 setup.py && ") and first.splitlines() == [first] and "s2mlx say" in first
    after = text[text.index("<!-- test -->") :].splitlines()
    assert after[1] == "```sh" and after[2] == second and after[3] == "```"
    [cutting] = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.startswith("command=")]
    script = cutting + '; printf %s "$command"'
    assert subprocess.run(["bash", "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout == second
