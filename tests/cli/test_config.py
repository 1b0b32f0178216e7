"""`s2mlx config` and the defaults file: what may stand in it, what goes before it, and that nothing in it is lost."""

import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest

import s2mlx
from s2mlx.cli.main import COMMANDS, command_parser
from s2mlx.files import KEYS, read_defaults, write_default
from s2mlx.weights.catalog import configured
from tests.synthetic import make_model

from ..fakes import FakeSynthesizer


@pytest.fixture
def file(tmp_path):
    return tmp_path / "home" / "config" / "s2mlx" / "defaults.toml"


@pytest.fixture
def edit(file):
    """edit(text): the file as a person has written it."""

    def write(text, name="defaults.toml"):
        file.parent.mkdir(parents=True, exist_ok=True)
        (file.parent / name).write_text(text)

    return write


def test_set_show_and_remove(run, file, tmp_path):
    assert run("config", "device", "USB").code == 0 and run("config", "top-p", "0.7").code == 0
    assert run("config", "device").out == "USB\n" and run("config", "top-p").out == "0.7\n"
    assert tomllib.loads(file.read_text()) == {"device": "USB", "top-p": 0.7}
    assert run("config", "device", "--unset").code == 0
    result = run("config", "device")
    assert result.code == 1 and "device is not set" in result.error and result.stdout == b""
    assert tomllib.loads(file.read_text()) == {"top-p": 0.7}


def test_the_list_names_every_setting_and_its_source(run, file, monkeypatch):
    run("config", "pause-ms", "100")
    monkeypatch.setenv("S2MLX_VOICE", "anna\nben")
    rows = {row[0]: row[1:] for row in (line.split(maxsplit=2) for line in run("config").out.splitlines())}
    assert list(rows) == list(KEYS)
    assert rows["pause-ms"] == ["100", str(file)] and rows["batch"] == ["-", "not set"]
    assert rows["model"] == ["s2-nano", "bundled"] and rows["voice"][-1].endswith("S2MLX_VOICE")
    shown = run("config", "--json").json
    assert shown["pause-ms"] == {"value": "100", "source": str(file)}
    assert shown["voice"] == {"value": "anna, ben", "source": "S2MLX_VOICE"}
    assert shown["model"] == {"value": "s2-nano", "source": None}
    assert run("config", "batch", "--json").json == {"batch": {"value": None, "source": None}}


def test_option_over_variable_over_file_over_default(run, tts, player, monkeypatch):
    def pause(*words):
        assert run("say", "Hi.", *words).code == 0
        return tts.calls[-1].options.pause_ms

    assert pause() == 250
    run("config", "pause-ms", "100")
    assert pause() == 100
    monkeypatch.setenv("S2MLX_PAUSE_MS", "200")
    assert pause() == 200 and pause("--pause-ms", "300") == 300


def test_the_model_of_the_file_is_opened(run, tts, player, tmp_path):
    make_model(tmp_path / "m.gguf")
    assert run("config", "model", "m.gguf").code == 0
    assert run("say", "Hi.").code == 0 and tts.loaded[-1]["model"] == str(tmp_path / "m.gguf")  # from any folder
    assert configured() == str(tmp_path / "m.gguf")  # and by s2mlx.load()
    assert run("config", "model", "--unset").code == 0 and configured() is None


