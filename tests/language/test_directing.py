"""Stage directions by a model that is told what to write, and by a real one of random weights."""

import re
import threading

import pytest

from s2mlx.errors import ModelError, UsageError
from s2mlx.language import direct, direct_sentences, find_language_model, undirected
from s2mlx.text import DIRECTIONS

from .conftest import make_language_model
from .scripted import ScriptedModel

TEXT = "“Don't wake him,” she said.  It was\nlate.\n\n... <|speaker:1|>Hello, [sad] Mr. Smith! 語 très tard…\r\n"


@pytest.fixture
def scripted(monkeypatch):
    """scripted(answer, ...): the model that every path opens."""

    def use(*answers):
        model = ScriptedModel(*answers)
        monkeypatch.setattr("s2mlx.language.model.LanguageModel", lambda path: model)
        monkeypatch.setattr("s2mlx.language.directing.find_language_model", lambda name: name)
        return model

    return use


def test_directions_are_put_in_and_the_rest_stays(scripted):
    model = scripted("[whispering] One two.", "Three [pause] four.")
    told = []
    found = direct("One two.  Three four.\n", on_progress=lambda *numbers: told.append(numbers))
    assert found == "[whispering] One two.  Three [pause] four.\n" and told == [(0, 22), (10, 22), (22, 22)]
    assert "Sentence: Three four." in model.asked[1].messages[-1]["content"]
    assert "One two." in model.asked[1].messages[-1]["content"] and "[tsk]" in model.asked[0].messages[0]["content"]


@pytest.mark.parametrize("answer", ["Two one.", "[shrieking] One", "", "[pause] [pause] [sad] One [", "[pause"])
def test_a_model_cannot_change_a_word(scripted, answer):
    scripted(answer)
    found = direct("One two.")
    assert undirected(found) == "One two." and found.count("[") <= 1 and "shrieking" not in found


def test_a_sentence_that_is_not_brought_to_its_end_stays_as_it_was(scripted, monkeypatch):
    model = scripted("[pause] One two.", "[sad] Three.")
    write = model.write
    monkeypatch.setattr(
        model, "write", lambda *args, max_tokens, **how: write(*args, max_tokens=min(max_tokens, 14), **how)
    )
    assert direct("One two. Three.") == "One two. [sad] Three."


def test_the_tags_of_the_author_stay(scripted):
    scripted("[sad] One [excited] two.")
    assert direct("[sad] One two.") == "[sad] One [excited] two."


def test_cancelled_the_rest_is_as_it_was(scripted):
    scripted("[sad] One.", "[sad] Two.", "[sad] Three.")
    cancel = threading.Event()
    found = direct("One. Two. Three.", on_progress=lambda done, _: done and cancel.set(), cancel=cancel)
    assert undirected(found) == "One. Two. Three." and found.startswith("[sad] One. ") and "Three" in found


def test_what_has_no_words_asks_no_model(scripted):
    model = scripted()
    assert direct(" ... \n[pause]\n") == " ... \n[pause]\n" and direct("") == "" and not model.asked


def test_a_real_model_changes_no_word(tiny):
    found = list(direct_sentences(TEXT, str(tiny)))
    directed = "".join(one.text for one in found)
    assert undirected(directed) == undirected(TEXT) and sum(one.added for one in found) > 0
    assert [one.begin for one in found] == [0, *(one.end for one in found[:-1])] and found[-1].end == len(TEXT)
    assert directed == direct(TEXT, str(tiny))
    assert all(tag in DIRECTIONS for tag in re.findall(r"\[([^\]]+)\]", directed))


def test_models_that_are_not_there(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    for name, said in [
        (str(tmp_path / "empty"), "no config.json"),
        (str(tmp_path / "nothing"), "neither a folder nor owner/repo"),
        ("nobody/nothing-here", "s2mlx download nobody/nothing-here"),
    ]:
        with pytest.raises(ModelError, match=said):
            direct("Hello.", name)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"s2mlx\[lm\]"):
        find_language_model()


def test_a_model_that_cannot_be_read(tmp_path):
    pytest.importorskip("mlx_lm", reason="needs mlx-lm: pip install 's2mlx[lm]'")
    folder = make_language_model(tmp_path / "broken")
    (folder / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ModelError, match="mlx-lm cannot load the language model"):
        direct("Hello.", str(folder))
    (folder / "config.json").write_text('{"model_type": "no such"}')
    with pytest.raises(ModelError, match="mlx-lm cannot load the language model"):
        direct("Hello.", str(folder))
