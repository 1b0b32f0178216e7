"""`s2mlx voice`: the library from the command line. Only `add` opens a model."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from s2mlx.voices import Voice

GOLDEN = Path(__file__).parents[1] / "golden" / "tiny.s2voice"
ASSETS = Path(__file__).parents[2] / "assets" / "nano"


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "clip.wav"
    soundfile.write(path, np.sin(np.arange(2 * 22050) * 0.05).astype(np.float32) / 2, 22050)
    return path


@pytest.fixture
def me(run):
    """A library with the voice `me`."""
    assert run("voice", "import", GOLDEN, "me").code == 0


def test_add(run, tts, clip):
    result = run("voice", "add", "anna", "--clip", clip, "--text", "Hello.")
    assert result.code == 0 and result.stdout == b"" and "s2mlx say -v anna Hello." in result.err
    shown = run("voice", "show", "anna", "--json").json
    assert shown["transcript"] == "Hello." and shown["has_clip"] and shown["frames"] == 2 * 44100 // 2048
    (samples, rate), words, _ = tts.cloned[0]
    assert rate == 44100 and len(samples) == 2 * 44100 and words == "Hello."


def test_add_says_that_a_model_follows_a_part_of_the_clip(run, tts, clip):
    assert "follows" not in run("voice", "add", "anna", "--clip", clip, "--text", "Hello.").err
    tts.config = replace(tts.config, reference_seconds=1.5)
    said = run("voice", "add", "bert", "--clip", clip, "--text", "Hello.").err
    assert "Fake S2 follows about the first 2 seconds of a voice" in said
    assert len(tts.cloned[-1][0][0]) == 2 * 44100  # all of it is kept


def test_add_checks_before_the_model_loads(run, tts, clip, me):
    for argv, code, words in [
        (["anna", "--text", "x"], 2, "--clip"),
        (["anna", "--clip", clip], 2, "--text"),
        (["anna", "--clip", clip, "--text", " "], 2, "empty"),
        (["anna", "--clip", "no.wav", "--text", "x"], 1, "no.wav"),
        (["../anna", "--clip", clip, "--text", "x"], 1, "cannot be the name"),
        (["ME", "--clip", clip, "--text", "x"], 1, "--force"),
    ]:
        result = run("voice", "add", *argv)
        assert result.code == code and words in result.error and not tts.loaded


def test_a_clip_is_judged(run, tts, clip, tmp_path):
    short = run("voice", "add", "anna", "--clip", clip, "--text", "Hello.")
    assert short.code == 0 and "has 2.0 s; a clip of 5 to 30 s" in short.err
    soundfile.write(tmp_path / "right.wav", np.sin(np.arange(6 * 22050) * 0.05) / 2, 22050)
    assert "a clip of" not in run("voice", "add", "bert", "--clip", "right.wav", "--text", "Hello.").err
    soundfile.write(tmp_path / "still.wav", np.zeros(6 * 22050), 22050)
    loads = len(tts.loaded)
    for argv in [
        ("voice", "add", "carl", "--clip", "still.wav", "--text", "Hello."),
        ("say", "Hi.", "--ref", "still.wav", "--ref-text", "Hello."),
    ]:
        result = run(*argv)
        assert result.code == 1 and "still.wav is silent" in result.error and len(tts.loaded) == loads


def test_words_that_are_not_the_clips_are_doubted(run, tts, tmp_path):
    soundfile.write(tmp_path / "six.wav", np.sin(np.arange(6 * 22050) * 0.05) / 2, 22050)
    right = "These are just about as many words as someone says in six seconds, maybe a few more."
    for text, doubt in [("Three short words.", "too long for its words"), (right, None), (4 * right, "too short")]:
        for argv in [
            ("voice", "add", "anna", "--clip", "six.wav", "--text", text, "--force"),
            ("say", "Hi.", "--no-play", "--json", "--ref", "six.wav", "--ref-text", text),
        ]:
            result = run(*argv, "--quiet")
            assert result.code == 0
            assert doubt in result.err and "warning: six.wav: its 6.0 s" in result.err if doubt else not result.err


@pytest.mark.parametrize("name", ["bruno", "clara", "marcus", "nora", "robin"])
def test_a_transcript_that_lacks_words_is_doubted(run, tts, name):
    """Not one that has all; nor for the silence around and between them."""
    clip = ASSETS / f"{name}.flac"
    words = Voice.load(ASSETS / f"{name}.s2voice").transcript.split()
    most = " ".join(words[: round(0.6 * len(words))])
    samples, rate = soundfile.read(clip)
    soundfile.write("slow.wav", samples, round(0.8 * rate))  # the clips are brisk: so a calm reader would say them
    silence = np.zeros(2 * rate)
    soundfile.write("calm.wav", np.concatenate([silence, samples, silence]), rate)
    for path, text, doubted in [
        ("slow.wav", most, True),
        (clip, " ".join(words), False),
        ("calm.wav", " ".join(words), False),
    ]:
        result = run("voice", "add", "anna", "--clip", path, "--text", text, "--force", "--quiet")
        assert result.code == 0
        assert "too long for its words" in result.err if doubted else "its words" not in result.err, result.err


def test_replacing_can_be_undone(run, tts, clip, me):
    before = Voice.load(GOLDEN)
    result = run("voice", "add", "me", "--clip", clip, "--text", "New.", "--force")
    token = result.err.split()[-1]
    assert run("voice", "show", "me", "--json").json["transcript"] == "New."
    assert run("voice", "remove", "me").code == 0
    assert run("voice", "restore", token).code == 0
    assert run("voice", "show", "me", "--json").json["transcript"] == before.transcript


def test_list_without_a_model(run, tts, me, tmp_path):
    voices = tmp_path / "home" / "data" / "s2mlx" / "voices"
    (voices / "bad.s2voice").write_bytes(b"S2VOICE\0 half")
    listed = run("voice", "list")
    assert listed.code == 0 and not tts.loaded and listed.err == ""
    assert [line.split()[:2] for line in listed.out.splitlines()[1:]][:2] == [["bad", "broken"], ["me", "2.0"]]
    assert [line.split()[3] for line in listed.out.splitlines() if line.startswith("me")] == ["you"]
    assert "cut off" in listed.out
    voices = run("voice", "list", "--json").json["voices"]
    assert [v["name"] for v in voices] == ["bad", "me"]
    assert "cut off" in voices[0]["problem"] and voices[1]["problem"] is None


def test_the_question_mark_lists(run, tts, me):
    result = run("say", "-v", "?")
    assert result.code == 0 and result.out == run("voice", "list").out and not tts.loaded


def test_show_a_broken_voice_fails(run, tmp_path, me):
    (tmp_path / "home" / "data" / "s2mlx" / "voices" / "bad.s2voice").write_bytes(b"no")
    result = run("voice", "show", "bad")
    assert result.code == 1 and "not a voice file" in result.error and result.stdout == b""
    assert run("voice", "show", "bad", "--json").json["problem"]


def test_remove_and_restore(run, me):
    """The token is the result of `remove`: on stdout, --quiet or not."""
    for quiet in ([], ["--quiet"]):
        result = run("voice", "remove", "me", *quiet)
        assert result.code == 0 and run("voice", "show", "me").code == 1
        token = result.out.strip()
        assert (result.err == "") == bool(quiet) and (quiet or result.err.split()[-1] == token)
        assert run("voice", "restore", token).code == 0
        assert run("voice", "show", "me").code == 0


def test_what_was_removed_is_listed_and_found_by_name(run, me):
    empty = run("voice", "restore")
    assert empty.code == 0 and empty.stdout == b"" and "no voice was removed" in empty.err
    token = run("voice", "remove", "me", "--quiet").out.strip()
    head, line = run("voice", "restore").out.splitlines()
    assert head.split() == ["voice", "removed", "token"]
    assert line.split()[0] == "me" and line.split()[-1] == token
    [listed] = run("voice", "restore", "--json").json["removed"]
    assert (listed["name"], listed["token"]) == ("me", token)
    assert "it holds me" in run("voice", "restore", "anna").error
    assert run("voice", "restore", "me", "--json").json == {"restored": "me"}
    assert run("voice", "show", "me").code == 0


def test_import_and_export_keep_every_byte(run, me, tmp_path):
    assert run("voice", "export", "me", "out.s2voice").code == 0
    assert (tmp_path / "out.s2voice").read_bytes() == GOLDEN.read_bytes()
    assert "--force" in run("voice", "import", "out.s2voice", "me").error
    assert "--force" in run("voice", "export", "me", "out.s2voice").error
    assert run("voice", "import", "out.s2voice", "me", "--force").code == 0
    assert run("voice", "export", "me", "out.s2voice", "--force").code == 0
    assert run("voice", "import", "out.s2voice").code == 0 and run("voice", "show", "out").code == 0
    assert "--force" in run("voice", "import", "out.s2voice").error
    assert "no.s2voice" in run("voice", "import", "no.s2voice").error


def test_export_into_a_folder(run, me, tmp_path):
    (tmp_path / "out").mkdir()
    for folder in ("out", "out/", "."):
        assert run("voice", "export", "ME", folder).code == 0
        assert "--force" in run("voice", "export", "me", folder).error
        assert run("voice", "export", "me", folder, "--force").code == 0
        assert (tmp_path / folder / "me.s2voice").read_bytes() == GOLDEN.read_bytes()
        (tmp_path / folder / "me.s2voice").unlink()
    refused = run("voice", "export", "me", "absent/")
    assert refused.code == 1 and "absent/: there is no such folder" in refused.error


def test_rename(run, tts, clip, me):
    assert run("voice", "add", "anna", "--clip", clip, "--text", "Hello.").code == 0
    result = run("voice", "rename", "ANNA", "Hanna")
    assert result.code == 0 and "the voice 'anna' is now 'Hanna'" in result.err and result.stdout == b""
    assert [v["name"] for v in run("voice", "list", "--json").json["voices"]] == ["Hanna", "me"]
    assert run("voice", "show", "hanna", "--json").json["has_clip"]
    assert run("voice", "rename", "hanna", "hanna", "--quiet").err == ""  # another case is another name
    for words, said in [
        (["hanna", "me"], "already"),
        (["nobody", "x"], "no voice 'nobody'"),
        (["me", "../x"], "cannot"),
    ]:
        result = run("voice", "rename", *words)
        assert result.code == 1 and said in result.error


def test_the_clip_travels_when_asked_and_is_spoken_of_when_not(run, tts, clip, me, tmp_path):
    assert run("voice", "add", "anna", "--clip", clip, "--text", "Hello.").code == 0
    assert "--clip takes it along" in run("voice", "export", "anna", "a.s2voice").err
    assert not (tmp_path / "a.flac").exists()
    assert "clip" not in run("voice", "export", "me", "me.s2voice").err
    assert "has no clip" in run("voice", "export", "me", "b.s2voice", "--clip").error

    refused = run("voice", "export", "anna", "a.s2voice", "--clip")
    assert refused.code == 1 and "--force" in refused.error and not (tmp_path / "a.flac").exists()
    assert "stayed" not in run("voice", "export", "anna", "a.s2voice", "--clip", "--force").err
    (tmp_path / "a.s2voice").rename(tmp_path / "b.s2voice")
    (tmp_path / "b.flac").write_bytes(b"another's")
    assert "b.flac exists" in run("voice", "export", "anna", "b", "--clip").error
    (tmp_path / "b.s2voice").rename(tmp_path / "a.s2voice")

    assert "--clip brings it along" in run("voice", "import", "a.s2voice", "bare").err
    assert not run("voice", "show", "bare", "--json").json["has_clip"]
    assert "--clip" not in run("voice", "import", "a.s2voice", "whole", "--clip").err
    from s2mlx.voices import VoiceLibrary

    assert np.array_equal(VoiceLibrary().clip("whole")[0], VoiceLibrary().clip("anna")[0])
    missing = run("voice", "import", "me.s2voice", "you", "--clip")
    assert missing.code == 1 and "me.flac" in missing.error and "you" not in VoiceLibrary().names()


@pytest.mark.parametrize("name", ["out.wav", "out.S2V"])
def test_a_voice_file_is_called_one(run, me, tmp_path, name):
    result = run("voice", "export", "me", name)
    assert result.code == 2 and ".s2voice" in result.error and not (tmp_path / name).exists()


def test_a_list_that_is_cut_says_so(run, me):
    for number in range(9):
        assert run("voice", "import", GOLDEN, f"v{number}").code == 0
    assert run("say", "Hi.", "-v", "zzzz").error.endswith("there are me, v0, v1, v2, v3, v4, v5, v6 and 2 more")
    assert run("voice", "remove", "v8").code == 0
    assert run("voice", "remove", "v7").code == 0
    assert run("say", "Hi.", "-v", "zzzz").error.endswith("v5, v6")
    for number in range(7):
        run("voice", "remove", f"v{number}")
    assert run("voice", "restore", "zzzz").error.endswith(" and 1 more")


def test_voices_of_say(run, tts, player, me, tmp_path):
    shutil.copy(GOLDEN, tmp_path / "file.s2voice")
    golden = Voice.load(GOLDEN)
    tts.config = type(tts.config)(codebook_size=golden.codebook_size)
    assert run("say", "Hi.", "-v", "me", "-v", "file.s2voice").code == 0
    assert tts.calls[-1].voice == [golden, golden]


def test_a_voice_of_another_model_is_refused(run, tts, player, me):
    result = run("say", "Hi.", "-v", "me")
    assert result.code == 1 and "another model" in result.error and not player.made


def test_an_unknown_voice_is_found_out_before_the_model_loads(run, tts, player, me):
    result = run("say", "Hi.", "-v", "mee")
    assert result.code == 1 and "did you mean me?" in result.error and not tts.loaded


def test_references_in_place(run, tts, player, clip, monkeypatch):
    monkeypatch.setenv("S2MLX_VOICE", "gives way")
    assert run("say", "Hi.", "--ref", clip, "--ref-text", "Words.", "--ref", clip, "--ref-text", "More.").code == 0
    assert [(len(samples), rate, words) for (samples, rate), words, _ in tts.cloned] == [
        (2 * 22050, 22050, "Words."),
        (2 * 22050, 22050, "More."),
    ]
    assert [v.transcript for v in tts.calls[-1].voice] == ["Words.", "More."]


def test_no_action_is_wrong_usage(run):
    assert run("voice").code == 2 and run("voice", "dance").code == 2


def test_a_question_mark_gives_json_too(run, me):
    listed = run("voice", "list", "--json").json
    assert run("say", "-v", "?", "--json").json == listed and listed["voices"]


def test_what_the_bundled_model_keeps_of_a_voice_is_said_before(run, tts, clip):
    for is_demo in (True, False):
        tts.is_demo = is_demo
        said = run("voice", "add", f"me-{is_demo}", "--clip", clip, "--text", "Some words of the clip.", "-m", "x").err
        assert ("not its timbre" in said) is is_demo
    assert "not its timbre" in run("voice", "add", "--help").out and "not its timbre" in run("record", "--help").out


def test_a_name_of_a_bundled_voice_is_told(run, tts, clip, tmp_path, monkeypatch):
    shutil.copy(GOLDEN, tmp_path / "clara.s2voice")
    (tmp_path / "nano").mkdir()
    shutil.move(tmp_path / "clara.s2voice", tmp_path / "nano")
    monkeypatch.setattr("s2mlx.files.folders.assets_dir", lambda: tmp_path)
    result = run("voice", "add", "Clara", "--clip", clip, "--text", "Hello.")
    assert result.code == 0 and "before the bundled clara" in result.err
    assert "the bundled" not in run("voice", "add", "Clara", "--clip", clip, "--text", "Hello.", "--force").err


@pytest.mark.parametrize(
    "words",
    [
        ["say", "Hi.", "--ref", "memo.m4a", "--ref-text", "Hello."],
        ["voice", "add", "anna", "--clip", "memo.m4a", "--text", "Hello."],
        ["encode", "memo.m4a", "-o", "codes.npy"],
    ],
    ids=lambda words: words[0],
)
def test_a_clip_is_read_and_converted_once(run, tts, player, clip, tmp_path, monkeypatch, words):
    """It is checked before the model is loaded, and kept until then."""
    opened, sound_file = [], soundfile.SoundFile

    def counting(file, *args, **kwargs):
        if not args:
            opened.append(Path(os.fsdecode(file)).name)
        return sound_file(file, *args, **kwargs)

    monkeypatch.setattr(soundfile, "SoundFile", counting)
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "ffmpeg"
    tool.write_text(f'#!/bin/sh\necho >> {tmp_path}/started\nfor last; do :; done; /bin/cp {clip} "$last"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "memo.m4a").write_bytes(b"\0\0\0\x20ftypM4A \0\0\0\0" + b"\0" * 100)
    assert run(*words).code == 0 and len(tts.loaded) == 1
    assert (tmp_path / "started").read_text() == "\n" and opened == ["memo.m4a", "converted.wav"]
