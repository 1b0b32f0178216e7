"""The main screen: text to sound, with the fake engine and loudspeaker."""

import dataclasses
import threading

import numpy as np
import pytest
from s2mlx_app.widgets.status_line import StatusLine
from s2mlx_app.widgets.transport import Transport
from s2mlx_app.widgets.voice_list import VoiceList

from s2mlx.config import ModelConfig
from s2mlx.errors import DeviceError, GenerationError, ModelError

from .conftest import TEXT, notices, running, until


def state(app):
    return app.main.query_one(StatusLine).state


def enabled(app):
    return {b.id.removeprefix("do-") for b in app.main.query_one(Transport).query("Button") if not b.disabled}


async def test_speaks_the_text_and_shows_the_figures(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        [request] = studio.engine.calls
        assert request.text == TEXT and request.voice is None
        [player] = studio.players
        assert player.finished and abs(player.queued - 40 * 2048 / 44100) < 1e-6
        shown = app.main.status.shown
        assert (shown.first_audio, shown.rtf, shown.frames, shown.memory) == (0.31, 0.5, 40, 5_100_000_000)
        assert abs(app.main.wave.envelope.seconds - player.queued) < 1e-6
        assert state(app) == "ready" and enabled(app) == {"speak", "replay", "save", "live", "record"}


async def test_stop_silences_and_keeps_what_was_made(make_app, studio):
    studio.engine.gate.close()
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.audio is not None and app.main.speech.audio.samples)
        assert "stop" in enabled(app)
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.players[0].stopped and state(app) == "stopped"
        [entry] = app.history.entries()
        assert entry.finish_reason == "cancelled" and entry.frames >= 4


async def test_speaking_again_stops_the_first(make_app, studio):
    studio.engine.gate.close()
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: studio.players)
        first = app.main.speech.audible
        await pilot.press("ctrl+s")
        await until(pilot, first.job.cancel.is_set)
        studio.engine.gate.open()  # not sooner, or the first might be through before it is stopped
        await until(pilot, lambda: not app.jobs.running)
        assert len(studio.engine.calls) == 2
        assert app.main.speech.audio.stats.frames == 40


async def test_the_sentence_being_heard_is_marked(make_app, studio):
    studio.loudspeakers.speed = 0
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.audio and app.main.speech.audio.stats.frames == 40)
        player, area = studio.players[0], app.main.editor.area
        marked = set()
        for share in (0.05, 0.5, 0.95):
            player.position = share * player.queued
            app.main.speech.tick()
            begin, end = area.heard
            marked.add(TEXT[begin:end].strip())
        assert marked == {
            "The harbour was quiet.",
            "[whisper] Nobody had heard the boat come in.",
            "Would you believe it?",
        }
        row = TEXT[: area.heard[0] + 1].count("\n")
        assert any(span.style.bold and span.style.underline for span in area.get_line(row).spans)
        assert app.main.wave.position == player.position
        await pilot.press("escape")
        assert area.heard is None


async def test_tags_complete(make_app):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press(*"[whi")
        menu = app.main.editor.menu
        assert menu.display and menu.option_count == 2
        await pilot.press("down", "enter")
        assert app.main.editor.text == "[whispering]" and not menu.display
        await pilot.press(*" hi ", "[", "escape")
        assert not menu.display and app.screen is app.main
        await pilot.press("enter")
        assert app.main.editor.text == "[whispering] hi [\n"


async def test_a_model_without_tags_is_offered_none(make_app, studio):
    studio.engine.config = ModelConfig(dialogue=False)
    app = make_app(text="", cast=("anna",))
    async with running(app) as pilot:
        editor = app.main.editor
        assert "tags" not in str(editor.area.placeholder)
        await pilot.press(*"[whi")
        [line] = editor.menu.options
        assert editor.menu.display and line.disabled and line.prompt == "this model ignores [tags]"
        await pilot.press("enter")
        assert editor.text == "[whi\n" and not editor.menu.display  # a key of the text, as without a menu
        await pilot.press("[", "escape")
        assert not editor.menu.display
        await pilot.press("backspace", "<")
        assert [str(line.prompt).split()[0] for line in editor.menu.options] == ["<|speaker:0|>"]


