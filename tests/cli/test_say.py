"""`s2mlx say` in this process, with a fake synthesizer: what goes in, where the sound goes, what is printed."""

import dataclasses
import json

import numpy as np
import pytest
import soundfile

from s2mlx.audio import pcm16, stream_wav_header

from ..fakes import FRAME, RATE

PIECE = pcm16(np.full(FRAME, 0.25, np.float32))


def last(tts):
    return tts.calls[-1]


# --- text ---------------------------------------------------------------------------------------------------


def test_words_are_joined_by_spaces(run, tts, player):
    assert run("say", "Hello", "there.").code == 0
    assert last(tts).text == "Hello there."


def test_a_pipe_is_read(run, tts, player):
    assert run("say", stdin="Grüße.\n".encode()).code == 0
    assert last(tts).text == "Grüße.\n"


def test_words_leave_stdin_alone(run, tts, player):
    assert run("say", "Hello.", stdin=b"not this").code == 0
    assert last(tts).text == "Hello."


@pytest.mark.parametrize("name", ["text.txt", "-"])
def test_a_file_is_read(run, tts, player, tmp_path, name):
    (tmp_path / "text.txt").write_bytes("\ufeffFrom a file.".encode())
    assert run("say", "-f", name, stdin="\ufeffFrom a file.".encode()).code == 0
    assert last(tts).text == "From a file."


def test_nothing_to_say_at_a_keyboard(run, tts):
    result = run("say")
    assert result.code == 2 and "nothing to say" in result.error and not tts.loaded


@pytest.mark.parametrize("text", ["🙂", "...", "---", "***", "\x1b[31m\x1b[0m", "<|speaker:1|>…"])
def test_a_text_without_words_is_nothing_to_say(run, tts, text):
    for result in (run("say", "--", text), run("say", stdin=text.encode())):
        assert result.code == 2 and "nothing to say" in result.error and "no words" in result.error and not tts.loaded


def test_text_and_file_exclude_each_other(run, tts, monkeypatch, tmp_path, player):
    assert run("say", "-f", "x.txt", "Hello").code == 2
    monkeypatch.setenv("S2MLX_FILE", "x.txt")
    assert run("say", "Hello").code == 0 and last(tts).text == "Hello"


# --- where the sound goes ------------------------------------------------------------------------------------


def test_without_output_it_plays_and_writes_nothing(run, tts, player, tmp_path):
    result = run("say", "One. Two.")
    assert result.code == 0 and result.stdout == b"" and result.err == ""
    [device] = player.made
    assert sum(map(len, device.heard)) == 6 * FRAME and device.finished and device.closed
    assert device.rtf == 0.5
    assert last(tts).how == "stream" and last(tts).lead() == 0.0
    assert not [p for p in tmp_path.iterdir() if p.name != "home"]


def test_output_file_is_written_and_not_played(run, tts, player, tmp_path):
    result = run("say", "One. Two.", "-o", "out.wav")
    assert result.code == 0 and result.stdout == b"" and not player.made
    samples, rate = soundfile.read(tmp_path / "out.wav")
    assert rate == RATE and len(samples) == 6 * FRAME
    assert last(tts).how == "stream" and last(tts).lead is None  # nothing is kept; nobody listens: it may batch


def test_play_does_both(run, tts, player, tmp_path):
    assert run("say", "One.", "-o", "out.flac", "--play").code == 0
    assert len(player.made[0].heard) == 3 and (tmp_path / "out.flac").exists()


def test_stdout_is_a_stream_of_wav(run, tts, player):
    result = run("say", "One.", "-o", "-")
    assert result.stdout == stream_wav_header(RATE) + 3 * PIECE and not player.made
    assert 0 < last(tts).lead() < 3 * FRAME / RATE  # of a player at the other end of the pipe


