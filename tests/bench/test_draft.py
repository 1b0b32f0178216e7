"""What a draft of the Fast-AR would be worth: counted right, and a copy in enough bits agrees."""

import json

import numpy as np
import pytest

from s2mlx.bench import draft, synthetic
from s2mlx.cli.main import main
from s2mlx.errors import UsageError


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return synthetic.write_model(tmp_path_factory.mktemp("draft"), synthetic.tiny("f32"))


def test_a_wrong_guess_costs_a_pass_but_for_the_last():
    right = np.array([[1, 1, 1], [0, 1, 1], [1, 1, 0], [0, 0, 0]], bool)
    assert draft.rounds(right) == np.mean([1, 2, 1, 3])


def test_a_copy_without_loss_agrees_in_all(model):
    found = draft.measure(model, "f32", frames=4)
    assert found["agreement"] == 1 and found["passes"] == 1
    assert found["reads"] == pytest.approx((1 + found["all_passes"]) / found["all_passes"])
    assert "would not pay" in draft.text(found)


def test_a_copy_in_few_bits_reads_little_and_agrees_less(model):
    found = draft.measure(model, "q2_k", frames=8)
    assert found["agreement"] < 1 and len(found["by_code"]) == found["all_passes"]
    small = found["reads"] - found["passes"] / found["all_passes"]
    assert small == pytest.approx(84 / 256 / 4)  # bytes of a weight in q2_k over those in f32


def test_a_type_that_does_not_fit(model):
    with pytest.raises(UsageError, match="fits into"):
        draft._Copied({}, draft.GGMLQuantizationType.Q2_K)
    assert main(["bench", "--draft", "q9", "-m", str(model)]) == 2
    assert main(["bench", "--draft", "q4_k_m", "-m", str(model)]) == 2
    assert main(["bench", "--draft", "q2_k", "--frames", "3", "-m", str(model)]) == 2


def test_command(model, capsys):
    assert main(["bench", "--draft", "q8_0", "-m", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "q8_0"