@pytest.mark.parametrize("lines", [1, 6, 40])
@pytest.mark.parametrize("size", [(80, 24), (80, 16), (40, 12), (20, 6)])
async def test_an_open_menu_of_tags_can_be_seen(make_app, size, lines):
    app = make_app(text="\n".join(f"line {n}" for n in range(lines)))
    async with running(app, size) as pilot:
        editor = app.main.editor
        editor.area.move_cursor(editor.area.document.end)
        await pilot.press("[")
        await pilot.pause()
        inside = editor.area.region.contains_region(editor.menu.region)
        assert editor.menu.display and inside
        assert editor.area.cursor_screen_offset not in editor.menu.region
        await pilot.press("enter")
        assert editor.text.endswith("[angry]")


async def test_a_text_file_takes_the_place_of_the_draft_and_gives_it_back(make_app, tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffNew.\r\nLines.".encode())
    app = make_app(text="My draft.")
    async with running(app) as pilot:
        await open_text(app, pilot, tmp_path / "a.txt")
        assert app.main.editor.text == "New.\nLines."
        await pilot.press("ctrl+z")
        assert app.main.editor.text == "My draft."


@pytest.mark.parametrize(
    "data, why",
    [
        (b"word " * 300_000, "longer than 1 MB"),
        ("Grüße".encode("latin-1"), "not UTF-8"),
        ("Hi".encode("utf-16-le"), "not UTF-8"),
    ],
)
async def test_a_text_file_that_cannot_be_read_whole_is_refused(make_app, tmp_path, data, why):
    (tmp_path / "a.txt").write_bytes(data)
    app = make_app()
    async with running(app) as pilot:
        await open_text(app, pilot, tmp_path / "a.txt")
        assert why in state(app) and app.main.editor.text == TEXT


async def open_text(app, pilot, path):
    command = next(c for c in app.get_system_commands(app.screen) if c.title == "Open a text file")
    command.callback()
    await until(pilot, lambda: app.screen.query("#field-path"))
    app.screen.query_one("#field-path").value = str(path)
    await pilot.press("enter")
    await until(pilot, lambda: not app.jobs.running)
    app.main.editor.area.focus()


async def test_speakers_are_bound_to_voices(make_app, studio):
    text = "<|speaker:0|>Hello.<|speaker:1|>Hello you."
    app = make_app(text=text)
    async with running(app) as pilot:
        voices = app.main.query_one(VoiceList)
        voices.focus()
        voices.highlight("anna")
        await pilot.press("enter")
        await pilot.press("ctrl+s")
        assert "speaker 1 has no voice" in state(app) and not studio.engine.calls
        voices.highlight("ben")
        await pilot.press("1")
        assert app.settings.cast == ("anna", "ben")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert [voice.name for voice in studio.engine.calls[0].voice] == ["anna", "ben"]


@pytest.mark.parametrize("number", ["10", "99999999999", "9" * 5000])
@pytest.mark.parametrize("cast", [(), ("anna",) * 10])
async def test_speakers_without_a_key_are_refused(make_app, studio, number, cast):
    app = make_app(text=f"<|speaker:{number}|>hi", cast=cast)
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert "only 0 to 9" in state(app) and len(state(app)) < 80 and not studio.engine.calls


async def test_replay_and_click_in_the_waveform(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        await pilot.press("ctrl+b")
        await until(pilot, lambda: not app.jobs.running)
        assert len(studio.players) == 2 and len(studio.engine.calls) == 1
        assert abs(studio.players[1].queued - studio.players[0].queued) < 1e-6
        wave = app.main.wave
        await pilot.click(wave, offset=(wave.size.width // 2, 1))
        await until(pilot, lambda: len(studio.players) == 3 and not app.jobs.running)
        assert abs(studio.players[2].queued / studio.players[0].queued - 0.5) < 0.02


async def test_saves_the_sound_and_asks_before_replacing(make_app, studio, tmp_path):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        target = tmp_path / "out.flac"
        target.write_bytes(b"old")
        await pilot.press("ctrl+o")
        field = app.screen.query_one("#field-path")
        assert field.value == "the-harbour-was-quiet-nobody.wav"
        field.value = str(tmp_path / "out.xyz")
        await pilot.press("enter")
        assert "must end in" in str(app.screen.query_one("#trouble").content)
        field.value = str(target)
        await pilot.press("enter")
        assert "exists" in str(app.screen.query_one("#trouble").content) and target.read_bytes() == b"old"
        app.screen.query_one("#field-codes").value = True
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert len(studio.files[target]) == 40 * 2048 and (tmp_path / "out.npy").exists()
        assert state(app) == f"saved {target}" and not notices(app)
        assert np.load(tmp_path / "out.npy").shape == (10, 40)


async def test_frames_in_a_file_of_that_name_are_not_replaced_unasked(make_app, tmp_path):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        (tmp_path / "x.npy").write_bytes(b"precious")
        await pilot.press("ctrl+o")
        app.screen.query_one("#field-path").value = str(tmp_path / "x.wav")
        app.screen.query_one("#field-codes").value = True
        await pilot.press("enter")
        assert "x.npy exists" in str(app.screen.query_one("#trouble").content)
        await pilot.press("escape")
        assert (tmp_path / "x.npy").read_bytes() == b"precious" and not (tmp_path / "x.wav").exists()


@pytest.mark.parametrize("typed", ["~nobody-of-this-name/x.wav", "y" * 5000 + ".wav", "no/such/x.wav", "a\0b.wav"])
async def test_no_path_that_is_typed_breaks_the_form(make_app, typed):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        await pilot.press("ctrl+o")
        app.screen.query_one("#field-path").value = typed
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert app.is_running and (app.screen.query("#trouble") or app.main.status.mood == "failed")


async def asked_to_save(pilot, studio, path):
    """Speech under way, three pieces of it made, and the form that saves it filled in."""
    app = pilot.app
    studio.engine.gate.close()
    studio.engine.gate.let(2)
    await pilot.press("ctrl+s")
    await until(pilot, lambda: app.main.speech.audio and len(app.main.speech.audio.samples) == 3)
    await pilot.press("ctrl+o")
    app.screen.query_one("#field-path").value = str(path)


async def test_speech_is_saved_whole_though_asked_for_while_it_is_made(make_app, studio, tmp_path):
    app = make_app()
    async with running(app) as pilot:
        await asked_to_save(pilot, studio, tmp_path / "x.wav")
        app.screen.query_one("#field-codes").value = True
        await pilot.press("enter")
        await until(pilot, lambda: notices(app))
        assert "when the speech is complete" in [n.message for n in notices(app)][0] and not studio.files
        studio.engine.gate.let(20)
        await until(pilot, lambda: not app.jobs.running)
        assert len(studio.files[tmp_path / "x.wav"]) == 40 * 2048 and np.load(tmp_path / "x.npy").shape == (10, 40)
        assert state(app) == f"saved {tmp_path / 'x.wav'}"


async def test_what_was_stopped_is_saved_as_such(make_app, studio, tmp_path):
    app = make_app()
    async with running(app) as pilot:
        await asked_to_save(pilot, studio, tmp_path / "x.wav")
        await pilot.press("enter", "escape")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.files and state(app).startswith(f"saved {tmp_path / 'x.wav'}: 0.") and "stopped" in state(app)


async def test_pauses_and_goes_on(make_app, studio):
    studio.engine.gate.close()
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("f2")
        assert state(app).startswith("nothing to pause")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.audio and app.main.speech.audio.samples)
        await pilot.press("f2")
        assert studio.players[0].paused and "F2 goes on" in state(app)
        studio.engine.gate.let()
        await until(pilot, lambda: app.main.speech.audio.stats.frames == 8)
        assert "F2 goes on" in state(app)
        await pilot.press("f2")
        assert not studio.players[0].paused and state(app) == "speaking"
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)


async def test_speaks_as_soon_as_the_model_is_there(make_app, studio):
    studio.load_gate.close()
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.ready and "40%" in state(app))
        await pilot.press("ctrl+s")
        assert "as soon as" in state(app)
        studio.load_gate.open()
        await until(pilot, lambda: studio.engine.calls and not app.jobs.running)
        assert app.main.speech.audio.stats.frames == 40


async def test_loading_can_be_cancelled_and_begun_again(make_app, studio):
    studio.load_gate.close()
    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.ready and app.loader.loading)
        await pilot.press("escape")
        await until(pilot, lambda: not app.loader.loading)
        assert app.loader.engine is None and "cancelled" in state(app)
        studio.load_gate.open()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: studio.engine.calls and not app.jobs.running)


