"""What once cost people their work or misled them: each a flow through the app."""

from urllib.parse import quote

import pytest
from s2mlx_app.paths import dropped, typed
from s2mlx_app.screens.history import HistoryScreen
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.review import Stage
from s2mlx_app.state.history import HistoryEntry
from s2mlx_app.widgets.transport import Transport
from textual import events

from s2mlx.errors import DeviceError, ModelError

from .conftest import running, until
from .fakes import RATE, hum
from .test_recording import label, take


async def test_space_in_the_review_listens_and_records_over_nothing(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await take(app, pilot)
        before = app.screen.review.samples
        await pilot.press("space")
        await until(pilot, lambda: studio.players and not app.jobs.running)
        assert app.screen.stage is Stage.REVIEW and app.screen.review.samples is before and len(studio.recorders) == 1
        studio.loudspeakers.speed = 0
        await pilot.press("space")
        await until(pilot, lambda: len(studio.players) == 2)
        await pilot.press("space")  # and stops
        assert app.screen.review.replay is None and app.screen.stage is Stage.REVIEW
        await until(pilot, lambda: not app.jobs.running)


async def test_another_recording_leaves_the_take_that_was_there(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await take(app, pilot)
        first = app.screen.review.samples
        app.screen.card.put("What I said.")
        app.screen.name_field.value = "mine"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.screen.stage is Stage.RECORDING)
        app.studio.recorders[-1].hear(5.5)
        app.screen.trimmer.focus()
        await pilot.press("ctrl+n", "space")
        await until(pilot, lambda: app.screen.stage is Stage.REVIEW and not app.jobs.running)
        second = app.screen.review.samples
        assert len(first) != len(second) and "take 2 of 2" in label(app, "#cue")
        app.screen.card.put("What I said next.")
        await pilot.press("pageup")
        await until(pilot, lambda: app.screen.stage is Stage.REVIEW and not app.jobs.running)
        assert app.screen.review.samples is first and app.screen.card.words == "What I said."
        assert "take 1 of 2" in label(app, "#cue")
        assert [len(take.samples) for take in app.session.unsaved_takes()] == [len(first), len(second)]
        await pilot.press("escape")
        await pilot.click("#answer-keep")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.jobs.running)
        words = [take.transcript for take in app.session.unsaved_takes()]
        assert words == ["What I said.", "What I said next."]
        await pilot.press("ctrl+r", "enter")  # look at them
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and not app.jobs.running)
        await until(pilot, lambda: app.screen.stage is Stage.REVIEW and not app.jobs.running)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.jobs.running)
        assert studio.library.get("mine").transcript == "What I said next."
        assert [take.transcript for take in app.session.unsaved_takes()] == ["What I said."]
        assert "1 other take is kept" in app.main.situation.remark


async def test_the_warning_of_zeros_goes_when_sound_arrives(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r", "space")
        await until(pilot, lambda: app.screen.stage is Stage.RECORDING)
        microphone = studio.recorders[0]
        microphone.silent = True
        await until(pilot, lambda: "zeros" in label(app, "#verdict"))
        microphone.silent = False
        await until(pilot, lambda: label(app, "#verdict") == "")
        await pilot.press("escape")


async def test_words_typed_by_hand_outlive_the_next_sentence(make_app):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and not app.jobs.running)
        card = app.screen.card
        app.screen.query_one("#words").focus()
        await pilot.press(*"mine")
        typed = card.words
        assert typed.startswith("mine")
        await pilot.press("ctrl+n")
        assert card.words != typed
        app.screen.trimmer.focus()
        await pilot.press("ctrl+z")
        assert card.words == typed
        app.screen.query_one("#language").value = "de"
        await until(pilot, lambda: card.words != typed)
        await pilot.press("ctrl+z")
        assert card.words == typed
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await take(app, pilot)
        app.screen.card.put("by hand")
        await pilot.press("ctrl+n")  # in the review the words are those of the take
        assert app.screen.card.words == "by hand"


