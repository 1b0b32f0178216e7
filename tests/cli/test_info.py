"""`s2mlx info`: figures of a model file without building it."""

from pathlib import Path

import pytest

from tests.synthetic import make_model, model_parts
from tests.weights.gguf_maker import gguf_bytes


def test_facts(run, tmp_path):
    make_model(tmp_path / "m.gguf", type="q8_0")
    facts = run("info", "m.gguf", "--json").json
    assert facts["types"]["Q8_0"]["tensors"] > 10 and facts["types"]["F16"]["bytes"] > 0
    assert sum(entry["bytes"] for entry in facts["types"].values()) == facts["bytes"]
    assert facts["bytes"] < (tmp_path / "m.gguf").stat().st_size
    assert facts["config"]["slow"]["layers"] == 2 and facts["config"]["codec"]["sample_rate"] == 44100
    assert facts["memory"]["needed"] == facts["memory"]["weights"] + facts["memory"]["kv_cache"]
    assert facts["licence"] is None and facts["is_demo"] is False


def test_text(run, tmp_path, monkeypatch):
    make_model(tmp_path / "m.gguf")
    by_name = run("info", "m.gguf")
    assert by_name.code == 0 and "Q8_0" not in by_name.out and "F16" in by_name.out and by_name.err == ""
    monkeypatch.setenv("S2MLX_MODEL", "m.gguf")
    without_source = lambda result: [line for line in result.out.splitlines() if not line.startswith("chosen by")]
    assert without_source(run("info")) == without_source(by_name)


def test_what_chose_the_model_is_said(run, tmp_path, monkeypatch):
    def chosen(*words):
        [line] = [line for line in run("info", *words).out.splitlines() if line.startswith("chosen by")]
        said = line.removeprefix("chosen by").strip()
        assert run("info", *words, "--json").json["chosen_by"] == said
        return said

    make_model(tmp_path / "m.gguf")
    assert run("config", "model", "m.gguf").code == 0
    assert chosen() == str(tmp_path / "home" / "config" / "s2mlx" / "defaults.toml")
    monkeypatch.setenv("S2MLX_MODEL", "m.gguf")
    assert chosen() == "S2MLX_MODEL"
    assert chosen("-m", "m.gguf") == "-m/--model" and chosen("m.gguf") == "MODEL"


def test_the_bundled_model_was_chosen_by_nobody(run, monkeypatch):
    monkeypatch.setattr("s2mlx.weights.catalog.assets_dir", lambda: Path(__file__).parents[2] / "assets")
    assert "\nchosen by  nobody: it is bundled" in run("info").out
    assert run("info", "--json").json["chosen_by"] is None


def test_the_sampling_that_say_takes_by_default_is_shown(run, tmp_path):
    make_model(tmp_path / "m.gguf")
    [line] = [line for line in run("info", "m.gguf").out.splitlines() if line.startswith("sampling")]
    assert line.split("  ")[-1].strip() == "temperature 0.8, top-p 0.8, top-k 30"


def test_two_models_are_one_too_many(run, tmp_path, monkeypatch):
    make_model(tmp_path / "m.gguf")
    result = run("info", "m.gguf", "-m", "other.gguf")
    assert result.code == 2 and "m.gguf, other.gguf" in result.error and result.stdout == b""
    monkeypatch.setenv("S2MLX_MODEL", "other.gguf")  # what a profile sets gives way
    assert run("info", "m.gguf").code == 0


@pytest.mark.parametrize(
    "keys, shown",
    [
        ({"general.license": "apache-2.0"}, "apache-2.0"),
        ({"general.license": "apache-2.0", "general.license.name": "A"}, "apache-2.0"),
        ({"general.license": "other", "general.license.name": "Ours"}, "Ours"),
        ({"general.license": "other"}, "other"),
        ({"general.license.name": "Ours"}, "Ours"),
        ({"general.license": " "}, None),
        ({"general.license": 7}, None),
    ],
)
def test_the_licence_that_the_file_names(run, tmp_path, keys, shown):
    metadata, tensors = model_parts()
    (tmp_path / "m.gguf").write_bytes(gguf_bytes(metadata | keys, tensors))
    assert run("info", "m.gguf", "--json").json["licence"] == shown
    lines = [line.split()[1:] for line in run("info", "m.gguf").out.splitlines() if line.startswith("licence")]
    assert lines == ([[shown]] if shown else [])


def test_a_file_with_a_part_missing(run, tmp_path):
    make_model(tmp_path / "codec.gguf", ar=False)
    make_model(tmp_path / "ar.gguf", codec=False)
    assert run("info", "codec.gguf", "--json").json["config"]["slow"] is None
    assert "none: it cannot make or read sound" in run("info", "ar.gguf").out


def test_the_licence_of_s2_pro(run):
    from s2mlx.config import ModelConfig
    from s2mlx.weights.facts import is_s2_pro

    assert is_s2_pro(ModelConfig()) and not is_s2_pro(ModelConfig(vocab_size=1280))


@pytest.mark.parametrize("name", ["nothing.gguf", "owner/nothing-here", "no name"])
def test_no_such_model(run, name, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    result = run("info", name)
    assert result.code == 1 and name in result.error
