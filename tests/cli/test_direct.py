"""`s2mlx direct` with a model that is told what to write."""

import pytest

from s2mlx.language import Directed


@pytest.fixture
def directed(monkeypatch):
    """What the language model makes of any text; `fail` is raised after the first sentence."""

    def use(*sentences, fail=None):
        def sentences_of(text, model):
            at = 0
            for words, added in sentences:
                end = at + len(text) // len(sentences)
                yield Directed(at, end, words, added)
                at = end
                if fail is not None:
                    raise fail

        monkeypatch.setattr("s2mlx.language.direct_sentences", sentences_of, raising=False)
        monkeypatch.setattr("s2mlx.language.find_language_model", lambda name: name, raising=False)

    return use


def test_a_file_into_a_file(run, directed, tmp_path):
    directed(("[sad] One.", 1), (" [pause] Two", 1))
    (tmp_path / "a.txt").write_text("One. Two")
    result = run("direct", "a.txt", "-o", "b.txt", tty=("stderr",))
    assert result.code == 0 and not result.stdout
    assert (tmp_path / "b.txt").read_text() == "[sad] One. [pause] Two" and "2 directions -> b.txt" in result.err


def test_a_pipe_to_stdout(run, directed):
    directed(("[sad] One.\r\n", 1))
    assert run("direct", stdin=b"One.\r\n").stdout == b"[sad] One.\r\n"
    directed(("One.", 0))
    result = run("direct", "-", stdin=b"One.")
    assert result.out == "One." and "nothing to direct" in result.err


def test_interrupted_the_whole_text_is_kept(run, directed, tmp_path):
    directed(("[sad] One.", 1), ("Two", 0), fail=KeyboardInterrupt())
    (tmp_path / "a.txt").write_text("One..Two.")
    result = run("direct", "a.txt", "-o", "b.txt")
    assert result.code == 130 and (tmp_path / "b.txt").read_text() == "[sad] One..Two."
    assert "the whole text" in result.err


@pytest.mark.parametrize(
    ("argv", "stdin", "said"),
    [
        ([], None, "name a FILE"),
        (["-"], b"... \n", "stdin has no words"),
        (["a.txt", "-o", "b.wav"], None, "would hold text"),
        (["nothing.txt"], None, "cannot read nothing.txt"),
        (["a.txt", "-o", "no/b.txt"], None, "there is no folder"),
        (["a.txt", "--lm", "no/such-model"], None, "s2mlx download no/such-model"),
    ],
)
def test_what_cannot_be_directed(run, tmp_path, argv, stdin, said):
    (tmp_path / "a.txt").write_text("One.")
    result = run("direct", *argv, stdin=stdin)
    assert result.code in (1, 2) and said in result.error
