"""Voices on the main screen, on a real library in a folder of the test's own."""

import dataclasses

from s2mlx_app.engine.hearing import HeardTake
from s2mlx_app.widgets.status_line import StatusLine
from s2mlx_app.widgets.voice_list import VoiceList

from s2mlx.config import ModelConfig
from s2mlx.errors import VoiceError
from s2mlx.voices import Voice

from .conftest import notices, running, until
from .fakes import a_voice, hum


def state(app):
    return app.main.query_one(StatusLine).state


def the_list(app, name=None):
    voices = app.main.query_one(VoiceList)
    voices.focus()
    if name:
        voices.highlight(name)
    return voices


def prompts(app):
    voices = app.main.query_one(VoiceList)
    return [str(voices.get_option_at_index(i).prompt) for i in range(voices.option_count)]


async def test_lists_length_language_and_outline(make_app):
    app = make_app(languages={"anna": "de"})
    async with running(app):
        own, anna, ben = prompts(app)
        assert own.startswith("▸0 model's own voice")
        assert "anna" in anna and "8.2 s de" in anna and "█" in anna
        assert "11.1 s" in ben and "█" not in ben


async def test_enter_chooses_and_the_choice_is_kept(make_app):
    app = make_app()
    async with running(app) as pilot:
        the_list(app, "ben")
        await pilot.press("enter")
        assert app.settings.cast == ("ben",) and prompts(app)[2].startswith("▸0 ben")
        await until(pilot, lambda: not app.jobs.running)
    assert make_app().settings.cast == ("ben",)


async def test_audition_plays_the_clip_and_says_when_there_is_none(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        the_list(app, "anna")
        await pilot.press("space")
        await until(pilot, lambda: studio.players and not app.jobs.running)
        assert abs(studio.players[0].queued - 8.2) < 0.05
        the_list(app, "ben")
        await pilot.press("space")
        await until(pilot, lambda: "without its clip" in state(app))


async def test_rename_moves_cast_and_language_along(make_app, studio):
    app = make_app(cast=("anna",), languages={"anna": "de"})
    async with running(app) as pilot:
        the_list(app, "anna")
        await pilot.press("r")
        app.screen.query_one("#field-name").value = "Hanna"
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.names() == ["ben", "Hanna"]
        assert app.settings.cast == ("Hanna",) and app.settings.languages == {"Hanna": "de"}
        the_list(app, "Hanna")
        await pilot.press("r")
        app.screen.query_one("#field-name").value = "../out"
        await pilot.press("enter")
        assert "cannot be the name" in str(app.screen.query_one("#trouble").content)
        assert studio.library.names() == ["ben", "Hanna"] and not app.jobs.running


async def test_delete_and_undo(make_app, studio):
    app = make_app(cast=("anna",))
    async with running(app) as pilot:
        the_list(app, "anna")
        await pilot.press("d")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.names() == ["ben"] and app.settings.cast == () and "u brings it back" in state(app)
        await pilot.press("u")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.names() == ["anna", "ben"] and app.settings.cast == ("anna",)


async def test_export_then_import(make_app, studio, tmp_path):
    app = make_app()
    async with running(app) as pilot:
        the_list(app, "anna")
        await pilot.press("e")
        app.screen.query_one("#field-path").value = str(tmp_path / "shared.s2voice")
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert Voice.load(tmp_path / "shared.s2voice") == a_voice("anna", 177)
        the_list(app)
        await pilot.press("i")
        app.screen.query_one("#field-path").value = str(tmp_path / "shared.s2voice")
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert "shared" in studio.library.names() and app.settings.cast == ("shared",)


async def test_importing_a_broken_file_gives_one_message(make_app, studio, tmp_path):
    (tmp_path / "bad.s2voice").write_bytes(b"S2VOICE\0garbage")
    app = make_app()
    async with running(app) as pilot:
        the_list(app)
        await pilot.press("i")
        app.screen.query_one("#field-path").value = str(tmp_path / "bad.s2voice")
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.names() == ["anna", "ben"] and app.main.work.job is None
        assert str(app.screen.query_one("#trouble").content) and not notices(
            app
        )  # the form has it, ready for another try


async def test_a_broken_voice_in_the_folder_is_shown_as_such(make_app, studio):
    (studio.library.folder / "cracked.s2voice").write_bytes(b"nonsense")
    app = make_app()
    async with running(app) as pilot:
        assert any("cracked" in line and "unusable" in line for line in prompts(app))
        the_list(app, "cracked")
        await until(pilot, lambda: "not a voice file" in state(app))


async def test_add_from_a_clip_can_be_cancelled(make_app, studio, tmp_path):
    clip = tmp_path / "clip.wav"
    clip.write_bytes(b"x")
    studio.files[clip] = hum(6)
    studio.engine.clone_gate.close()
    app = make_app()
    async with running(app) as pilot:

        async def add():
            the_list(app)
            await pilot.press("a")
            app.screen.query_one("#field-path").value = str(clip)
            app.screen.query_one("#field-words").value = " "
            await pilot.press("enter")
            assert "words are needed" in str(app.screen.query_one("#trouble").content)
            app.screen.query_one("#field-words").value = "What was said."
            await pilot.press("enter")

        await add()
        await until(pilot, lambda: "encoding" in state(app))
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)
        assert "clip" not in studio.library.names()
        studio.engine.clone_gate.open()
        await add()
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.get("clip").transcript == "What was said." and app.settings.cast == ("clip",)
        assert app.main.query_one(VoiceList).current == "clip"
        assert studio.library.clip("clip") is not None