async def test_a_model_that_fails_says_why(make_app, studio):
    studio.load_error = ModelError("model.gguf needs 9 GB, the machine has 8: take a smaller file")
    app = make_app()
    async with running(app, (80, 24)):
        assert "needs 9 GB" in state(app) and "^g" in state(app)


async def test_without_a_loudspeaker_the_speech_is_still_made(make_app, studio):
    from s2mlx.audio.hardware.devices import find

    with pytest.raises(DeviceError) as nothing:
        find([], None, output=True)
    studio.output_error, studio.engine.rtf = nothing.value, 3.2
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert app.main.speech.audio.stats.frames == 40 and "save" in enabled(app)
        assert "no output device" in state(app) and "^o saves it" in state(app) and "-o" not in state(app)
        assert len(state(app)) <= 78  # beside the figures at 80 columns
        assert not notices(app)
        await pilot.press("ctrl+b")
        await until(pilot, lambda: not app.jobs.running)
        assert "no output device" in state(app) and "-o" not in state(app)


async def test_a_loudspeaker_that_vanishes_does_not_end_the_speech(make_app, studio):
    studio.engine.gate.close()
    studio.engine.gate.let(1)
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: studio.players and len(studio.players[0].heard) == 2)
        studio.players[0].error = DeviceError("the headset is gone")
        for _ in range(20):
            studio.engine.gate.let()
        await until(pilot, lambda: not app.jobs.running)
        assert app.main.speech.audio.stats.frames == 40
        assert state(app).startswith("made, unheard") and "the headset is gone" in state(app)


