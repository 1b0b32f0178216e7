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

from s2mlx import locations, models
from s2mlx.errors import AudioError, S2Error, VoiceError
from s2mlx.voice import Voice, VoiceLibrary
from s2mlx.voice_names import check_name, key

from .conftest import GOLDEN


def voice(seed=0, transcript="Some words.", frames=5):
    return Voice(np.random.default_rng(seed).integers(0, 256, (10, frames)), transcript, codebook_size=256)


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setattr(locations, "assets_dir", lambda: None)
    return VoiceLibrary(tmp_path / "voices")


def tree(folder):
    """What a user would see of a folder, relative, hidden things left out."""
    paths = [p.relative_to(folder) for p in folder.rglob("*")]
    return sorted(str(p) for p in paths if not any(part.startswith(".") for part in p.parts))


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
    def full(*_):
        raise AudioError("the disk is full")

    monkeypatch.setattr("s2mlx.audio.files.write_audio", full)
    with pytest.raises(AudioError, match="disk is full"):
        library.add("anna", voice(), clip=(np.zeros(10, np.float32), 44100))
    assert library.names() == [] and not list(library.folder.glob(".new-*"))


@pytest.mark.parametrize("dropped", [False, True])
def test_a_replacement_that_fails_puts_the_old_voice_back(library, monkeypatch, dropped):
    library.folder.mkdir()
    if dropped:
        drop(library, "anna")
    else:
        library.add("anna", voice(1))
    before, old, rename = tree(library.folder), library.get("anna"), os.rename

    def in_the_way(source, target):
        if ".new-" in str(source):
            raise NotADirectoryError(20, "Not a directory")
        rename(source, target)

    monkeypatch.setattr(os, "rename", in_the_way)
    with pytest.raises(VoiceError, match="Not a directory"):
        library.add("anna", voice(2), overwrite=True)
    assert tree(library.folder) == before and library.get("anna") == old and library.removed() == []


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


def test_remove_is_undoable(library):
    library.add("anna", voice(1), clip=(np.zeros(4410, np.float32), 44100))
    before = tree(library.folder)
    token = library.remove("Anna")
    assert library.names() == [] and tree(library.folder) == []
    assert library.restore(token) == "anna"
    assert tree(library.folder) == before
    with pytest.raises(VoiceError, match="in the trash; it holds nothing"):
        library.restore(token)


def test_the_trash_is_listed_and_a_name_brings_the_newest_back(library):
    assert library.removed() == [] and not library.folder.exists()
    tokens, began = [], int(time.time()) - 100
    for seed, name in enumerate(["anna", "bert", "anna", "anna"]):
        library.add(name, voice(seed))
        tokens.append(library.remove(name))
        os.utime(library.folder / ".trash" / tokens[-1], (began + seed, began + seed))
    (library.folder / ".trash" / ("0" * 16)).mkdir()  # what a crash left, and what is no token's
    (library.folder / ".trash" / "notes").mkdir()
    assert [(v.name, v.token, v.removed) for v in library.removed()] == [
        (name, tokens[i], began + i) for i, name in [(3, "anna"), (2, "anna"), (1, "bert"), (0, "anna")]]
    with pytest.raises(VoiceError, match="no voice 'carl' in the trash; it holds anna, bert$"):
        library.restore("carl")
    assert library.restore(" ANNA ") == "anna" and library.get("anna") == voice(3)
    library.rename("anna", "last")
    assert library.restore(tokens[0]) == "anna" and library.get("anna") == voice(0)
    assert [v.token for v in library.removed()] == [tokens[2], tokens[1]]


@pytest.mark.parametrize("token", ["", "..", "../..", "/etc", "0123456789abcdef", "0123456789ABCDEF", "a" * 15 + "\n",
                                   "\0" * 16])
def test_tokens_are_not_paths(library, token):
    library.add("anna", voice())
    with pytest.raises(VoiceError, match="in the trash; it holds nothing"):
        library.restore(token)


def test_the_trash_is_emptied_late(library):
    for name in ("old", "young"):
        library.add(name, voice())
    old = library.remove("old")
    month = time.time() - 31 * 86400
    os.utime(library.folder / ".trash" / old, (month, month))
    (library.folder / ".new-crashed").mkdir()
    os.utime(library.folder / ".new-crashed", (month, month))
    (library.folder / ".new-at-work").mkdir()
    young = library.remove("young")
    assert library.restore(young) == "young"
    assert not (library.folder / ".trash" / old).exists()
    assert [p.name for p in library.folder.glob(".new-*")] == [".new-at-work"]


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


def drop(library, name):
    """What a user drops in: a voice and its clip."""
    from s2mlx.audio.files import write_audio

    library.folder.mkdir(exist_ok=True)
    shutil.copy(GOLDEN / "tiny.s2voice", library.folder / f"{name}.s2voice")
    write_audio(library.folder / f"{name}.flac", np.zeros(4410, np.float32), 44100)


def test_the_clip_of_a_dropped_in_voice_goes_with_it(library):
    drop(library, "Gift")
    assert library.info("gift").has_clip
    library.rename("gift", "gift")
    assert tree(library.folder) == ["gift.flac", "gift.s2voice"]
    library.rename("gift", "present")
    assert tree(library.folder) == ["present.flac", "present.s2voice"] and library.info("present").has_clip
    token = library.remove("present")
    assert tree(library.folder) == []
    library.restore(token)
    assert tree(library.folder) == ["present.flac", "present.s2voice"]
    library.add("present", voice(1), overwrite=True)
    assert tree(library.folder) == ["present", "present/voice.s2voice"] and not library.info("present").has_clip
    library.remove("present")
    shutil.copy(GOLDEN / "tiny.s2voice", library.folder / "present.s2voice")
    assert not library.info("present").has_clip  # none that was another voice's