def test_a_known_model_may_be_set_before_it_is_fetched(run, monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    result = run("config", "model", "s2-pro-q6_k")
    assert result.code == 0 and "warning: " in result.err and "s2mlx download s2-pro-q6_k" in result.err
    assert run("config", "model").out == "s2-pro-q6_k\n"


def test_the_app_keeps_its_own_settings(run, edit, monkeypatch):
    """What it remembers is not overruled at every start."""
    import s2mlx_app

    given = {}
    monkeypatch.setattr(s2mlx_app, "run", lambda **options: given.update(options) or 0)
    edit('voice = "anna"\ndevice = "USB"\nmodel = "m.gguf"\n')
    assert run("tui").code == 0 and given["voice"] is given["device"] is given["model"] is None


def test_the_file_gives_way_to_what_it_would_contradict(run, edit, monkeypatch):
    edit('voice = ["anna", "ben"]\n')
    parse = lambda *words: command_parser("say")[1].parse(words)
    assert parse("Hi.").voice == ["anna", "ben"]
    assert parse("Hi.", "--ref", "a.wav").voice is None
    monkeypatch.setenv("S2MLX_REF", "a.wav")
    assert parse("Hi.").voice is None


def test_a_written_file_keeps_its_comments(run, edit, file):
    edit("# nothing yet\n")
    assert run("config", "batch", "2").code == 0 and file.read_text() == "# nothing yet\nbatch = 2\n"
    edit("# mine\ntemperature = 0.5  # calm\n")
    assert run("config", "trim", "yes").code == 0
    assert "# mine\ntemperature = 0.5  # calm\n" in file.read_text() and read_defaults()["trim"] == "true"


def test_two_at_once_lose_nothing_of_each_other_s(run, file):
    values = {"device": "USB", "voice": "anna", "top-k": 5, "trim": True, "pause-ms": 1, "batch": 2}
    with ThreadPoolExecutor(len(values)) as pool:
        list(pool.map(write_default, values, values.values()))
    assert tomllib.loads(file.read_text()) == values


@pytest.mark.parametrize(
    "words, what",
    [
        (["modell", "x"], "did you mean 'model'?"),
        (["seed", "7"], "known: model"),
        (["seed"], "known: model"),
        (["seed", "--unset"], "known: model"),
        (["top-p", "2"], "top-p must be"),
        (["batch", "few"], "batch must be"),
        (["trim", "perhaps"], "trim must be"),
        (["memory-limit", "-3"], "memory-limit must be"),
        (["model", "nothing.gguf"], "no model nothing.gguf"),
        (["voice", "nobody"], "nobody"),
        (["voice", "a\nb"], "voice takes one value"),
        (["device", ""], "VALUE is empty"),
        (["device", " "], "device takes one value"),
        (["device", "a", "b"], "too many words"),
        (["--unset"], "config KEY --unset"),
        (["device", "a", "--unset"], "config KEY --unset"),
        (["device", "a", "--json"], "--json"),
    ],
)
def test_what_means_nothing_is_refused_and_nothing_written(run, file, words, what):
    result = run("config", *words)
    assert result.code in (1, 2) and what in result.error and not file.exists()


@pytest.mark.parametrize(
    "text, what",
    [
        ("vioce = 'anna'", "there is no setting 'vioce'; did you mean 'voice'?"),
        ("[say]\nvoice = 'a'", "there is no setting 'say'"),
        ("voice = {a = 1}", "voice must be a text"),
        ("voice = [[{a = 1}]]", "voice must be a text"),
        ("top-p = 7", "top-p must be above 0"),
        ("trim = 3", "trim must be 1 or 0"),
        ("voice anna", "is not TOML"),
        ("voice = 'a'\nvoice = 'b'", "is not TOML"),
        ("voice = \0", "is not UTF-8 text"),
        ("# " + "x" * 1_000_001, "longer than"),
    ],
)
def test_a_bad_file_is_named_in_one_line(run, tts, player, edit, file, text, what):
    edit(text)
    result = run("say", "Hi.")
    assert result.code in (1, 2) and str(file) in result.error and what in result.error and not tts.loaded
    assert run("say", "--help").code == run("voice", "list").code == 0  # what needs no setting does not fail


def test_a_bad_setting_can_be_removed(run, edit, file):
    edit("vioce = 'anna'\ntop-p = 7\n")
    assert run("config", "vioce", "--unset").code == run("config", "top-p", "--unset").code == 0
    assert run("config").code == 0 and tomllib.loads(file.read_text()) == {}


def test_a_variable_that_goes_before_is_said(run, monkeypatch):
    monkeypatch.setenv("S2MLX_DEVICE", "USB")
    assert "S2MLX_DEVICE is set and goes before" in run("config", "device", "Built-in").err
    assert run("config", "device").out == "USB\n"
    monkeypatch.setenv("S2MLX_SAY_DEVICE", "Loud")
    assert "S2MLX_SAY_DEVICE is set and goes before" in run("config", "device", "Built-in").err
    assert run("config", "device", "--json").json == {"device": {"value": "Loud", "source": "S2MLX_SAY_DEVICE"}}


def test_the_file_of_one_line_is_still_read(run, edit, file):
    edit("s2-pro-q6_k\n", name="model")
    assert configured() == "s2-pro-q6_k" and run("config", "model").out == "s2-pro-q6_k\n"
    edit("model = 's2-nano'\n")
    assert configured() == "s2-nano"
    assert run("config", "model", "--unset").code == 0
    assert configured() is None and not (file.parent / "model").exists()


@pytest.mark.parametrize("words", [["--unset"], ["s2-nano"]])
def test_the_file_of_one_line_gives_way_to_the_new_one(run, edit, file, monkeypatch, words):
    monkeypatch.setattr("s2mlx.weights.find_model", lambda spec: None, raising=False)
    edit("s2-pro-q6_k\n", name="model")
    assert run("config", "model", *words).code == 0 and not (file.parent / "model").exists()
    assert configured() == (None if words == ["--unset"] else "s2-nano")


def test_a_voice_by_its_path_means_the_same_from_every_folder(run, tmp_path):
    FakeSynthesizer().clone("clip.wav", "Words.", name="me").save(tmp_path / "me.s2voice")
    assert run("config", "voice", "me.s2voice").code == 0
    assert run("config", "voice").out == f"{tmp_path / 'me.s2voice'}\n"


def test_a_user_without_a_home_has_no_defaults(run, tts, monkeypatch):
    monkeypatch.setenv("HOME", "/")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr("platformdirs.user_config_path", lambda *a, **k: (_ for _ in ()).throw(RuntimeError()))
    assert read_defaults() == {} and run("say", "Hi.", "-o", "a.wav").code == run("config", "--help").code == 0
    assert "no home" in run("config", "device", "USB").error


def test_every_key_is_an_option_of_say_or_ask_and_means_the_same_everywhere():
    keys = {s.key for name in ("say", "ask") for s in command_parser(name)[1].settings}
    assert set(KEYS) <= keys
    for name in COMMANDS:
        for setting in command_parser(name)[1].settings:
            assert setting.key not in KEYS or setting.variable == "S2MLX_" + setting.key.replace("-", "_").upper()


def test_python_takes_the_file_s_model(edit, tmp_path):
    edit(f"model = '{tmp_path}/gone.gguf'\n")
    with pytest.raises(s2mlx.ModelError, match=r"gone\.gguf"):
        s2mlx.load()


def test_the_language_model(run, tmp_path):
    (tmp_path / "own").mkdir()
    assert run("config", "lm", "own").code == 0
    assert run("config", "lm").out.strip() == str(tmp_path / "own")
    assert run("config", "--json").json["lm"]["value"] == str(tmp_path / "own")
    assert command_parser("ask")[1].parse([]).lm == str(tmp_path / "own") == command_parser("direct")[1].parse([]).lm