async def test_an_engine_that_fails_midway_leaves_a_message(make_app, studio):
    studio.engine.fail_at, studio.engine.failure = 4, GenerationError("the text is too long for the context")
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert "too long" in state(app) and app.main.speech.audible is None and "speak" in enabled(app)


async def test_a_fault_of_ours_is_told_and_logged(make_app, studio):
    studio.engine.fail_at, studio.engine.failure = 4, ZeroDivisionError("oops")
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert "ZeroDivisionError: oops" in state(app)
        assert "Traceback" in app.log_path.read_text()


async def test_says_that_the_limit_ended_the_speech(make_app, studio):
    studio.engine.finish = "length"
    studio.loudspeakers.speed = 0
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "not the model" in state(app))


async def test_the_text_is_kept_and_comes_back(make_app):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press(*"Keep me")
        await pilot.press("ctrl+q")
    assert app.return_code == 0
    assert make_app(text=None).main.editor.text == "Keep me"


async def test_a_full_disk_is_told_once_and_does_not_hold_one_back(make_app, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    app = make_app()
    monkeypatch.setattr(app.session, "keep_text", full)
    async with running(app) as pilot:
        app.keep_text("a")
        app.keep_text("ab")
        await until(pilot, lambda: not app.jobs.running)
        assert "the disk is full" in state(app) and "cannot be kept for the next start" in state(app)
        app.main.say("something else")
        app.keep_text("abc")
        await until(pilot, lambda: not app.jobs.running)
        assert state(app) == "something else"
        await pilot.press("ctrl+q")
        assert app.return_code is None and "Quit again to leave all the same" in state(app) and not notices(app)
        await pilot.press("ctrl+q")
    assert app.return_code == 0


async def test_a_device_that_hangs_holds_up_neither_the_screen_nor_leaving(make_app, studio, monkeypatch):
    hang = threading.Event()
    monkeypatch.setattr(studio, "open_output", lambda *_: hang.wait())
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("x", "ctrl+s", "escape", "y")
        assert app.main.editor.text == "xy" and state(app) == "stopped"
        await pilot.press("ctrl+q")
        assert not app.leave()
        hang.set()


async def test_leaving_while_speaking_is_quick(make_app, studio):
    studio.engine.gate.close()
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.audio and app.main.speech.audio.samples)
        await pilot.press("ctrl+q")
    assert app.leave() and studio.players[0].stopped
    for thread in threading.enumerate():
        if thread.name.startswith("s2mlx-sound"):  # it has said that it is done, and may yet have to end
            thread.join(5)
            assert not thread.is_alive()


async def test_what_the_model_cannot_speak_is_said_once(make_app, studio):
    app = make_app(text="Das Boot ist nicht mehr da, und wir haben es nicht gesehen.")
    async with running(app) as pilot:
        app.loader.engine.config = dataclasses.replace(app.loader.engine.config, languages=("en",))
        for _ in range(2):
            app.main.action_speak()
            await until(pilot, lambda: app.main.speech.has_audio)
            app.main.action_stop()
            await pilot.pause()
        assert sum("German" in notice for notice in (one.message for one in notices(app))) == 1


async def test_a_text_without_words_is_nothing_to_say(make_app, studio):
    app = make_app(text="... 🙂 ***")
    async with running(app) as pilot:
        app.main.action_speak()
        await pilot.pause()
        assert not app.main.speech.audible and "no word to say" in app.main.status.state