def test_disks_without_links_take_a_copy(library, monkeypatch):
    def unsupported(*_):
        raise PermissionError(1, "Operation not permitted")

    drop(library, "gift")
    monkeypatch.setattr(os, "link", unsupported)
    library.restore(library.remove("gift"))
    library.rename("gift", "present")
    assert tree(library.folder) == ["present.flac", "present.s2voice"] and library.clip("present") is not None


def test_a_clip_in_the_way_is_not_adopted_nor_lost(library):
    drop(library, "gift")
    (library.folder / "present.flac").write_bytes(b"of nobody")
    with pytest.raises(VoiceError, match="present.flac is in the way"):
        library.rename("gift", "present")
    assert tree(library.folder) == ["gift.flac", "gift.s2voice", "present.flac"]
    (library.folder / "gift.flac").unlink()
    with pytest.raises(VoiceError, match="present.flac is in the way"):
        library.rename("gift", "present")


@pytest.mark.parametrize("act", ["rename", "remove", "restore"])
def test_a_crash_between_voice_and_clip_loses_neither(library, monkeypatch, act):
    """Whichever step is the last one done, the voice is found whole: where it was, or where it went."""
    for survived in range(4):
        drop(library, "gift")
        if act == "restore":
            library.remove("gift")
        steps, real = 0, {name: getattr(os, name) for name in ("link", "rename", "unlink")}

        def step(name):
            def call(*arguments, **keywords):
                nonlocal steps
                steps += 1
                if steps > survived:
                    os._exit(0)
                return real[name](*arguments, **keywords)
            return call

        child = os.fork()
        if child == 0:
            try:
                for name in real:
                    monkeypatch.setattr(os, name, step(name))
                library.rename("gift", "present") if act == "rename" else getattr(library, act)("gift")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        if "gift" not in library.names() and "present" not in library.names():
            assert library.restore("gift") == "gift"
        name = "gift" if "gift" in library.names() else "present"
        assert library.get(name).frames == 44 and library.clip(name) is not None
        shutil.rmtree(library.folder)


def test_a_failed_move_leaves_the_clip_where_it_was(library, monkeypatch):
    def fail(*_):
        raise OSError(30, "Read-only file system")

    drop(library, "gift")
    monkeypatch.setattr(os, "rename", fail)
    for act in (lambda: library.rename("gift", "present"), lambda: library.remove("gift")):
        with pytest.raises(VoiceError, match="Read-only"):
            act()
    assert tree(library.folder) == ["gift.flac", "gift.s2voice"] and library.removed() == []


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
    for act in (library.names, library.infos, lambda: library.get("a"), lambda: library.add("a", voice()),
                lambda: library.remove("a")):
        with pytest.raises(VoiceError):
            act()


# --- names ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["anna", "Anna Lena", "O'Brien", "李明", "Ольга", "मीरा", "علی", "José", "v2.1", "a_b-c",
                                  "7", "R & B (live), take+1", "é" * 64])
def test_good_names(library, name):
    library.add(name, voice())
    assert library.names() == [check_name(name)]
    assert library.get(name).name == check_name(name)


BAD_NAMES = ["", " ", ".", "..", "...", "/", "a/b", "../x", "/etc/passwd", "a\\b", "~", "~/x", "a\0b", "a\nb",
             "\x1b[31m", "-v", ".hidden", "a.", "a:b",
             "?", "*", "a|b", "<b>", '"', "CON", "con.txt", "Lpt1", "aux", "x.s2voice", "X.S2VOICE", "\u202egnp",
             "a\u200bb", "\ud800", "a" * 65, "李" * 67,
             "\u0301a", "a\uffff", "a／b"]


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_bad_names(library, tmp_path, name):
    library.add("good", voice())
    before = sorted(str(p) for p in tmp_path.rglob("*"))
    for act in (lambda: library.add(name, voice()), lambda: library.rename("good", name),
                lambda: library.import_file(GOLDEN / "tiny.s2voice", name)):
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
    monkeypatch.setattr(locations, "assets_dir", lambda: assets)
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


# --- folders -------------------------------------------------------------------------------------------------------

def test_xdg_folders(tmp_path, monkeypatch):
    for variable in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(tmp_path / variable))
    assert locations.config_dir() == tmp_path / "CONFIG" / "s2mlx"
    assert locations.voices_dir() == tmp_path / "DATA" / "s2mlx" / "voices" == VoiceLibrary().folder
    assert locations.autosave_dir() == tmp_path / "STATE" / "s2mlx" / "autosave"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [None, "", "relative/path"])
def test_defaults_without_xdg(tmp_path, monkeypatch, value):
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
        if value is not None:
            monkeypatch.setenv(variable, value)
    for folder in (locations.config_dir(), locations.voices_dir(), locations.state_dir()):
        assert folder.is_absolute() and folder.is_relative_to(tmp_path) and "s2mlx" in folder.parts
    assert list(tmp_path.iterdir()) == []


def test_assets_folder_is_there_or_none():
    assets = locations.assets_dir()
    assert assets is None or assets.is_dir()


def test_a_user_without_a_home(monkeypatch):
    """As in a container that runs under a number of its own: the bundled voice works, folders are asked for."""
    import pwd

    def unknown(number):
        raise KeyError(number)

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    folders = {"CONFIG": locations.config_dir, "DATA": locations.voices_dir, "STATE": locations.state_dir}
    for variable, folder in folders.items():
        with pytest.raises(S2Error, match=f"HOME or XDG_{variable}_HOME"):
            folder()
    assert models.configured() is None
