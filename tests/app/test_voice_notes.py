"""A voice's card: notes and settings of its own, and how the list tells voices apart."""

import json

import pytest
from s2mlx_app.screens.form import Form
from s2mlx_app.state.known_voices import KnownVoices
from s2mlx_app.state.voice_notes import VoiceNote, VoiceNotes
from s2mlx_app.widgets.voice_list import BUNDLED, VoiceRow

from s2mlx.config import ModelConfig
from s2mlx.errors import UsageError
from s2mlx.options import Options

from .conftest import running, until
from .test_voices import prompts, state, the_list

ROWS = [VoiceRow("anna", 8.0, "de", notes="for stories"), VoiceRow("ben"), VoiceRow("clara", bundled=True)]


async def test_a_voice_speaks_with_what_is_its_own(make_app, studio):
    app = make_app(cast=("anna",), temperature=0.5)
    async with running(app) as pilot:
        the_list(app, "anna")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Form))
        about = " ".join(str(label.content) for label in app.screen.query(".meaning"))
        assert "your own · 8.22 s" in about and "fits Fake S2" in about
        for name, value in (("notes", "close, warm"), ("seed", "7"), ("rate", "9")):
            app.screen.query_one(f"#field-{name}").value = value
        await pilot.press("ctrl+s")
        assert "rate must be" in str(app.screen.query_one("#trouble").content)
        app.screen.query_one("#field-rate").value = "1.2"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(app.screen, Form) and not app.jobs.running)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: studio.engine.calls and not app.jobs.running)
        options = studio.engine.calls[0].options
        assert (options.seed, options.rate, options.temperature) == (7, 1.2, 0.5)
        the_list(app, "ben")
        the_list(app, "anna")
        await until(pilot, lambda: "close, warm" in state(app))
    assert make_app().voices.notes.of("anna") == VoiceNote("close, warm", seed=7, rate=1.2)


async def test_notes_follow_a_renamed_voice(make_app):
    app = make_app()
    app.voices.notes.change("anna", VoiceNote("warm"))
    async with running(app) as pilot:
        the_list(app, "anna")
        await pilot.press("r")
        app.screen.query_one("#field-name").value = "anne"
        await pilot.press("enter")
        await until(pilot, lambda: app.main.voice_list.current == "anne" and not app.jobs.running)
    notes = make_app().voices.notes
    assert notes.of("anne").notes == "warm" and notes.of("anna") == VoiceNote()


async def test_own_and_bundled_voices_stand_apart_and_typing_filters_them(make_app):
    app = make_app()
    async with running(app) as pilot:
        voices = the_list(app)
        voices.show(ROWS, ())
        assert [line.split()[-1 if BUNDLED in line else 0] for line in prompts(app)][0] == "▸0"
        own, anna, ben, heading, clara = prompts(app)
        assert "anna" in anna and "ben" in ben and heading.startswith("── bundled ─") and "clara" in clara
        voices.highlight("ben")
        await pilot.press("down")  # over the heading
        assert voices.current == "clara"
        await pilot.press("slash", "s", "t", "o")
        assert voices.current == "anna" and len(prompts(app)) == 1 and "/ sto" in voices.border_title
        await pilot.press("backspace", "escape")
        assert len(prompts(app)) == 5 and voices.border_title == "Voices"
        await pilot.press("slash", "r", "a", "enter")  # r is no command here
        await until(pilot, lambda: app.settings.cast == ("clara",))
        assert voices.typed is None
        await until(pilot, lambda: not app.jobs.running)
        the_list(app)
        await pilot.press("slash", "q", "q")
        assert prompts(app) == [] and voices.current is None
        await pilot.press("enter")
        app.main.editor.area.focus()
        await pilot.pause()
        assert voices.typed is None and app.settings.cast == ("clara",)


async def test_a_voice_of_another_model_says_that_it_is_made_again(make_app, studio):
    studio.engine.config = ModelConfig(num_codebooks=8)
    app = make_app()
    async with running(app) as pilot:
        await until(pilot, lambda: any("unusable" in line for line in prompts(app)))
        _, anna, ben = prompts(app)
        assert "anna ↻" in anna and "unusable" in ben  # which has no clip
        row = next(row for row in app.main.voice_list.rows if row.name == "anna")
        assert "made again from its clip for Fake S2" in row.about


