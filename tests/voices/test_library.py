"""The folder of voices: names, completeness, undo, several processes, broken and dropped-in files."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mlx.errors import AudioError, S2Error, VoiceError
from s2mlx.files import folders
from s2mlx.voices import VoiceLibrary
from s2mlx.voices.names import check_name, key
from tests.goldens import GOLDEN
from tests.voices.making import tree, voice

# --- keeping -------------------------------------------------------------------------------------------------------


def test_looking_creates_nothing(library):
    assert library.names() == [] and library.infos() == []
    with pytest.raises(VoiceError, match="there is no voice 'anna'; none is saved yet"):
        library.get("anna")
    assert not library.folder.exists()


def test_add_and_get(library):
    assert library.add("anna", voice(1)) is None
    assert library.add("Großvater – 2".replace("–", "-"), voice(2)) is None
    assert library.names() == ["anna", "Großvater - 2"]
    assert library.get("anna") == voice(1) and library.get("anna").name == "anna"
    assert library.get(" ANNA ").name == "anna"
    assert library.clip("anna") is None
    assert tree(library.folder) == ["Großvater - 2", "Großvater - 2/voice.s2voice", "anna", "anna/voice.s2voice"]


def test_a_clip_is_kept_with_the_voice(library):
    samples = 0.5 * np.sin(np.arange(44100) / 30).astype(np.float32)
    library.add("anna", voice(), clip=(samples, 44100))
    back, rate = library.clip("anna")
    assert rate == 44100 and np.abs(back - samples).max() < 1e-3
    info = library.info("anna")
    assert info.has_clip and not info.builtin and info.problem is None
    assert (info.frames, info.codebooks, info.codebook_size, info.sample_rate) == (5, 10, 256, 44100)
    assert info.transcript == "Some words."
    assert info.seconds == pytest.approx(5 * 2048 / 44100)
    assert info.modified == pytest.approx(time.time(), abs=60)


def test_a_clip_that_cannot_be_written_leaves_nothing(library, monkeypatch):
    def full(*_, **__):
        raise AudioError("the clip is odd")

    monkeypatch.setattr("s2mlx.audio.write_audio", full)
    with pytest.raises(AudioError, match="the clip is odd"):
        library.add("anna", voice(), clip=(np.zeros(10, np.float32), 44100))
    assert library.names() == [] and not list(library.folder.glob(".new-*"))


@pytest.mark.parametrize("clip", [None, (np.zeros(4410, np.float32), 44100)])
def test_a_full_disk_is_told_of_the_folder_not_of_what_is_in_the_making(library, monkeypatch, clip):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VoiceError) as told:
        library.add("anna", voice(), clip=clip)
    assert str(told.value) == f"cannot save voice 'anna' in {library.folder}: the disk is full"
    assert library.names() == [] and not list(library.folder.glob(".new-*"))


def test_a_folder_that_cannot_be_holds_no_voices(tmp_path, monkeypatch):
    """Those that come with the program are there all the same."""
    (tmp_path / "assets" / "nano").mkdir(parents=True)
    voice().save(tmp_path / "assets" / "nano" / "clara.s2voice")
    monkeypatch.setattr(folders, "assets_dir", lambda: tmp_path / "assets")
    (tmp_path / "file").write_bytes(b"")

    def homeless():
        raise S2Error("this user has no home folder")

    for folder in (tmp_path / "file" / "below", tmp_path / ("x" * 300), None):
        if folder is None:
            monkeypatch.setattr(folders, "voices_dir", homeless)
        library = VoiceLibrary(folder)
        assert library.names() == ["clara"] and library.get("clara") == voice() and library.removed() == []
        assert [info.problem for info in library.infos()] == [None] and library.clip("clara") is None
        with pytest.raises(S2Error, match="no home folder" if folder is None else "cannot save voice 'a' in"):
            library.add("a", voice())


def test_overwrite_only_when_asked_and_undoable(library):
    library.add("anna", voice(1))
    with pytest.raises(VoiceError, match="there is a voice 'anna' already"):
        library.add("ANNA", voice(2))
    assert library.get("anna") == voice(1)
    token = library.add("Anna", voice(2), overwrite=True)
    assert library.names() == ["Anna"] and library.get("anna") == voice(2)
    with pytest.raises(VoiceError, match="there is a voice 'Anna' now"):
        library.restore(token)
    library.remove("Anna")
    assert library.restore(token) == "anna"
    assert library.get("anna") == voice(1)


def test_rename(library):
    library.add("anna", voice(1))
    library.add("bert", voice(2))
    with pytest.raises(VoiceError, match="there is a voice 'bert' already"):
        library.rename("anna", "Bert")
    library.rename("anna", "Anna")
    assert library.names() == ["Anna", "bert"]
    library.rename("anna", "carla")
    assert library.get("carla") == voice(1)
    with pytest.raises(VoiceError, match="did you mean carla\\?"):
        library.get("carl")
    with pytest.raises(VoiceError, match="there is no voice 'anna'; there are bert, carla"):
        library.rename("anna", "dora")


def test_import_and_export(library, tmp_path):
    assert library.import_file(GOLDEN / "tiny.s2voice") == "tiny"
    assert library.import_file(GOLDEN / "tiny.s2voice", "other") == "other"
    with pytest.raises(VoiceError, match="already"):
        library.import_file(GOLDEN / "tiny.s2voice")
    library.import_file(GOLDEN / "tiny.s2voice", overwrite=True)
    out = library.export("tiny", tmp_path / "out.s2voice")
    assert out.read_bytes() == (GOLDEN / "tiny.s2voice").read_bytes()
    with pytest.raises(VoiceError, match="exists already"):
        library.export("tiny", out)
    library.export("other", out, overwrite=True)
    assert library.export("other", tmp_path).name == "other.s2voice"
    with pytest.raises(VoiceError, match="cannot read"):
        library.import_file(tmp_path / "nowhere.s2voice")


def test_resolve_takes_names_and_paths(library):
    library.add("anna", voice())
    assert library.resolve("anna").name == "anna"
    assert library.resolve(str(GOLDEN / "tiny.s2voice")).name == "tiny"
    with pytest.raises(VoiceError, match="cannot read voice"):
        library.resolve("anna.s2voice")


# --- what users and accidents leave in the folder ------------------------------------------------------------------


def test_dropped_in_files_are_voices(library):
    library.folder.mkdir()
    shutil.copy(GOLDEN / "tiny.s2voice", library.folder / "Gift.s2voice")
    assert library.names() == ["Gift"] and library.get("gift").name == "Gift"
    with pytest.raises(VoiceError, match="already"):
        library.add("gift", voice())
    library.rename("gift", "present")
    assert tree(library.folder) == ["present.s2voice"]
    token = library.remove("present")
    assert library.names() == []
    assert library.restore(token) == "present" and library.names() == ["present"]
    library.add("present", voice(), overwrite=True)
    assert tree(library.folder) == ["present", "present/voice.s2voice"]


def test_a_file_beside_a_folder_of_its_name(library):
    library.add("anna", voice(1))
    shutil.copy(GOLDEN / "tiny.s2voice", library.folder / "anna.s2voice")
    assert library.names() == ["anna", "anna.s2voice"]
    assert library.get("anna") == voice(1)
    assert library.get("anna.s2voice").transcript.startswith("Reference")


def test_broken_voices_are_listed_with_their_reason(library):
    library.add("good", voice())
    (library.folder / "cut.s2voice").write_bytes((GOLDEN / "tiny.s2voice").read_bytes()[:100])
    (library.folder / "empty").mkdir()
    (library.folder / "folder").mkdir()
    (library.folder / "folder" / "voice.s2voice").mkdir()
    (library.folder / "notes.txt").write_text("not a voice")
    (library.folder / "dangling.s2voice").symlink_to("nowhere")
    os.mkfifo(library.folder / "pipe.s2voice")
    (library.folder / ".DS_Store").write_bytes(b"x")
    problems = {i.name: i.problem for i in library.infos()}
    assert problems["good"] is None
    assert "bytes announced" in problems["cut"]
    assert "holds no voice.s2voice" in problems["empty"]
    assert "not a file" in problems["folder"] and "not a file" in problems["pipe"]
    assert "No such file" in problems["dangling"]
    assert sorted(problems) == ["cut", "dangling", "empty", "folder", "good", "pipe"] == library.names()
    with pytest.raises(VoiceError, match="bytes announced"):
        library.get("cut")
    for name in ("cut", "empty", "folder", "pipe", "dangling"):
        library.remove(name)
    assert library.names() == ["good"]


def test_file_names_that_are_no_text(library):
    library.folder.mkdir()
    data = (GOLDEN / "tiny.s2voice").read_bytes()
    for raw in (b"\xff\xfe.s2voice", b"esc\x1b[31m.s2voice", b"new\nline.s2voice"):
        try:
            with open(os.path.join(os.fsencode(library.folder), raw), "wb") as file:
                file.write(data)
        except OSError:
            pytest.skip("this file system takes only text for names")
    assert all(name.isprintable() for name in library.names())
    assert [i.problem for i in library.infos()] == [None] * 3
    for name in library.names():
        assert library.get(name).frames == 44


def test_the_folder_is_a_file(tmp_path):
    (tmp_path / "voices").write_text("oops")
    library = VoiceLibrary(tmp_path / "voices")
    for act in (
        library.names,
        library.infos,
        lambda: library.get("a"),
        lambda: library.add("a", voice()),
        lambda: library.remove("a"),
    ):
        with pytest.raises(VoiceError):
            act()


# --- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "anna",
        "Anna Lena",
        "O'Brien",
        "李明",
        "Ольга",
        "मीरा",
        "علی",
        "José",
        "v2.1",
        "a_b-c",
        "7",
        "R & B (live), take+1",
        "é" * 64,
    ],
)
def test_good_names(library, name):
    library.add(name, voice())
    assert library.names() == [check_name(name)]
    assert library.get(name).name == check_name(name)


BAD_NAMES = [
    "",
    " ",
    ".",
    "..",
    "...",
    "/",
    "a/b",
    "../x",
    "/etc/passwd",
    "a\\b",
    "~",
    "~/x",
    "a\0b",
    "a\nb",
    "\x1b[31m",
    "-v",
    ".hidden",
    "a.",
    "a:b",
    "?",
    "*",
    "a|b",
    "<b>",
    '"',
    "CON",
    "con.txt",
    "Lpt1",
    "aux",
    "x.s2voice",
    "X.S2VOICE",
    "\u202egnp",
    "a\u200bb",
    "\ud800",
    "a" * 65,
    "李" * 67,
    "\u0301a",
    "a\uffff",
    "a／b",
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_bad_names(library, tmp_path, name):
    library.add("good", voice())
    before = sorted(str(p) for p in tmp_path.rglob("*"))
    for act in (
        lambda: library.add(name, voice()),
        lambda: library.rename("good", name),
        lambda: library.import_file(GOLDEN / "tiny.s2voice", name),
    ):
        with pytest.raises(VoiceError, match="cannot be the name of a voice: ") as caught:
            act()
        str(caught.value).encode("utf-8")
    for act in (library.get, library.remove, library.clip, library.info):
        with pytest.raises(VoiceError, match="there is no voice"):
            act(name)
    assert sorted(str(p) for p in tmp_path.rglob("*")) == before


@given(st.text(max_size=80) | st.text(st.sampled_from("./\\:~ aA\0-éß\u0301İ"), max_size=12))
@settings(max_examples=400, deadline=None)
def test_any_name_is_one_folder_or_refused(name):
    try:
        kept = check_name(name)
    except VoiceError:
        return
    assert os.path.basename(kept) == kept and kept not in (".", "..") and not kept.startswith((".", "-"))
    assert len(os.fsencode(kept + ".s2voice")) < 255
    assert check_name(kept) == kept
    assert key(kept) == key(kept.swapcase()) or kept.swapcase().casefold() != kept.casefold()


def test_names_that_some_file_systems_take_for_one(library):
    library.add("Jose\u0301", voice())
    for same in ("José", "JOSÉ", "jose\u0301"):
        with pytest.raises(VoiceError, match="already"):
            library.add(same, voice())
    assert library.get("JOSE\u0301") == voice()


# --- built-in voices -----------------------------------------------------------------------------------------------


@pytest.fixture
def with_demo(tmp_path, monkeypatch):
    assets = tmp_path / "assets"
    (assets / "nano").mkdir(parents=True)
    shutil.copy(GOLDEN / "tiny.s2voice", assets / "nano" / "demo.s2voice")
    monkeypatch.setattr(folders, "assets_dir", lambda: assets)
    return VoiceLibrary(tmp_path / "voices")


def test_builtin_voices_are_read_only(with_demo, tmp_path):
    assert with_demo.names() == ["demo"] and with_demo.info("demo").builtin
    assert with_demo.get("Demo").frames == 44
    for act in (lambda: with_demo.remove("demo"), lambda: with_demo.rename("demo", "mine")):
        with pytest.raises(VoiceError, match="comes with the program"):
            act()
    with_demo.export("demo", tmp_path / "d.s2voice")
    with_demo.add("Demo", voice())
    assert with_demo.names() == ["Demo"] and with_demo.get("demo") == voice() and not with_demo.info("demo").builtin
    with_demo.remove("demo")
    assert with_demo.names() == ["demo"] and with_demo.get("demo").frames == 44


# --- several at once -----------------------------------------------------------------------------------------------


def _writer(folder, number, wins):
    library = VoiceLibrary(folder)
    for turn in range(5):
        try:
            library.add(f"v{turn}", voice(number))
            wins.put((turn, number))
        except VoiceError as fault:
            assert "already" in str(fault)
    library.add("shared", voice(number), overwrite=True)


def test_processes_share_a_folder(library):
    context = multiprocessing.get_context("spawn")
    wins = context.Queue()
    writers = [context.Process(target=_writer, args=(library.folder, n, wins)) for n in range(3)]
    for process in writers:
        process.start()
    for process in writers:
        process.join()
        assert process.exitcode == 0
    won = dict(wins.get(timeout=5) for _ in range(5))
    assert sorted(won) == [0, 1, 2, 3, 4]  # one winner each
    for turn, number in won.items():
        assert library.get(f"v{turn}") == voice(number)
    assert library.get("shared") in [voice(n) for n in range(3)]


def test_a_voice_being_replaced_is_never_missing(library):
    library.add("anna", voice(0))
    stop = threading.Event()
    seen, faults = set(), []

    def read():
        while not stop.is_set():
            try:
                seen.add(library.get("anna"))
            except VoiceError as fault:
                faults.append(fault)

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(1, 30):
        library.add("anna", voice(n % 2), overwrite=True)
    stop.set()
    reader.join()
    assert not faults and seen <= {voice(0), voice(1)}
