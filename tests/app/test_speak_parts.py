"""A part of the text is spoken alone: what is selected, from the cursor on, the paragraph at the cursor."""

import pytest
from s2mlx_app.speaking.text_parts import from_place, paragraph, with_speaker
from textual.widgets.text_area import Selection

from .conftest import running, until
from .test_voices import state

TEXT = "First one. Second one.\n\nThird here. Fourth here.\n\nFifth."


def test_from_a_place_on_begins_with_its_sentence(studio):
    spans = studio.sentences(TEXT)
    assert TEXT[slice(*from_place(TEXT, 0, spans))] == TEXT
    assert TEXT[slice(*from_place(TEXT, TEXT.index("ond"), spans))].strip().startswith("Second one.")
    assert TEXT[slice(*from_place(TEXT, len(TEXT), spans))].strip() == "Fifth."
    assert from_place("", 0, []) == (0, 0)


@pytest.mark.parametrize(
    "at, expected",
    [
        (0, "First one. Second one."),
        (TEXT.index("\n\n"), "First one. Second one."),
        (TEXT.index("\n\n") + 1, "First one. Second one."),
        (TEXT.index("Third"), "Third here. Fourth here."),
        (len(TEXT), "Fifth."),
    ],
)
def test_the_paragraph_at_a_place(at, expected):
    assert TEXT[slice(*paragraph(TEXT, at))] == expected


def test_without_blank_lines_each_line_is_a_paragraph():
    text = "\nOne.\nTwo.\n"
    assert [text[slice(*paragraph(text, at))] for at in (0, 1, 6, len(text))] == ["One.", "One.", "Two.", "Two."]
    assert paragraph("  \n ", 1) == (0, 0)


def test_a_part_keeps_the_voice_of_its_speaker():
    text = "<|speaker:0|>Hello. <|speaker:1|>Well, well. Yes. "
    at = text.index("Yes")
    words, begin = with_speaker(text, (at - 1, len(text)))
    assert words == "<|speaker:1|>Yes." and begin == at - len("<|speaker:1|>")
    assert with_speaker(text, (0, 19)) == ("<|speaker:0|>Hello.", 0)
    assert with_speaker("Plain. Words.", (6, 13)) == ("Words.", 7)


def put(app, text, at, until_=None):
    """The cursor at character `at`, or characters [at, until_) selected."""
    app.main.editor.put(text)
    place = lambda n: (text.count("\n", 0, n), n - text.rfind("\n", 0, n) - 1)
    app.main.editor.area.selection = Selection(place(at), place(at if until_ is None else until_))


async def test_keys_speak_parts_and_mark_where_they_stand(make_app, studio):
    studio.loudspeakers.speed = 0
    app = make_app(text=TEXT)
    async with running(app) as pilot:
        at = TEXT.index("Fourth")
        put(app, TEXT, at + 2)
        await pilot.press("f11")
        await until(pilot, lambda: studio.players and app.main.speech.has_audio)
        assert studio.engine.calls[-1].text == "Third here. Fourth here."
        await until(pilot, lambda: app.main.speech.latest.ended.is_set())
        studio.players[-1].position = 0.2
        app.main.speech.tick()
        begin, end = app.main.editor.area.heard
        assert TEXT[begin:end].strip() == "Third here."  # not the first sentence of the text
        await pilot.press("f10")
        await until(pilot, lambda: len(studio.engine.calls) == 2)
        assert studio.engine.calls[-1].text == "Fourth here.\n\nFifth."
        put(app, TEXT, 6, 17)
        await pilot.press("f10")
        await until(pilot, lambda: len(studio.engine.calls) == 3)
        assert studio.engine.calls[-1].text == "one. Second"
        await pilot.press("escape")


async def test_a_part_waits_for_the_model_as_it_was_asked_for(make_app, studio):
    """The cursor may have moved meanwhile, and the text may be another."""
    studio.load_gate.close()
    app = make_app(text=TEXT)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.ready)
        put(app, TEXT, TEXT.index("Fourth"))
        await pilot.press("ctrl+j")
        assert "speaks as soon as it is loaded" in state(app)
        app.main.editor.area.move_cursor((0, 0))
        await pilot.press("X")
        studio.load_gate.open()
        await until(pilot, lambda: studio.engine.calls)
        assert studio.engine.calls[-1].text == "Third here. Fourth here."
        await pilot.press("escape")
    app.leave()


async def test_the_whole_text_waits_for_the_model_as_it_stands_then_and_escape_forgets_it(make_app, studio):
    studio.load_gate.close()
    app = make_app(text=TEXT)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.ready)
        await pilot.press("f10", "ctrl+s", "end", *" Or so.")
        studio.load_gate.open()
        await until(pilot, lambda: studio.engine.calls)
        assert studio.engine.calls[-1].text == app.main.editor.text and "Or so." in app.main.editor.text
        await pilot.press("escape")
        app.main.requests.part("on")
        app.main.requests.forget()
        assert not app.main.requests.waits
    app.leave()


async def test_the_selection_or_the_paragraph(make_app, studio):
    app = make_app(text=TEXT)
    async with running(app) as pilot:
        put(app, TEXT, 6, 17)
        await pilot.press("ctrl+j")
        await until(pilot, lambda: studio.engine.calls)
        assert studio.engine.calls[-1].text == "one. Second"
        await pilot.press("escape")


async def test_a_part_of_the_second_speaker_has_its_voice(make_app, studio):
    text = "<|speaker:0|>Hello.\n\n<|speaker:1|>Well, well.\n\nYes."
    app = make_app(text=text, cast=("anna", "ben"))
    async with running(app) as pilot:
        put(app, text, len(text))
        await pilot.press("f11")
        await until(pilot, lambda: studio.engine.calls)
        assert studio.engine.calls[-1].text == "<|speaker:1|>Yes."
        assert [voice.name for voice in studio.engine.calls[-1].voice] == ["anna", "ben"]
        await pilot.press("escape")


async def test_without_words_there_is_nothing_to_speak(make_app, studio):
    app = make_app(text="")
    async with running(app) as pilot:
        for key in ("f10", "f11"):
            await pilot.press(key)
            assert "nothing to say yet" in state(app)
        assert studio.engine.calls == []