def test_raw(run, tts, tmp_path):
    assert run("say", "One.", "-o", "-", "--raw").stdout == 3 * PIECE
    assert run("say", "One.", "-o", "out.pcm", "--raw").code == 0
    assert (tmp_path / "out.pcm").read_bytes() == 3 * PIECE


def test_sound_is_not_written_to_a_terminal(run, tts):
    result = run("say", "One.", "-o", "-", tty=("stdout",))
    assert result.code == 2 and "terminal" in result.error and not tts.loaded and result.stdout == b""


def test_a_device_file_is_written_through(run, tts):
    import os
    import stat

    assert run("say", "One.", "-o", "/dev/null").code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_codes(run, tts, tmp_path):
    assert run("say", "One. Two.", "--no-play", "--codes", "c.npy", "--seed", "9").code == 0
    codes = np.load(tmp_path / "c.npy")
    assert codes.dtype == np.int32 and codes.shape == (10, 6) and (codes == 9).all()


def test_normalize_and_trim_act_on_the_whole(run, tts, player, tmp_path):
    assert run("say", "One.", "-o", "out.wav", "--normalize", "--play").code == 0
    samples, _ = soundfile.read(tmp_path / "out.wav")
    assert abs(samples.max() - 0.95) < 1e-3
    assert [len(piece) for piece in player.made[0].heard] == [3 * FRAME]
    assert abs(player.made[0].heard[0].max() - 0.95) < 1e-3


@pytest.mark.parametrize(
    "argv",
    [
        ["--play", "--no-play", "-o", "x.wav"],
        ["--no-play"],
        ["--raw"],
        ["-a", "3", "-o", "x.wav"],
        ["--codes", "-"],
        ["-o", "x.npy", "--raw", "--codes", "x.npy"],
        ["-v", "me", "--ref", "clip.wav", "--ref-text", "Words."],
        ["--temperature", "-1"],
        ["--top-p", "nan"],
        ["--seed", "-5"],
        ["--min-frames", "2000"],
        ["--max-frames", "0"],
        ["--memory-limit", "0"],
        ["--memory-limit", "-5"],
        ["--memory-limit", "nan"],
        ["--memory-limit", "inf"],
        ["--memory-limit", "much"],
    ],
)
def test_contradictions_are_usage_errors_before_the_model_loads(run, tts, player, argv):
    result = run("say", "Hello.", *argv)
    assert result.code == 2 and result.error and not tts.loaded


def test_a_bad_memory_limit_of_the_environment_is_named(run, tts, player, monkeypatch):
    monkeypatch.setenv("S2MLX_MEMORY_LIMIT", "inf")
    assert run("say", "Hello.").error.startswith("error: S2MLX_MEMORY_LIMIT must be a number of gigabytes")


@pytest.mark.parametrize("target", ["nowhere/out.wav", "out.xyz", ".", "absent/"])
@pytest.mark.parametrize("option", ["-o", "--codes"])
def test_impossible_targets_are_errors_before_the_model_loads(run, tts, target, option):
    result = run("say", "Hello.", option, target)
    assert result.code in (1, 2) and result.error and not tts.loaded


@pytest.mark.parametrize(
    "argv",
    [
        ["say", "Hi.", "-o", "x.mp3", "--raw"],
        ["say", "Hi.", "-o", "x.WAV", "--raw"],
        ["say", "Hi.", "-o", "x.txt", "--raw"],
        ["decode", "c.npy", "-o", "x.flac", "--raw"],
        ["encode", "c.wav", "-o", "c.txt"],
        ["say", "Hi.", "--no-play", "--codes", "zz.txt"],
    ],
)
def test_an_ending_does_not_lie(run, tts, argv):
    result = run(*argv)
    assert result.code == 2 and "not what its ending says; end it in ." in result.error and not tts.loaded


