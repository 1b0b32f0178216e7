"""Subtitles, a file for each part of a text, and runs that go on where they stopped."""

import json
import os
import signal

import numpy as np
import pytest
import soundfile

from s2mlx.cli.outputs import AudioFile
from s2mlx.cli.parts import numbered
from s2mlx.cli.resume import Reached, RunProgress
from s2mlx.cli.subtitles import Subtitles
from s2mlx.errors import S2Error
from s2mlx.listen import Cue
from s2mlx.results import AudioChunk, Stats
from s2mlx.text import split_text
from s2mlx.voices import Voice

from ..fakes import FRAME, RATE
from .test_process import command, finished

TEXT = "One is here. Two is it.\n\nThree it is. Four."


def chunk(text, samples, part=0, reason="stop"):
    return AudioChunk(samples, RATE, np.zeros((10, 1), np.int32), part, 1, (0, len(text)), Stats(), reason, text)


def tone(seconds, level=0.3):
    return np.full(round(seconds * RATE), level, np.float32)


@pytest.mark.parametrize(
    "how, text, parts",
    [
        (None, TEXT, [TEXT]),
        ("paragraph", TEXT, ["One is here. Two is it.\n\n", "Three it is. Four."]),
        ("paragraph", "A b\nc d\n \n\nE.\n\n***\n\nF.\n\n...", ["A b\nc d\n \n\n", "E.\n\n", "***\n\nF.\n\n..."]),
        ("chapter", "Title\n\nChapter 1\n\nA b.\n\nChapter 2\nC d.",
         ["Title\n\n", "Chapter 1\n\nA b.\n\n", "Chapter 2\nC d."]),
        ("chapter", "# One\n\nA.\n## Two\nB.\n### no\n", ["# One\n\nA.\n", "## Two\nB.\n### no\n"]),
        ("chapter", "第一章 开始\n你好。\n第二章\n再见。", ["第一章 开始\n你好。\n", "第二章\n再见。"]),
        ("chapter", "The chapter that ends. No heading.", ["The chapter that ends. No heading."]),
    ],
)  # fmt: skip
def test_the_parts_of_a_text(how, text, parts):
    assert [text[begin:end] for begin, end in split_text(text, how)] == parts


def test_names_of_parts():
    assert numbered("a/out.wav", 7) == "a/out-007.wav" and numbered("out.flac", 1234) == "out-1234.flac"


def test_a_sentence_ends_where_it_is_quiet(tmp_path):
    samples = np.concatenate([tone(0.5, 0), tone(1.3), tone(0.3, 0.001), tone(1.0), tone(0.4, 0)])
    subtitles = Subtitles(str(tmp_path / "x.json"), [], 10.0)
    subtitles.hear(chunk("<|speaker:1|>It is so. Is that <b> {it}?", samples[:9000], reason=None))
    subtitles.hear(chunk("<|speaker:1|>It is so. Is that <b> {it}?", samples[9000:]))
    subtitles.hear(chunk("Never heard.", tone(1), reason="cancelled"))
    first, second = subtitles.cues
    assert (first.text, second.text) == ("It is so.", "Is that <b> {it}?")
    assert (
        abs(first.begin - 10.5) < 0.05 and 11.8 <= first.end == second.begin <= 12.1 and abs(second.end - 13.1) < 0.05
    )


def test_the_kinds_of_subtitles(tmp_path):
    cues = [Cue(0.0, 1.5, "One & <two>.\n\nThree"), Cue(3661.25, 3662.0, "{four}")]
    files = {}
    for kind in ("srt", "vtt", "json"):
        Subtitles(str(tmp_path / f"x.{kind}"), cues, 0.0).write()
        files[kind] = (tmp_path / f"x.{kind}").read_text()
    assert files["srt"] == (
        "1\n00:00:00,000 --> 00:00:01,500\nOne & <two>.\nThree\n\n2\n01:01:01,250 --> 01:01:02,000\n{four}\n\n"
    )
    assert files["vtt"].startswith(
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nOne &amp; &lt;two&gt;.\nThree\n\n01:01:01.250"
    )
    assert json.loads(files["json"])[1] == {"begin": 3661.25, "end": 3662.0, "text": "{four}"}


