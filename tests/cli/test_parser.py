"""Options, their environment variables, and usage errors."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from s2mlx.cli.parser import Parser
from s2mlx.errors import UsageError


@pytest.fixture
def parser():
    parser = Parser(prog="s2mlx try")
    parser.add_argument("text", nargs="*")
    parser.shared("-t", "--top-k", type=int, default=30, help="k")
    parser.shared("-v", "--voice", action="append", yields_to=("ref",), help="v")
    parser.shared("--ref", action="append", yields_to=("voice",), help="r")
    parser.shared("--compat", choices=["s2cpp"], help="c")
    parser.shared("--quiet", action="store_true", help="q")
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


@pytest.mark.parametrize(
    "word, meant", [("1", True), ("yes", True), ("ON", True), ("0", False), ("false", False), ("", False)]
)
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


@pytest.mark.parametrize(
    "argv, words",
    [
        (["a", "-t", "3", "b"], ["a", "b"]),
        (["-t", "3", "a", "b"], ["a", "b"]),
        (["a", "--quiet", "--", "-b", "c"], ["a", "-b", "c"]),
        (["--", "--quiet"], ["--quiet"]),
        (["-5", "degrees"], ["-5", "degrees"]),
        ([""], [""]),
    ],
)
def test_words_and_options_in_any_order(parser, argv, words):
    assert parser.parse(argv).text == words


@pytest.mark.parametrize(
    "argv, what",
    [
        (["say", "Hi.", "-o", ""], "-o/--output"),
        (["say", "Hi.", "--codes", "", "-o", "a.wav"], "--codes"),
        (["say", "Hi.", "-m", ""], "-m/--model"),
        (["say", "Hi.", "-v", "me", "-v", ""], "-v/--voice"),
        (["say", "Hi.", "-a="], "-a/--device"),
        (["say", "-f", ""], "-f/--file"),
        (["say", "Hi.", "--ref="], "--ref"),
        (["say", "Hi.", "--tokenizer", ""], "--tokenizer"),
        (["record", ""], "NAME"),
        (["record", "me", "--input="], "--input"),
        (["tui", "-m", ""], "-m/--model"),
        (["encode", ""], "CLIP"),
        (["decode", "a.npy", "-o", ""], "-o/--output"),
        (["info", ""], "MODEL"),
        (["bench", ""], "MODEL"),
        (["download", ""], "NAME"),
        (["voice", "export", "me", ""], "FILE"),
        (["voice", "restore", ""], "NAME|TOKEN"),
        (["voice", "import", "a.s2voice", ""], "NAME"),
    ],
)
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


def parsers():
    """Every parser that has options, those of actions too."""
    from s2mlx.cli.main import COMMANDS, command_parser

    for name in COMMANDS:
        _, parser = command_parser(name)
        yield from parser.actions.values() or [parser]


def test_options_that_differ_have_variables_that_differ():
    """An exported variable never kills, or is misread by, another command."""
    meanings = {}
    for parser in parsers():
        for s in parser.settings:
            meaning = (s.dest, s.kind, s.convert, s.choices, s.default)
            assert meanings.setdefault(s.variable, meaning) == meaning, (parser.prog, s.variable)
    assert {"S2MLX_BATCH", "S2MLX_BENCH_BATCH", "S2MLX_VOICE_ADD_TEXT", "S2MLX_RECORD_TEXT"} < set(meanings)


def test_only_options_of_say_and_the_language_model_have_plain_variables():
    plain = {s.variable for parser in parsers() if parser.prog == "s2mlx say" for s in parser.settings} | {"S2MLX_LM"}
    for parser in parsers():
        own = "S2MLX_" + "_".join(parser.prog.split()[1:]).upper() + "_"
        for s in parser.settings:
            assert s.variable in plain or s.variable.startswith(own), (parser.prog, s.variable)


def test_one_rule_names_the_variable_of_every_option(run, tts, player, monkeypatch):
    for parser in parsers():
        for s in parser.settings:
            command = [*parser.prog.split()[1:], s.flags.split("/")[-1].lstrip("-")]
            own = "_".join(["S2MLX", *command]).replace("-", "_").upper()
            short = f"S2MLX_{command[-1]}".replace("-", "_").upper()
            assert s.own == own and s.variable in (own, short)
    monkeypatch.setenv("S2MLX_TOP_K", "5")
    monkeypatch.setenv("S2MLX_SAY_TOP_K", "6")  # the longer name is meant for this command
    assert run("say", "Hi.").code == 0 and tts.calls[-1].options.top_k == 6


@pytest.mark.parametrize(
    "flag, words",
    [("--speed", "--rate R"), ("--list-voices", "-v '?'"), ("-r", "--rate R"), ("--file-format=WAVE", "-o FILE")],
)
def test_words_of_other_programs_have_a_line_of_their_own(run, flag, words):
    result = run("say", flag, "1.2", "Hi.")
    assert result.code == 2 and words in result.error and "did you mean" not in result.error


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_options_and_actions(run, shell):
    script = run("completion", shell).out
    assert all(word in script for word in ("convert", "max-frames", "restore"))
    if tool := shutil.which(shell):
        assert subprocess.run([tool, "-n"], input=script, text=True, capture_output=True).returncode == 0


def test_a_variable_of_one_command_leaves_the_others_alone(run, tts, player, monkeypatch):
    monkeypatch.setenv("S2MLX_BENCH_BATCH", "1,2,4")
    monkeypatch.setenv("S2MLX_CONVERT_TYPE", "q2_k")
    assert run("say", "Hi.").code == 0 and tts.calls[-1].options.batch is None
    monkeypatch.setenv("S2MLX_BATCH", "2")
    assert run("say", "Hi.").code == 0 and tts.calls[-1].options.batch == 2
    assert "[S2MLX_BENCH_BATCH]" in run("bench", "--help").out


@pytest.mark.parametrize(
    "argv, near",
    [
        (["say", "Hi.", "--temprature", "0.5"], "--temperature"),
        (["say", "--temprature=0.5", "Hi."], "--temperature"),
        (["voice", "add", "x", "--clp", "a.wav"], "--clip"),
        (["voice", "lst"], "'list'"),
        (["voice", "--hlep"], "--help"),
        (["--versoin"], "--version"),
        (["hepl"], "'help'"),
    ],
)
def test_a_misspelt_option_or_action_is_guessed(run, tts, argv, near):
    result = run(*argv)
    assert result.code == 2 and f"did you mean {near}?" in result.error and not tts.loaded


def test_what_nothing_is_near_to_is_named(run, tts):
    assert "there is no option --zzz; see s2mlx say --help" in run("say", "Hi.", "--zzz").error
    assert "known: add, list" in run("voice", "dance").error
    assert "too many words: b" in run("encode", "a", "b", "-o", "c.npy").error


def test_the_defaults_of_sampling_are_the_models(run):
    text = run("say", "--help").out
    assert text.count("the model's own") >= 3 and "s2mlx info" in text and "0.8" not in text


@pytest.mark.parametrize(
    "words, variables, said",
    [
        (["--top-k", "1.5"], {}, "argument --top-k: must be a whole number, not '1.5'"),
        (["--temperature", "11"], {}, "argument --temperature: must be between 0 and 10, not 11.0"),
        ([], {"S2MLX_TOP_P": "0"}, "S2MLX_TOP_P must be above 0 and at most 1, not 0.0"),
        ([], {"S2MLX_PAUSE_MS": "soon"}, "S2MLX_PAUSE_MS must be a whole number, not 'soon'"),
    ],
)
def test_a_knob_says_what_it_takes_and_whence_it_came(run, tts, monkeypatch, words, variables, said):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = run("say", "Hi.", *words)
    assert result.code == 2 and said in result.error and not tts.loaded


def test_every_knob_is_an_option_of_say(run, tts, player, monkeypatch):
    from s2mlx.options import KNOBS, Options

    monkeypatch.setattr("s2mlx.listen.check_ear", lambda *a: None)

    words = {"temperature": 0.5, "top_p": 0.6, "top_k": 7, "seed": 8, "max_frames": 90, "min_frames": 1, "pause_ms": 2}
    words |= {"rate": 1.5, "trim": True, "normalize": True, "batch": 3, "check": True, "takes": 4}
    argv = [
        part
        for name, value in words.items()
        for part in ([KNOBS[name].option] if value is True else [KNOBS[name].option, str(value)])
    ]
    assert run("say", "Hi.", *argv).code == 0
    assert tts.calls[-1].options == Options(**words) and set(words) == set(KNOBS)


# --- no option is ever ignored --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv",
    [
        ("bench", "--layers", "5"),
        ("bench", "--synthetic", "tiny", "--layers", "5"),
        ("bench", "--type", "q2_k"),
        ("bench", "--nodes", "--json"),
        ("bench", "--stream", "0"),
        ("bench", "--chips", "--frames", "3"),
        ("record", "me", "--text", "Hello.", "--language", "de", "--seconds", "5"),
        ("say", "Hello.", "--raw"),
        ("say", "Hello.", "-o", "a.wav", "-a", "1"),
        ("say", "Hello.", "-f", "text.txt"),
        ("say", "Hello.", "--ref-text", "Words."),
        ("say", "Hello.", "-v", "anna", "--ref", "clip.wav", "--ref-text", "Words."),
    ],
)
def test_what_does_not_apply_is_refused(run, tts, argv):
    result = run(*argv)
    assert result.code == 2 and not tts.loaded, result.err


def test_conditions_are_for_the_command_line_only(run, monkeypatch):
    """A variable in a profile is for many runs: where it does not apply it is left aside."""
    monkeypatch.setenv("S2MLX_BENCH_LAYERS", "5")
    assert "no such file" in run("bench", "nowhere.gguf").error


def test_every_option_is_given_in_some_test():
    """What no test gives may do nothing."""
    given = "\n".join(path.read_text() for path in (Path(__file__).parents[1]).rglob("test_*.py"))
    for parser in parsers():
        for setting in parser.settings:
            flags = [re.escape(flag) for flag in setting.flags.split("/")]
            names = [re.escape(name) for name in (setting.own, setting.variable)]
            knob = rf'"{setting.dest}"'
            found = re.search("|".join([*(rf'["\s]{f}["\s=]' for f in flags), *names, knob]), given)
            assert found, f"{parser.prog} {setting.flags}"