@pytest.mark.parametrize("name", ["x.raw", "x.PCM", "x.s16le", "x"])
def test_bare_samples_may_be_called_so_or_nothing(run, tts, tmp_path, name):
    assert run("say", "One.", "-o", name, "--raw").code == 0 and (tmp_path / name).read_bytes() == 3 * PIECE
    assert run("say", "One.", "--no-play", "--codes", "codes").code == 0


def test_a_folder_that_is_absent_is_not_called_a_folder(run, tts):
    assert "absent/: there is no such folder" in run("say", "Hi.", "-o", "absent/").error
    assert "it is a folder" in run("say", "Hi.", "-o", "./").error


def test_options_reach_the_engine(run, tts, player):
    run(
        "say",
        "Hi.",
        "-m",
        "m.gguf",
        "--tokenizer",
        "t.json",
        "--compat",
        "s2cpp",
        "--temperature",
        "0.5",
        "--top-p",
        "0.9",
        "--top-k",
        "1",
        "--seed",
        "3",
        "--max-frames",
        "50",
        "--min-frames",
        "2",
        "--pause-ms",
        "0",
        "--batch",
        "2",
        "--memory-limit",
        "3.5",
        "--no-prefix-cache",
        "-a",
        "USB",
    )
    [loaded] = tts.loaded
    loaded.pop("on_progress")(1, 2)
    assert not loaded.pop("prefix_cache")
    assert loaded == {"model": "m.gguf", "tokenizer": "t.json", "compat": "s2cpp", "memory_limit": 3_500_000_000}
    options = last(tts).options
    assert (options.temperature, options.top_p, options.top_k, options.seed) == (0.5, 0.9, 1, 3)
    assert (options.max_frames, options.min_frames, options.pause_ms, options.batch) == (50, 2, 0, 2)
    assert player.made[0].device == "USB"


# --- what is printed -----------------------------------------------------------------------------------------


def test_json(run, tts, player):
    figures = run("say", "One. Two.", "-o", "out.wav", "--seed", "5", "--json").json
    assert figures["seed"] == 5 and figures["frames"] == 6 and figures["finish_reason"] == "stop"
    assert figures["passes"] == [
        {"frames": 3, "seconds": 0.139, "finish_reason": "stop", "text": [0, 4]},
        {"frames": 3, "seconds": 0.139, "finish_reason": "stop", "text": [4, 9]},
    ]
    assert set(figures) >= {
        "seconds",
        "time_to_first_audio",
        "rtf",
        "underruns",
        "peak_memory",
        "model",
        "voice",
        "load_seconds",
        "output",
    }


def test_json_keys_are_those_of_the_help(run, tts):
    figures = run("say", "One.", "--no-play", "--json").json
    text = run("say", "--help").out
    for key in figures:
        assert key in text


def test_json_beside_sound_is_the_last_line_of_stderr(run, tts):
    result = run("say", "One.", "-o", "-", "--json")
    assert result.stdout.startswith(b"RIFF") and json.loads(result.err.splitlines()[-1])["frames"] == 3


def test_progress_on_a_terminal_only(run, tts, player):
    assert run("say", "One.").err == ""
    shown = run("say", "One.", tty=("stderr",)).err
    for words in ("\r", "3 frames", "real-time factor 0.50", "first audio after 0.02 s"):
        assert words in shown
    assert run("say", "One.", "--quiet", tty=("stderr",)).err == ""
    assert run("say", "One.", "--json", tty=("stderr",)).err == ""