def test_subtitles_of_a_file(run, tts, tmp_path):
    assert run("say", "One is here. Two.", "-o", "out.wav", "--subtitles", "out.srt").code == 0
    text = (tmp_path / "out.srt").read_text()
    assert "One is here." in text and "\n2\n00:00:00,139 --> " in text


@pytest.mark.parametrize(
    "argv, said",
    [
        (["--subtitles", "x.srt"], "--subtitles goes with a file"),
        (["--subtitles", "x.txt", "-o", "out.wav"], "ending"),
        (["--subtitles", "no/x.srt", "-o", "out.wav"], "no folder"),
        (["--split", "paragraph"], "--split goes with a file"),
        (["--split", "page", "-o", "out.wav"], "invalid choice"),
        (["--split", "chapter", "-o", "-"], "--split goes with a file"),
        (["--resume", "-o", "out.wav", "--codes", "c.npy"], "--codes"),
        (["--resume", "-o", "out.wav", "--normalize"], "--normalize"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_loaded(run, tts, argv, said):
    result = run("say", "One.", *argv)
    assert result.code != 0 and said in result.error and not tts.loaded


def test_a_file_for_each_paragraph(run, tts, tmp_path):
    result = run("say", TEXT, "-o", "out.wav", "--split", "paragraph", "--subtitles", "s.vtt", "--json")
    assert result.code == 0
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [line["output"] for line in lines] == ["out-001.wav", "out-002.wav"]
    assert [call.text for call in tts.calls] == ["One is here. Two is it.\n\n", "Three it is. Four."]
    assert len({call.options.seed for call in tts.calls}) == 1
    assert tts.calls[0].voice is None and tts.calls[1].voice[0].transcript == "One is here."
    for number in ("001", "002"):
        assert soundfile.info(f"out-{number}.wav").frames == 6 * FRAME and (tmp_path / f"s-{number}.vtt").exists()
    again = run("say", TEXT, "-o", "out.wav", "--split", "paragraph", "--resume")
    assert again.code == 0 and "spoken already" in again.err and len(tts.calls) == 2
    os.unlink("out-002.wav")
    assert run("say", TEXT, "-o", "out.wav", "--split", "paragraph", "--resume").code == 0
    assert [call.text for call in tts.calls[2:]] == ["Three it is. Four."] and os.path.exists("out-002.wav")


def interrupted(run, tts, monkeypatch, at, *argv):
    """A run that a Ctrl-C ends when so many frames are made."""
    wait = tts._wait

    def interrupting(done, stopped, lead):
        if tts.made == at and not stopped():
            raise KeyboardInterrupt
        wait(done, stopped, lead)

    with monkeypatch.context() as patch:
        patch.setattr(tts, "_wait", interrupting)
        return run(*argv)


@pytest.mark.parametrize("split", [[], ["--split", "paragraph"]], ids=["one file", "files"])
@pytest.mark.parametrize("at", [4, 5, 7, 10])
def test_an_interrupted_run_goes_on_and_speaks_nothing_twice(run, tts, monkeypatch, tmp_path, split, at):
    argv = ["say", TEXT, "-o", "out.wav", "--subtitles", "out.json", *split]
    stopped = interrupted(run, tts, monkeypatch, at, *argv)
    assert stopped.code == 130 and "--resume goes on" in stopped.err
    resumed = run(*argv, "--resume")
    assert resumed.code == 0
    files = ["out-001", "out-002"] if split else ["out"]
    assert sum(soundfile.info(f"{name}.wav").frames for name in files) == 12 * FRAME
    cues = [cue for name in files for cue in json.loads((tmp_path / f"{name}.json").read_text())]
    assert [cue["text"] for cue in cues] == ["One is here.", "Two is it.", "Three it is.", "Four."]
    if not split:
        assert [round(cue["end"], 2) for cue in cues] == [0.14, 0.28, 0.42, 0.56]
    assert len({call.options.seed for call in tts.calls}) == 1
    assert tts.calls[-1].voice[0].transcript == "One is here."  # who spoke the first pass speaks on


def test_a_part_of_which_all_was_spoken_is_done(run, tts, monkeypatch):
    """The interrupt came behind its last pass, before the next part."""
    argv = ["say", TEXT, "-o", "out.wav", "--split", "paragraph"]
    finish, calls = AudioFile.finish, []

    def late(output):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        finish(output)

    with monkeypatch.context() as patch:
        patch.setattr(AudioFile, "finish", late)
        stopped = run(*argv)
    assert stopped.code == 130 and "goes on (58 %" in stopped.err and soundfile.info("out-001.wav").frames == 6 * FRAME
    assert run(*argv, "--resume").code == 0
    assert [call.text for call in tts.calls] == ["One is here. Two is it.\n\n", "Three it is. Four."]


def test_the_speaker_goes_on_too(run, tts, monkeypatch):
    argv = ["say", "<|speaker:1|>One is here. Two is it.", "-o", "out.wav"]
    assert interrupted(run, tts, monkeypatch, 4, *argv).code == 130
    assert run(*argv, "--resume").code == 0
    assert tts.calls[-1].text == "<|speaker:1|> Two is it." and tts.calls[-1].voice is None


def test_only_the_same_run_goes_on(run, tts, monkeypatch):
    argv = ["say", TEXT, "-o", "out.wav"]
    interrupted(run, tts, monkeypatch, 4, *argv)
    for other in (["say", "Other words.", "-o", "out.wav"], [*argv, "--rate", "1.5"]):
        result = run(*other, "--resume")
        assert result.code == 2 and "another text, voice, model or option" in result.error
    fresh = run("say", TEXT, "-o", "new.wav", "--resume")
    assert fresh.code == 0 and "begins at the beginning" in fresh.err and soundfile.info("new.wav").frames == 12 * FRAME
    os.unlink("out.wav")
    assert run(*argv, "--resume").code == 0 and soundfile.info("out.wav").frames == 12 * FRAME


def test_a_finished_run_leaves_nothing_behind(run, tts, monkeypatch, tmp_path):
    argv = ["say", TEXT, "-o", "out.wav"]
    interrupted(run, tts, monkeypatch, 4, *argv)
    folder = tmp_path / "home" / "state" / "s2mlx" / "unfinished"
    assert len(list(folder.iterdir())) == 2
    assert run(*argv).code == 0 and not list(folder.iterdir())


PARTS = [(0, 20), (20, 30)]
KEPT = {"seed": 7, "part": 1, "place": 5, "seconds": 2.5, "cues": [[0, 1, "One."]]}


def test_what_is_kept_of_a_run_may_be_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    progress = RunProgress("out.wav", {"text": 1})
    voice = Voice(np.zeros((10, 4), np.int32), "Words.", 44100, 256)
    assert progress.load(PARTS) is None and progress.save(Reached(7, 1, 5, 2.5, [Cue(0, 1, "One.")]), voice)
    assert progress.load(PARTS) == Reached(7, 1, 5, 2.5, [Cue(0, 1, "One.")]) and progress.voice() == voice
    [file] = (tmp_path / "s2mlx" / "unfinished").glob("*.json")
    digest = json.loads(file.read_text())["run"]
    damages = ["", "[]", "{}", '{"run": 1, "seed": 3, "more": 4}', "\x00", "[" * 100_000, "1" * 5000, "null"]
    for change in (
        {"seed": "7"}, {"seed": None}, {"seed": -1}, {"seed": 2**64}, {"seed": 7.5}, {"seed": True}, {"more": 1},
        {"part": -1}, {"part": 3}, {"part": "1"}, {"part": 1.0}, {"part": None}, {"part": False}, {"part": 2},
        {"place": -5}, {"place": 11}, {"place": 5.0}, {"place": "5"}, {"place": 0}, {"place": [5]},
        {"seconds": -1}, {"seconds": "2"}, {"seconds": float("nan")}, {"seconds": float("inf")}, {"seconds": 0},
        {"cues": 5}, {"cues": {}}, {"cues": [5]}, {"cues": [[0, 1]]}, {"cues": [["0", 1, "a"]]}, {"cues": "abc"},
        {"cues": [[0, 1, 2]]}, {"cues": [[0, float("nan"), "a"]]}, {"seconds": 10**400},
    ):  # fmt: skip
        damages.append(json.dumps({**KEPT, **change, "run": digest}))
    for damage in damages:
        file.write_text(damage)
        with pytest.raises(S2Error, match="is damaged; to begin anew"):
            progress.load(PARTS)
    file.write_text(json.dumps({**KEPT, "run": digest}))
    assert progress.load(PARTS).seconds == 2.5
    file.with_suffix(".s2voice").write_bytes(b"no voice")
    with pytest.raises(S2Error, match="is damaged; to begin anew"):
        progress.voice()


def test_what_was_spoken_is_not_lost_for_a_damaged_note_of_it(run, tts, monkeypatch, tmp_path):
    argv = ["say", TEXT, "-o", "out.wav", "--split", "paragraph"]
    assert interrupted(run, tts, monkeypatch, 7, *argv).code == 130
    first = (tmp_path / "out-001.wav").read_bytes()
    [file] = (tmp_path / "home" / "state" / "s2mlx" / "unfinished").glob("*.json")
    file.write_text(file.read_text()[:-9])
    result = run(*argv, "--resume")
    assert result.code == 1 and "is damaged; to begin anew" in result.error
    assert (tmp_path / "out-001.wav").read_bytes() == first


def test_the_voice_of_another_run_is_none_of_this_one(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    voice = Voice(np.zeros((10, 4), np.int32), "Words.", 44100, 256)
    RunProgress("out.wav", {"text": 1}).save(Reached(7, 1), voice)
    mine = RunProgress("out.wav", {"text": 1})
    assert mine.save(Reached(7, 2)) and mine.voice() == voice
    other = RunProgress("out.wav", {"text": 2})
    assert other.save(Reached(8, 1)) and other.load(PARTS) == Reached(8, 1) and other.voice() is None


def test_a_signal_and_another_process_that_goes_on(tmp_path):
    argv = ["say", "One. Two.", "-o", tmp_path / "out.wav"]
    process = command(*argv, fake='{"delay": 0.05, "frames": 5}')
    while b"ready" not in (line := process.stderr.readline()):
        assert line
    process.send_signal(signal.SIGINT)
    code, _, err = finished(process)
    assert code == 130 and "--resume goes on" in err
    code, _, err = finished(command(*argv, "--resume", fake='{"frames": 5}'))
    assert code == 0 and soundfile.info(tmp_path / "out.wav").frames == 10 * FRAME, err


def test_the_chapters_of_markdown(run, tts, tmp_path):
    (tmp_path / "book.md").write_text(
        "Before.\n\n# The *first*\nOne is here.\n\n```sh\n# no chapter\n```\n\n## Second\nTwo is here.\n### Third\nNo."
    )
    assert run("say", "-f", "book.md", "--markdown", "--split", "chapter", "-o", "out.wav").code == 0
    assert [call.text.split() for call in tts.calls] == [
        ["Before."],
        ["The", "first", "One", "is", "here."],
        ["Second", "Two", "is", "here.", "Third", "No."],
    ]
    assert (tmp_path / "out-003.wav").exists() and not (tmp_path / "out-004.wav").exists()