def test_two_apps_keep_what_each_has_noted(tmp_path):
    first, second = VoiceNotes(tmp_path / "voices.json"), VoiceNotes(tmp_path / "voices.json")
    first.change("anna", VoiceNote("of the first"))
    second.change("ben", VoiceNote(pause_ms=400))
    first.save()
    second.save()
    kept = VoiceNotes(tmp_path / "voices.json")
    assert kept.of("anna").notes == "of the first" and kept.of("ben").pause_ms == 400
    kept.change("anna", VoiceNote())
    kept.save()
    assert json.loads((tmp_path / "voices.json").read_text()) == {"ben": {"pause_ms": 400}}


@pytest.mark.parametrize("entry", ['{"rate": 9}', '{"notes": 3}', '{"seed": "x"}', "7", '{"temperature": 1e999}'])
def test_a_damaged_entry_costs_itself(tmp_path, entry):
    (tmp_path / "voices.json").write_text(f'{{"anna": {entry}, "ben": {{"notes": "whole", "later": 1}}}}')
    notes = VoiceNotes(tmp_path / "voices.json")
    assert notes.of("anna") == VoiceNote() and notes.of("ben").notes == "whole" and len(notes.complaints) == 1


def test_a_damaged_file_is_put_aside(tmp_path):
    (tmp_path / "voices.json").write_text("no")
    assert len(VoiceNotes(tmp_path / "voices.json").complaints) == 1 and not (tmp_path / "voices.json").exists()


def test_only_what_a_voice_has_of_its_own_is_applied():
    assert VoiceNote().applied(Options(seed=3)) == Options(seed=3)
    assert VoiceNote(rate=1.5, pause_ms=0).applied(Options(seed=3)) == Options(seed=3, rate=1.5, pause_ms=0)
    with pytest.raises(UsageError):
        VoiceNote(rate=9)


async def test_what_is_kept_of_a_voice_goes_with_it_when_another_program_renames_it(make_app, studio):
    """Also where two swap their names; and a voice that takes the old name begins with nothing."""
    app = make_app(cast=("anna", "ben"))
    async with running(app) as pilot:
        app.voices.notes.change("anna", VoiceNote("warm", rate=1.2))
        app.change(languages={"anna": "de", "ben": "fr"})
        voice = studio.library.get("ben")
        studio.library.rename("anna", "maria")
        studio.library.rename("ben", "anna")
        studio.library.rename("maria", "ben")
        app.main.voices.refresh()
        app.main.voices.refresh()
        await until(pilot, lambda: app.settings.cast == ("ben", "anna") and not app.jobs.running)
        assert app.settings.languages == {"ben": "de", "anna": "fr"}
        assert app.voices.notes.of("ben").notes == "warm" and app.voices.notes.of("anna") == VoiceNote()
        assert [row.notes for row in app.main.voice_list.rows if row.name == "ben"] == ["warm"]
    studio.library.rename("ben", "clara")
    studio.library.add("ben", voice)
    app = make_app(cast=("ben",))
    async with running(app) as pilot:
        await until(pilot, lambda: app.settings.cast == ("clara",) and not app.jobs.running)
        assert app.voices.notes.of("clara").rate == 1.2 and app.voices.notes.of("ben") == VoiceNote()
        assert app.settings.languages == {"clara": "de", "anna": "fr"}


def test_a_voice_that_comes_back_under_another_name_is_known(tmp_path):
    known = KnownVoices(tmp_path / "ids.json")
    assert known.see({"anna": "1", "ben": "2"}) == {}
    assert known.see({"ben": "2"}) == {}
    known.save()
    known = KnownVoices(tmp_path / "ids.json")
    assert known.see({"ben": "2", "maria": "1"}) == {"anna": "maria"} and known.see({"ben": "2", "maria": "1"}) == {}
    assert known.see({"ben": "9", "maria": "1"}) == {}  # made again
    (tmp_path / "ids.json").write_text("[]")
    assert KnownVoices(tmp_path / "ids.json").complaints