def test_the_seed_of_a_good_take_is_shown(run, tts, player, tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.randbits", lambda bits: 7)
    assert run("say", "One.", "-o", "a.wav", tty=("stderr",)).err.endswith("s, seed 7 -> a.wav\n")
    assert run("say", "One.", "--seed", "9", tty=("stderr",)).err.endswith(", seed 9\n")
    tts.failure, tts.fail_at = KeyboardInterrupt(), 5
    assert "out.wav holds 0.1 s, seed 7" in run("say", "One. Two.", "-o", "out.wav").err
    tts.failure, tts.fail_at = KeyboardInterrupt(), 1
    assert "nothing was finished, seed 7" in run("say", "One. Two.", "-o", "none.wav").err


def test_dumb_terminals_see_no_progress_and_no_colour(run, tts, player, monkeypatch):
    assert "\x1b" in run("say", "--bad", tty=("stderr",)).err
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("say", "--bad", tty=("stderr",)).err
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in run("say", "--bad", tty=("stderr",)).err
    assert run("say", "One.", tty=("stderr",)).err == ""


def test_the_frame_limit_is_said_even_when_quiet(run, tts, player):
    tts.finish = "length"
    for extra in ([], ["--quiet"]):
        result = run("say", "One. Two.", "--max-frames", "3", *extra)
        assert result.code == 0 and "warning: the limit of 3 frames" in result.err and "2 of 2 passes" in result.err


def test_a_pass_that_ran_away_from_its_words_is_told_so(run, tts, player):
    tts.finish = "length"
    for frames, words in ((2, "the end of the model's context"), (200, "for words that take about 0.7 s")):
        tts.frames = frames
        warned = run("say", "Hello.").err
        assert warned.startswith("warning: ") and words in warned, warned
    tts.frames = 1024
    assert "the limit of 1024 frames, not" in run("say", "word " * 200).err
    assert "the limit of 90 frames, not" in run("say", "Hello.", "--max-frames", "90").err


def test_the_demo_voice_is_named_in_one_line_to_a_person_who_did_not_choose_it(run, tts, player, monkeypatch, tmp_path):
    tts.is_demo = True
    monkeypatch.setenv("TERM", "dumb")  # no progress
    note = run("say", "One.", tty=("stderr",)).err
    assert note.startswith("note: ") and note.count("\n") == 1 and "Fake S2" in note and "download s2-pro" in note
    assert run("say", "One.").err == ""
    assert run("say", "One.", "--quiet", tty=("stderr",)).err == ""
    assert run("say", "One.", "-m", "s2-nano", tty=("stderr",)).err == ""
    with monkeypatch.context() as patch:
        patch.setenv("S2MLX_MODEL", "s2-nano")
        assert run("say", "One.", tty=("stderr",)).err == ""
    (tmp_path / "home" / "config" / "s2mlx").mkdir(parents=True)
    (tmp_path / "home" / "config" / "s2mlx" / "model").write_text("s2-nano\n")
    assert run("say", "One.", tty=("stderr",)).err == ""


def test_no_speech_at_all_is_an_error_and_no_file(run, tts, tmp_path):
    tts.frames = 0
    result = run("say", "One.", "-o", "out.wav", "--codes", "c.npy")
    assert result.code == 1 and "ended the speech at once" in result.error
    assert not [p for p in tmp_path.iterdir() if p.name != "home"]


def test_a_pass_that_the_model_left_out_is_named(run, tts, monkeypatch):
    whole = tts._chunks

    def chunks(*request):
        for chunk in whole(*request):
            if chunk.part != 1:
                yield chunk
            elif chunk.finish_reason:
                yield dataclasses.replace(chunk, samples=chunk.samples[:0], codes=chunk.codes[:, :0])

    monkeypatch.setattr(tts, "_chunks", chunks)
    result = run("say", "One. Two. Three.", "-o", "out.wav", "--quiet")
    assert result.code == 0 and "1 of 3 passes ('Two.'" in result.err and result.err.startswith("warning: ")


def test_a_slow_machine_is_said_once(run, tts, player, monkeypatch):
    from s2mlx import results

    tts.frames = 60
    monkeypatch.setattr(results.Stats, "rtf", property(lambda self: 1.5))
    assert run("say", "One.").err.count("takes 1.5 s here") == 1


# --- what goes wrong on the way --------------------------------------------------------------------------------


def test_a_failure_leaves_the_old_file(run, tts, tmp_path):
    (tmp_path / "out.wav").write_bytes(b"old")
    tts.fail_at = 4
    result = run("say", "One. Two.", "-o", "out.wav")
    assert result.code == 1 and result.error == "error: the fake model failed"
    assert (tmp_path / "out.wav").read_bytes() == b"old" and tts.closed
    assert len([p for p in tmp_path.iterdir() if p.name != "home"]) == 1


def test_an_interrupt_keeps_the_passes_that_ended(run, tts, player, tmp_path):
    tts.failure, tts.fail_at = KeyboardInterrupt(), 5
    result = run("say", "One. Two.", "-o", "out.wav", "--codes", "c.npy", "--play")
    assert result.code == 130 and "interrupted; out.wav holds 0.1 s" in result.err
    assert len(soundfile.read(tmp_path / "out.wav")[0]) == 3 * FRAME
    assert np.load(tmp_path / "c.npy").shape == (10, 3)
    assert player.made[0].stopped and not player.made[0].finished and tts.closed


@pytest.mark.parametrize("ending", ["wav", "flac", "mp3", "ogg", "opus"])
def test_an_interrupted_file_is_valid_in_every_format(run, tts, tmp_path, ending):
    tts.frames, tts.failure, tts.fail_at = 30, KeyboardInterrupt(), 50
    assert run("say", "One. Two.", "-o", f"out.{ending}", "--normalize").code == 130
    samples, rate = soundfile.read(tmp_path / f"out.{ending}")
    assert abs(len(samples) / rate - 30 * FRAME / RATE) < 0.1


def test_an_interrupt_before_the_first_pass_ends_leaves_nothing(run, tts, tmp_path):
    tts.failure, tts.fail_at = KeyboardInterrupt(), 1
    assert run("say", "One.", "-o", "out.wav").code == 130
    assert not [p for p in tmp_path.iterdir() if p.name != "home"]


def test_what_a_dead_device_did_not_play_is_kept(run, tts, player, tmp_path):
    player.breaks = "the loudspeaker has gone"
    result = run("say", "One.")
    assert result.code == 1 and "the loudspeaker has gone; what was not heard is kept in " in result.error
    kept = result.error.split(" kept in ")[1]
    assert len(soundfile.read(kept)[0]) == 3 * FRAME


def test_a_full_output_beside_a_dead_device_is_still_written(run, tts, player, tmp_path):
    player.breaks = "the loudspeaker has gone"
    assert run("say", "One.", "-o", "out.wav", "--play").code == 1
    assert len(soundfile.read(tmp_path / "out.wav")[0]) == 3 * FRAME


def test_debug_shows_the_traceback(run, tts):
    tts.fail_at = 0
    assert "Traceback" not in run("say", "One.", "-o", "x.wav").err
    result = run("say", "One.", "-o", "x.wav", "--debug")
    assert "Traceback" in result.err and result.err.splitlines()[-1] == "error: the fake model failed"


def test_a_fault_of_ours_is_one_line(run, tts, monkeypatch):
    monkeypatch.setattr(tts, "stream", lambda *a, **k: 1 / 0)
    result = run("say", "One.", "-o", "x.wav")
    assert result.code == 1 and "unexpected ZeroDivisionError" in result.error and "Traceback" not in result.err


def test_a_device_that_cannot_be_opened_leaves_no_file_behind(run, tts, player, tmp_path, monkeypatch):
    from s2mlx.errors import DeviceError

    def refuse(*_, **__):
        raise DeviceError("no sound here")

    monkeypatch.setattr("s2mlx.audio.Player", refuse)
    result = run("say", "One.", "-o", "out.wav", "--play")
    assert result.code == 1 and result.error == "error: no sound here"
    assert not [p for p in tmp_path.iterdir() if p.name != "home"]


def test_words_from_files_do_not_steer_the_terminal(run, tts):
    result = run("say", "One.", "-v", "a\x1b[31mb\nc", "-o", "out.wav", tty=("stderr",))
    assert "\x1b[31mb" not in result.err and result.err.count("\n") == 1


# --- speakers and voices ----------------------------------------------------------------------------------------

DIALOGUE = "<|speaker:0|>Who? <|speaker:1|>Anna. <|speaker:2|>Ben."


@pytest.mark.parametrize(
    "text, voices, notes",
    [
        (DIALOGUE, ["a", "b"], ["speaker 2 has no voice"]),
        (DIALOGUE, ["a"], ["speakers 1, 2 have no voice"]),
        (DIALOGUE, ["a", "b", "c"], []),
        (DIALOGUE, ["a", "b", "c", "d"], ["'d' will not speak: the text has speakers 0, 1, 2 only"]),
        ("Hello.", ["a", "b"], ["'b' will not speak: the text has speaker 0 only; <|speaker:1|>"]),
        ("Before. <|speaker:1|>Me.", ["a", "b"], []),
        ("<|speaker:1|>Me.", ["a"], ["speaker 1 has no voice", "'a' will not speak"]),
        ("Hello.", ["a"], []),
        (DIALOGUE, [], []),
    ],
)
def test_speakers_and_voices_that_do_not_meet_are_said(run, tts, player, text, voices, notes):
    from s2mlx.voices import Voice, VoiceLibrary

    for name in voices:
        VoiceLibrary().add(name, Voice(np.zeros((10, 3), np.int32), "Words."))
    argv = ["say", text, *(word for name in voices for word in ("-v", name))]
    result = run(*argv)
    assert result.code == 0 and len(result.err.splitlines()) == len(notes)
    for line, words in zip(result.err.splitlines(), notes):
        assert line.startswith("note: ") and words in line
    assert run(*argv, "--quiet").err == ""


# --- voices of other models ----------------------------------------------------------------------------------


def test_a_voice_of_another_model_is_made_again_from_its_clip(run, tts, player):
    from s2mlx.voices import Voice, VoiceLibrary

    other = Voice(np.zeros((4, 9), np.int32), "Its words.", 22050, 256)
    clip = np.full(22050, 0.25, np.float32)
    VoiceLibrary().add("small", other, clip=(clip, 22050))
    VoiceLibrary().add("bare", other)
    assert run("say", "Hi.", "-v", "small").code == 0
    (samples, rate), words, _ = tts.cloned[0]
    assert (len(samples), rate, words) == (22050, 22050, "Its words.")
    assert last(tts).voice[0].codes.shape[0] == 10
    assert "another model" in run("say", "Hi.", "-v", "bare").error


def test_a_voice_given_by_a_path_may_have_its_clip_beside_it(run, tts, player, tmp_path):
    from s2mlx.audio import write_audio
    from s2mlx.voices import Voice

    Voice(np.zeros((4, 9), np.int32), "Its words.", 22050, 256).save(tmp_path / "small.s2voice")
    assert "put its clip beside it, as small.flac" in run("say", "Hi.", "-v", "small.s2voice").error
    write_audio(tmp_path / "small.flac", np.full(22050, 0.25, np.float32), 22050)
    assert run("say", "Hi.", "-v", "small.s2voice").code == 0
    assert [str(clip) for clip, _, _ in tts.cloned] == ["small.flac"]


def test_where_nothing_can_be_played_a_file_is_offered(run, tts, monkeypatch):
    from s2mlx.errors import DeviceError

    def refuse(*_, **__):
        raise DeviceError("there is no output device on this machine")

    monkeypatch.setattr("s2mlx.audio.find_output", refuse)
    error = run("say", "One.").error
    assert error == "error: there is no output device on this machine; or write a file: -o speech.wav"
    assert run("say", "One.", "-o", "out.wav", "--play").error == "error: there is no output device on this machine"
    assert not tts.loaded
