"""Voices that move: into the trash and back, under another name, with the clips beside them, and when that fails."""

from __future__ import annotations

import os
import shutil
import time

import numpy as np
import pytest

from s2mlx.errors import VoiceError
from tests.goldens import GOLDEN
from tests.voices.making import drop, tree, voice

# --- the trash -----------------------------------------------------------------------------------------------------


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
        (name, tokens[i], began + i) for i, name in [(3, "anna"), (2, "anna"), (1, "bert"), (0, "anna")]
    ]
    with pytest.raises(VoiceError, match="no voice 'carl' in the trash; it holds anna, bert$"):
        library.restore("carl")
    assert library.restore(" ANNA ") == "anna" and library.get("anna") == voice(3)
    library.rename("anna", "last")
    assert library.restore(tokens[0]) == "anna" and library.get("anna") == voice(0)
    assert [v.token for v in library.removed()] == [tokens[2], tokens[1]]


@pytest.mark.parametrize(
    "token", ["", "..", "../..", "/etc", "0123456789abcdef", "0123456789ABCDEF", "a" * 15 + "\n", "\0" * 16]
)
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


# --- dropped-in voices and their clips -----------------------------------------------------------------------------


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
