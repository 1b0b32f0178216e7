"""What loading takes: every stage of a real load, in processes of their own, as a table and as JSON."""

import json

import pytest

from s2mlx.bench import loading, process
from s2mlx.cli.main import main
from s2mlx.weights import compiled


@pytest.fixture
def one_try(monkeypatch):
    """Processes whose seconds are told by the way they go."""
    asked = []

    def run(module, job, variables=None):
        asked.append(variables)
        slow = 3.0 if variables == {"S2MLX_KERNELS": "off"} else 1.0
        stages = (*loading.STAGES, "loading", "all")
        yield {stage: {"wall": slow, "cpu": slow + 1} for stage in stages} | {"memory": len(asked) * 10**9}

    monkeypatch.setattr(process, "run", run)
    monkeypatch.setattr(compiled, "available", lambda: True)
    return asked


def test_both_ways_by_turns(one_try, tmp_path):
    found = loading.measure(tmp_path / "m.gguf")
    assert one_try == [{"S2MLX_KERNELS": "on"}, {"S2MLX_KERNELS": "off"}] * 3
    assert found["ways"]["opened"]["AR"] == {"wall": 3.0, "cpu": 4.0} and found["ways"]["opened"]["memory"] == 6 * 10**9
    first, _, *rows, last = loading.text(found).splitlines()
    assert first == "| seconds (of CPU time) | machine code | opened |"
    assert rows[0] == "| file | 1.00 (2.00) | 3.00 (4.00) |" and len(rows) == len(loading.STAGES) + 2
    assert last == "| memory of the process | 5.00 GB | 6.00 GB |"


def test_a_real_load():
    [found] = process.run(loading.__name__, process.load_arguments("assets/nano/s2-nano.gguf", None, None, None))
    assert set(found) == {*loading.STAGES, "loading", "all", "memory"}
    parts = sum(found[stage]["wall"] for stage in ("loading", "first frame", "first sound"))
    assert 0 < found["AR"]["wall"] < found["loading"]["wall"] < parts <= found["all"]["wall"]


def test_the_command(one_try, capsys):
    assert main(["bench", "--loading", "--synthetic", "tiny", "--type", "q8_0,f16", "--json"]) == 0
    assert [set(found["ways"]) for found in json.loads(capsys.readouterr().out)] == [{"machine code", "opened"}] * 2
    assert main(["bench", "--loading", "--synthetic", "tiny"]) == 0
    assert "| first sound | 1.00 (2.00) | 3.00 (4.00) |" in capsys.readouterr().out
    assert main(["bench", "--loading", "--frames", "3"]) == 2
    assert "--loading measures one thing only: leave out --frames" in capsys.readouterr().err