async def test_what_is_deleted_from_the_history_comes_back(make_app, studio):
    app = make_app()
    for text in ("one", "two", "three"):
        app.history.add(HistoryEntry(text), hum(1), RATE)
    shown = lambda: [entry.text for entry in app.screen.entries]
    async with running(app) as pilot:
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and app.screen.entries)
        await pilot.press("d")
        await until(pilot, lambda: shown() == ["two", "one"] and not app.jobs.running)
        assert "u brings it back" in label(app, "#said")
        await pilot.press("d")
        await until(pilot, lambda: shown() == ["one"] and not app.jobs.running)
        await pilot.press("escape", "ctrl+t")  # nor does leaving lose them
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and app.screen.entries)
        await pilot.press("u")
        await until(pilot, lambda: shown() == ["two", "one"] and not app.jobs.running)
        await pilot.press("u")
        await until(pilot, lambda: shown() == ["three", "two", "one"] and not app.jobs.running)
        assert not app.screen.check_action("undo", ())
        await pilot.press("space")
        await until(pilot, lambda: studio.players and not app.jobs.running)
        assert abs(studio.players[0].queued - 1) < 1e-6


def test_the_bin_of_the_history_is_emptied_after_a_month(make_app, monkeypatch):
    history = make_app().history
    for text in ("old", "new"):
        history.add(HistoryEntry(text), hum(1), RATE)
    new, old = history.entries()
    history.remove(old)
    import time

    later = time.time() + 31 * 86400
    monkeypatch.setattr("s2mlx_app.state.history.time.time", lambda: later)
    history.remove(new)
    monkeypatch.undo()
    assert not history.removed() and not list((history.folder / ".bin").iterdir())


async def test_a_voice_keeps_its_history_under_another_name(make_app, studio):
    app = make_app()
    app.history.add(HistoryEntry("Spoken.", ("anna", "ben"), seed=5), hum(1), RATE)
    async with running(app) as pilot:
        app.main.voices.forms.rename("anna")
        await pilot.pause()
        app.screen.query_one("#field-name").value = "maria"
        await pilot.press("enter")
        await until(pilot, lambda: "maria" in studio.library.names() and not app.jobs.running)
        assert app.history.entries()[0].voices == ("maria", "ben")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and app.screen.entries)
        await pilot.press("s")
        await until(pilot, lambda: studio.engine.calls and not app.jobs.running)
        assert [voice.name for voice in studio.engine.calls[0].voice] == ["maria", "ben"]


async def test_a_failed_try_leaves_the_last_sound(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.audio and not app.jobs.running)
        before = app.main.speech.audio
        studio.engine.fail_at, studio.engine.failure = 0, ModelError("out of order")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(studio.engine.calls) == 2 and not app.jobs.running)
        assert app.main.speech.audio is before and app.main.wave.envelope.seconds > 1
        await pilot.press("ctrl+b")
        await until(pilot, lambda: len(studio.players) >= 2 and not app.jobs.running)
        assert abs(studio.players[-1].queued - len(before.whole()) / RATE) < 1e-6


async def test_replay_and_save_are_offered_from_the_first_sound_on(make_app, studio):
    studio.engine.gate.close()
    studio.engine.waiting_at = 8
    app = make_app()
    async with running(app) as pilot:
        on = lambda what: not app.main.query_one(Transport).query_one(f"#do-{what}").disabled
        assert not on("replay")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.has_audio)
        assert app.main.speech.is_live and on("replay") and on("save")
        await pilot.press("escape")


async def test_what_is_held_back_knows_nothing_of_the_prompt(make_app, studio):
    """Its reading is over when the sound begins."""
    studio.engine.startup, studio.engine.rtf = 20.0, 0.5
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.players[0].rtf == pytest.approx(0.5)


async def test_the_wave_grows_when_the_device_is_gone(make_app, studio):
    studio.loudspeakers.speed = 0
    studio.engine.gate.close()
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.audio and app.main.speech.audio.samples)
        app.main.speech.tick()
        assert app.main.wave.position is not None
        studio.players[0].error = DeviceError("unplugged")
        studio.engine.gate.open()
        await until(pilot, lambda: app.main.speech.audio.stats.frames == 40)
        assert app.main.wave.position is None and app.main.status.mood == "failed"
        assert app.main.wave.envelope.seconds == pytest.approx(40 * 2048 / 44100)


