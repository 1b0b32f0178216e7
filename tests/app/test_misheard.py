"""Words that a check did not hear: marked in the text, and their sentence said again by one key."""

import pytest
from s2mlx_app.speaking.misheard import Misheard

from s2mlx.results import Hearing

from .conftest import running, until

pytest.importorskip("whisper_normalizer", reason='comparing words needs the extra: pip install "s2mlx[ear]"')

TEXT = "The harbour was quiet. Nobody had heard the boat come in. It was late."
WRONG = Hearing("The harbour was quiet. Nobody had come in. It was late late.", 14, 5, right=False)


class Chunk:
    def __init__(self, span, heard, text=""):
        self.span, self.heard, self.text = span, heard, text


def sentences():
    ends = [i + 1 for i, c in enumerate(TEXT) if c == "."]
    return list(zip([0, *ends], ends))


def marked(words):
    return [TEXT[begin:end] for begin, end in words]


def test_words_that_were_not_heard_are_found_in_the_text():
    found = Misheard(TEXT, lambda text: sentences())
    assert found.sentence(0) is None and not found.checked
    assert found.add(Chunk((0, len(TEXT)), WRONG)) and found.checked
    assert marked(found.words) == ["heard the boat", "late"]
    assert not Misheard(TEXT).add(Chunk((0, 9), Hearing("The harbor", 2, 0)))


def test_the_sentence_at_the_cursor_or_the_next_is_said_again_in_its_speaker_s_voice():
    found = Misheard(TEXT, lambda text: sentences())
    found.add(Chunk((0, len(TEXT)), WRONG, "<|speaker:1|>" + TEXT))
    second, third = sentences()[1:]
    assert found.sentence(0) == found.sentence(30) == second and found.sentence(third[0] + 2) == third
    assert found.take(second) == "<|speaker:1|>Nobody had heard the boat come in."
    assert found.sentence(30) == third and marked(found.words) == ["late"]
    found.take(third)
    assert found.sentence(0) is None


async def test_they_are_marked_and_one_key_says_the_sentence_again(make_app, studio):
    studio.engine.hearings = [WRONG]
    app = make_app(text=TEXT)
    async with running(app) as pilot:
        area = app.main.editor.area
        await pilot.press("f9")
        assert "nothing was checked" in app.main.status.state
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert marked(area.misheard) == ["heard the boat", "late"]
        studio.engine.hearings = []
        await pilot.press("f9")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.engine.calls[-1].text == "Nobody had heard the boat come in."
        assert marked(area.misheard) == ["late"]
        app.main.editor.insert("Well. ")  # the marks move with the text
        await pilot.pause()
        assert [app.main.editor.text[b:e] for b, e in area.misheard] == ["late"]
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert area.misheard == []


async def test_words_spoken_as_they_are_typed_are_marked_where_they_stand_by_now(make_app, studio):
    studio.engine.hearings = [Hearing("The harbour was.", 3, 1, right=False)]
    app = make_app(text="Before. ")
    async with running(app) as pilot:
        area = app.main.editor.area
        area.move_cursor(area.document.end)
        await pilot.press("f12")
        area.insert("The harbour was quiet. And then")
        await until(pilot, lambda: marked_in(app) == ["quiet"])
        area.insert("Long ", (0, 0))
        await pilot.pause()
        assert marked_in(app) == ["quiet"]
        studio.engine.hearings = []
        await pilot.press("f9")
        await until(pilot, lambda: studio.engine.calls[-1].text == "The harbour was quiet.")
        assert marked_in(app) == []
        await pilot.press("escape", "escape")


def marked_in(app):
    return [app.main.editor.text[b:e].strip(" .") for b, e in app.main.editor.area.misheard]


def test_a_text_is_cut_into_sentences_only_when_one_is_asked_for():
    asked = []
    found = Misheard(TEXT, lambda text: asked.append(text) or sentences())
    assert found.sentence(0) is None and not asked