async def fill(app, pilot, **values):
    for name, value in values.items():
        app.screen.query_one(f"#field-{name}").value = value
    await pilot.press("enter")


async def test_a_name_that_cannot_be_is_said_before_anything_is_made(make_app, studio, tmp_path):
    clip = tmp_path / "my clip #2.wav"
    clip.write_bytes(b"x")
    studio.files[clip] = hum(6)
    app = make_app()
    async with running(app) as pilot:
        trouble = lambda: str(app.screen.query_one("#trouble").content)
        the_list(app)
        await pilot.press("a")
        await fill(app, pilot, path=str(clip), words="Long words.")
        assert "cannot be the name" in trouble()
        await fill(app, pilot, name="ANNA")
        assert "there is a voice anna already" in trouble() and not app.jobs.running
        await fill(app, pilot, name="new")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.get("new").transcript == "Long words."
        the_list(app, "new")
        await pilot.press("r")
        await fill(app, pilot, name="Ben")
        assert "there is a voice ben already" in trouble()
        await fill(app, pilot, name="New")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.names() == ["anna", "ben", "New"]
        assert app.voices.free_name("ANNA") == "ANNA-2" and app.voices.name_trouble("ben ")


async def test_the_words_of_a_clip_are_heard_and_read_by_a_person(make_app, studio, tmp_path):
    clip = tmp_path / "clip.wav"
    clip.write_bytes(b"x")
    studio.files[clip] = hum(6)
    studio.hears = lambda words: HeardTake("Whatt was said.", freely=True)
    app = make_app()
    async with running(app) as pilot:
        the_list(app)
        await pilot.press("a")
        await fill(app, pilot, path=str(clip))
        await until(pilot, lambda: not app.jobs.running and app.screen.query("#field-words"))
        assert app.screen.query_one("#field-words").value == "Whatt was said."
        assert "correct them" in str(app.screen.query_one("#trouble").content)
        assert "clip" not in studio.library.names()
        await fill(app, pilot, words="What was said.")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.get("clip").transcript == "What was said."

        studio.hears = lambda words: HeardTake("")
        await pilot.press("a")
        await fill(app, pilot, path=str(clip), name="other")
        await until(pilot, lambda: not app.jobs.running and app.screen.query("#field-words"))
        assert "no words were heard" in str(app.screen.query_one("#trouble").content)


async def test_a_form_whose_work_fails_comes_back_with_what_was_typed(make_app, studio, tmp_path):
    clip = tmp_path / "clip.wav"
    clip.write_bytes(b"x")
    studio.files[clip], studio.engine.clone_fail = hum(6), VoiceError("this clip holds no speech")
    app = make_app()
    async with running(app) as pilot:
        the_list(app)
        await pilot.press("a")
        await fill(app, pilot, path=str(clip), words="Typed by hand.", name="new")
        await until(pilot, lambda: not app.jobs.running and app.screen.query("#field-words"))
        assert app.screen.query_one("#field-words").value == "Typed by hand."
        assert "no speech" in str(app.screen.query_one("#trouble").content)
        studio.engine.clone_fail = None
        studio.engine.clone_gate.close()
        await pilot.press("enter")
        await until(pilot, lambda: "encoding" in state(app))
        await pilot.press("escape")  # cancelled: asked again, it knows
        await until(pilot, lambda: not app.jobs.running)
        assert app.screen is app.main
        await pilot.press("a")
        assert app.screen.query_one("#field-words").value == "Typed by hand."
        studio.engine.clone_gate.open()
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.get("new").transcript == "Typed by hand."
        await pilot.press("a")
        assert app.screen.query_one("#field-words").value == ""


async def test_a_voice_removed_in_another_session_comes_back(make_app, studio):
    studio.library.remove("anna")
    app = make_app()
    async with running(app) as pilot:
        app.main.voices.forms.bring_back()
        await until(pilot, lambda: app.screen.query("#lines"))
        assert "anna" in str(app.screen.query_one("#lines").get_option_at_index(0).prompt)
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.library.names() == ["anna", "ben"] and app.main.query_one(VoiceList).current == "anna"
        app.main.voices.forms.bring_back()
        await until(pilot, lambda: not app.jobs.running)
        assert "no voice was removed" in state(app) and app.screen is app.main


async def test_a_voice_of_another_model_is_made_again_from_its_clip(make_app, studio):
    studio.engine.config = ModelConfig(codec=dataclasses.replace(ModelConfig().codec, sample_rate=48000))
    app = make_app(cast=("anna",))
    async with running(app) as pilot:
        _, anna, ben = prompts(app)
        assert "8.2 s" in anna and "unusable" in ben
        for _ in range(2):
            await pilot.press("ctrl+s")
            await until(pilot, lambda: not app.jobs.running)
        first, second = (request.voice[0] for request in studio.engine.calls)
        assert (
            [made.name for made in studio.engine.cloned] == ["anna"]
            and first == second
            and first.transcript == "The words of anna."
            and first != a_voice("anna", 177)
        )
        app.change(cast=("ben",))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert "another model" in state(app) and len(studio.engine.calls) == 2


async def test_a_voice_from_the_command_line_is_listed_but_not_saved(make_app, studio):
    app = make_app(guests={"guest": a_voice("guest")}, cast=("guest",))
    async with running(app) as pilot:
        assert any(line.startswith("▸0 guest") for line in prompts(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.engine.calls[0].voice[0].name == "guest"
        the_list(app, "guest")
        await pilot.press("d")
        assert "not saved" in state(app)
