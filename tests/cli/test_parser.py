"""Options, their environment variables, and usage errors."""

import pytest

from s2mlx.cli.parser import Parser
from s2mlx.errors import UsageError


@pytest.fixture
def parser():
    parser = Parser(prog="s2mlx try")
    parser.add_argument("text", nargs="*")
    parser.option("-t", "--top-k", type=int, default=30, help="k")
    parser.option("-v", "--voice", action="append", yields_to=("ref",), help="v")
    parser.option("--ref", action="append", yields_to=("voice",), help="r")
    parser.option("--compat", choices=["s2cpp"], help="c")
    parser.option("--quiet", action="store_true", help="q")
    return parser


def test_command_line_over_environment_over_default(parser, monkeypatch):
    assert parser.parse([]).top_k == 30
    monkeypatch.setenv("S2MLX_TOP_K", "5")
    assert parser.parse([]).top_k == 5
    assert parser.parse(["-t", "7"]).top_k == 7


def test_given_names_what_was_typed(parser, monkeypatch):
    monkeypatch.setenv("S2MLX_TOP_K", "5")
    assert parser.parse(["--quiet"]).given == {"quiet"}


def test_repeatable_options_take_lines(parser, monkeypatch):
    monkeypatch.setenv("S2MLX_VOICE", "anna\nben\n")
    assert parser.parse([]).voice == ["anna", "ben"]
    assert parser.parse(["-v", "me"]).voice == ["me"]


def test_a_variable_gives_way_to_the_option_it_contradicts(parser, monkeypatch):
    monkeypatch.setenv("S2MLX_VOICE", "anna")
    args = parser.parse(["--ref", "clip.wav"])
    assert args.voice is None and args.ref == ["clip.wav"]


@pytest.mark.parametrize("word, meant", [("1", True), ("yes", True), ("ON", True), ("0", False), ("false", False),
                                         ("", False)])
def test_flags(parser, monkeypatch, word, meant):
    monkeypatch.setenv("S2MLX_QUIET", word)
    assert parser.parse([]).quiet is meant


@pytest.mark.parametrize("variable, value", [("QUIET", "perhaps"), ("TOP_K", "many"), ("COMPAT", "other")])
def test_bad_variables_are_named(parser, monkeypatch, variable, value):
    monkeypatch.setenv(f"S2MLX_{variable}", value)
    with pytest.raises(UsageError, match=f"S2MLX_{variable}.*{value}"):
        parser.parse([])


@pytest.mark.parametrize("argv", [["--nonsense"], ["--qui"], ["--top-k", "x"], ["--top-k"], ["--compat", "other"]])
def test_wrong_options_are_errors(parser, argv):
    with pytest.raises(UsageError, match="see s2mlx try --help"):
        parser.parse(argv)


@pytest.mark.parametrize("argv, words", [
    (["a", "-t", "3", "b"], ["a", "b"]),
    (["-t", "3", "a", "b"], ["a", "b"]),
    (["a", "--quiet", "--", "-b", "c"], ["a", "-b", "c"]),
    (["--", "--quiet"], ["--quiet"]),
    (["-5", "degrees"], ["-5", "degrees"]),
    ([""], [""]),
])
def test_words_and_options_in_any_order(parser, argv, words):
    assert parser.parse(argv).text == words


@pytest.mark.parametrize("argv, what", [
    (["say", "Hi.", "-o", ""], "-o/--output"), (["say", "Hi.", "--codes", "", "-o", "a.wav"], "--codes"),
    (["say", "Hi.", "-m", ""], "-m/--model"), (["say", "Hi.", "-v", "me", "-v", ""], "-v/--voice"),
    (["say", "Hi.", "-a="], "-a/--device"), (["say", "-f", ""], "-f/--file"), (["say", "Hi.", "--ref="], "--ref"),
    (["say", "Hi.", "--tokenizer", ""], "--tokenizer"), (["record", ""], "NAME"),
    (["record", "me", "--input="], "--input"), (["tui", "-m", ""], "-m/--model"),
    (["encode", ""], "CLIP"), (["decode", "a.npy", "-o", ""], "-o/--output"), (["info", ""], "MODEL"),
    (["bench", ""], "MODEL"), (["download", ""], "NAME"), (["voice", "export", "me", ""], "FILE"),
    (["voice", "restore", ""], "NAME|TOKEN"), (["voice", "import", "a.s2voice", ""], "NAME")])
def test_nothing_has_an_empty_name(run, tts, player, argv, what):
    """What a script's unset "$OUT" leaves."""
    result = run(*argv, stdin=b"")
    assert result.code == 2 and result.error.startswith(f"error: {what} is empty") and not tts.loaded


def test_an_empty_variable_is_none(parser, monkeypatch):
    monkeypatch.setenv("S2MLX_COMPAT", "")
    monkeypatch.setenv("S2MLX_VOICE", "\n")
    assert parser.parse([]).compat is None and parser.parse([]).voice is None


def test_help_names_every_variable(run):
    from s2mlx.cli.main import COMMANDS

    for command in COMMANDS:
        result = run(command, "--help")
        assert result.code == 0 and result.err == ""
    text = run("say", "--help").out
    for name in ("MODEL", "VOICE", "REF_TEXT", "OUTPUT", "DEVICE", "MAX_FRAMES", "SEED", "JSON", "QUIET", "DEBUG"):
        assert f"[S2MLX_{name}]" in " ".join(text.split())