async def test_a_voice_renamed_on_the_command_line_keeps_its_history(make_app, studio):
    app = make_app(cast=("anna",))
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        studio.library.rename("anna", "Anna Maria")
        assert [entry.voices for entry in app.history.entries()] == [("Anna Maria",)]
        studio.library.rename("ben", "anna")  # another one takes the name
        assert [entry.voices for entry in app.history.entries()] == [("Anna Maria",)]
        studio.library.remove("Anna Maria")
        assert [entry.voices for entry in app.history.entries()] == [("anna",)]  # as it was called then


async def test_gaps_stay_counted_when_the_sound_has_ended(make_app, studio):
    studio.loudspeakers.speed = 0
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: studio.players and app.main.speech.has_audio)
        studio.players[0].underruns = 3
        app.main.speech.tick()
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)
        assert app.main.status.shown.underruns == 3


@pytest.mark.parametrize("startup", [0.0, 5.0])
async def test_the_history_has_the_factor_of_the_main_screen(make_app, studio, startup):
    studio.engine.startup, studio.engine.rtf, studio.engine.frames = startup, 0.5, 120
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.history.entries() and not app.jobs.running)
        assert app.history.entries()[0].rtf == app.main.status.shown.rtf == pytest.approx(0.5, abs=0.02)


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "it's my clip.wav"
    path.write_bytes(b"x")
    return path


@pytest.mark.parametrize(
    "given",
    [
        lambda path: str(path),
        lambda path: f"  {path} ",
        lambda path: str(path).replace(" ", "\\ ").replace("'", "\\'"),
        lambda path: '"' + str(path) + '"',
        lambda path: "'" + str(path).replace("'", "'\\''") + "' ",
        lambda path: "file://" + quote(str(path)),
        lambda path: "file://localhost" + quote(str(path)) + "\r\n",
    ],
)
def test_paths_are_read_as_terminals_give_them(clip, given):
    assert typed(given(clip)) == dropped(given(clip)) == clip


@pytest.mark.parametrize("text", ["", "hello there", "/no/such file.wav", "'", "a\nb", "file://[", "\0", "x" * 9000])
def test_other_texts_are_no_dropped_files(text):
    assert dropped(text) is None
    typed(text)


async def test_dropped_files_offer_what_can_be_made_of_them(make_app, clip, tmp_path):
    book = tmp_path / "a book.txt"
    book.write_text("Its words.")
    app = make_app()
    async with running(app) as pilot:
        before = app.main.editor.text
        app.post_message(events.Paste("file://" + quote(str(clip))))
        await until(pilot, lambda: bool(app.screen.query("#field-words")))
        assert app.screen.query_one("#field-path").value == str(clip)
        await pilot.press("escape")
        assert app.main.editor.text == before
        app.post_message(events.Paste(str(book).replace(" ", "\\ ")))
        await until(pilot, lambda: app.main.editor.text == "Its words." and not app.jobs.running)
        await pilot.press("ctrl+z")
        assert app.main.editor.text == before
        app.post_message(events.Paste("plain words"))
        await until(pilot, lambda: "plain words" in app.main.editor.text)


async def test_an_imported_voice_that_cannot_speak_is_nobodys_speaker(make_app, studio, tmp_path):
    import numpy as np

    from s2mlx.voices import Voice

    path = tmp_path / "odd.s2voice"
    path.write_bytes(Voice(np.zeros((3, 50), np.int32), "Of another model.", RATE, 4096, "odd").to_bytes())
    app = make_app(cast=("anna",))
    async with running(app) as pilot:
        app.main.voices.forms.import_file(str(path))
        await pilot.pause()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "odd" in studio.library.names() and not app.jobs.running)
        assert app.settings.cast == ("anna",) and "another model" in app.main.status.state
