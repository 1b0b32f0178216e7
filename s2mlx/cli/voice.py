"""Saved voices: add one from a clip, list, show, rename, remove, restore, import and export."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, VoiceError
from . import listening, model, paths, references
from .parser import Parser, words
from .terminal import Console, seconds, table

if TYPE_CHECKING:
    import numpy as np

    from ..voices import Voice, VoiceInfo, VoiceLibrary


def configure(parser: Parser) -> None:
    actions: argparse._SubParsersAction[Parser] = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    def action(name: str, run: Callable[[argparse.Namespace, Console], int], what: str) -> Parser:
        sub = actions.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
        sub.set_defaults(parser=sub, act=run)
        return sub

    add = action("add", _add, "make a voice from a clip and its words (needs a model)")
    add.add_argument("name", metavar="NAME", help="what the voice is called")
    add.option("--clip", metavar="CLIP", help="a recording of 5-30 s")
    add.option("--text", type=words, metavar="TEXT", help="the words spoken in it; default: they are heard")
    listening.add_options(add, lambda args: args.clip is not None, "a clip to hear: --clip CLIP")
    add.option(
        "--pick",
        action="store_true",
        help="CLIP is long: find 10 to 15 s of one voice and whole sentences in it, and hear its words",
    )
    add.option("--force", action="store_true", help="replace a voice of that name")
    model.add_options(add)
    model.add_manners(add)
    add.epilog = model.CLONES + "."

    listing = action("list", _list, "list the saved voices, the broken ones with their reason")
    model.add_manners(listing, json="print one JSON object: {voices: [{name, seconds, transcript, problem, ...}]}")

    show = action("show", _show, "show one voice")
    show.add_argument("name", metavar="NAME")
    model.add_manners(show, quiet=False, json="print one JSON object: {name, seconds, transcript, frames, ...}")

    rename = action("rename", _rename, "give a voice another name")
    rename.add_argument("old", metavar="OLD")
    rename.add_argument("new", metavar="NEW")
    model.add_manners(rename)

    remove = action("remove", _remove, "remove a voice; it can be brought back for 30 days")
    remove.add_argument("name", metavar="NAME")
    model.add_manners(remove)

    restore = action("restore", _restore, "bring a removed or replaced voice back, or list those that can be")
    restore.add_argument(
        "which",
        metavar="NAME|TOKEN",
        nargs="?",
        help="the voice of that name removed last, or one by its token; default: list them",
    )
    model.add_manners(restore, json="print one JSON object: {restored: NAME}, or {removed: [{name, token, removed}]}")

    bring = action("import", _import, "save a .s2voice file under a name")
    bring.add_argument("file", metavar="FILE", help="the .s2voice file")
    bring.add_argument("name", metavar="NAME", nargs="?", help="default: the file's own name")
    bring.option("--clip", action="store_true", help="with the clip that lies beside the file, NAME.flac")
    bring.option("--force", action="store_true", help="replace a voice of that name")
    model.add_manners(bring)

    export = action("export", _export, "write a voice as a .s2voice file")
    export.add_argument("name", metavar="NAME")
    export.add_argument("file", metavar="FILE", help="the file to write, or a folder for it")
    export.option("--clip", action="store_true", help="with its clip, as NAME.flac beside the file")
    export.option("--force", action="store_true", help="replace a file of that name")
    model.add_manners(export)


def run(args: argparse.Namespace, console: Console) -> int:
    code: int = args.act(args, console)
    return code


def print_voices(console: Console, as_json: bool = False) -> int:
    """The saved voices on stdout, as a table or one JSON object; it needs no model."""
    infos = _library().infos()
    if as_json:
        print(json.dumps({"voices": [_as_dict(info) for info in infos]}))
        return 0
    if not infos:
        console.note("no voices yet; make one: s2mlx record NAME, or s2mlx voice add NAME --clip CLIP --text TEXT")
        return 0
    rows = [["voice", "length", "from", "words"]]
    for info in infos:
        origin = "bundled" if info.builtin else "you"
        rows.append(
            [info.name, "broken", origin, info.problem]
            if info.problem
            else [info.name, seconds(info.seconds), origin, _short(info.transcript)]
        )
    print(table(rows))
    return 0


def free_name(library: VoiceLibrary, name: str, force: bool) -> str:
    """`name` as it will be kept; VoiceError if it is no name, or taken and not to be replaced."""
    from ..voices import check_name, key

    name = check_name(name)
    if not force and any(key(info.name) == key(name) and not info.builtin for info in library.infos()):
        raise VoiceError(f"there is a voice {name!r} already; choose another name, or replace it with --force")
    return name


def _library() -> VoiceLibrary:
    from ..voices import VoiceLibrary

    return VoiceLibrary()


def _short(text: str, width: int = 60) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."


def _as_dict(info: VoiceInfo) -> dict[str, Any]:
    return dataclasses.asdict(info) | {"path": str(info.path)}


def _list(args: argparse.Namespace, console: Console) -> int:
    return print_voices(console, args.json)


def _show(args: argparse.Namespace, console: Console) -> int:
    info = _library().info(args.name)
    if args.json:
        print(json.dumps(_as_dict(info)))
    elif info.problem is None:
        print(
            table(
                [
                    ["name", info.name],
                    ["words", info.transcript],
                    ["length", f"{seconds(info.seconds)}, {info.frames} frames"],
                    ["made for", f"{info.codebooks} codebooks of {info.codebook_size}, {info.sample_rate} Hz"],
                    ["clip", "kept" if info.has_clip else "not kept"],
                    ["file", str(info.path)],
                ]
            )
        )
    if info.problem:
        raise VoiceError(info.problem)
    return 0


def _add(args: argparse.Namespace, console: Console) -> int:
    if args.clip is None:
        raise UsageError("a voice is a clip and its words; add --clip CLIP")
    library = _library()
    name = free_name(library, args.name, args.force)
    if args.text is not None:
        references.check_transcript(args.text, "--text")
    if args.pick:
        if args.text is not None:
            raise UsageError("--pick takes the words of the part that it finds; leave --text out")
        clip, text = listening.pick(args.clip, args, console)
    else:
        clip, text = _clip_and_words(args, console)

    from ..audio import resample

    with model.open_model(args, console) as tts:
        clip = resample(*clip, tts.sample_rate), tts.sample_rate
        longest = tts.config.reference_seconds
        if len(clip[0]) > longest * tts.sample_rate:
            console.note(
                f"{tts.name} follows about the first {longest:.0f} seconds of a voice, up to the end of a sentence; "
                "the rest is kept for other models"
            )
        model.note_clones(tts, console)
        console.progress("encoding the clip ...")
        save(library, name, tts.clone(clip, text, name=name), clip, args.force, console)
    return 0


def _clip_and_words(args: argparse.Namespace, console: Console) -> tuple[references.Clip, str]:
    """The clip of --clip with its words, given and checked, or heard."""
    clip = references.read_clip(args.clip, args.text, console)
    if args.text is None:
        [text] = listening.words_of([(args.clip, clip)], "--text", args, console)
        return clip, text
    listening.check_words(args.clip, clip, args.text, args, console)
    return clip, args.text


def save(
    library: VoiceLibrary,
    name: str,
    voice: Voice,
    clip: tuple[np.ndarray, int],
    force: bool,
    console: Console,
) -> None:
    """Put a new voice into the library, and say how to use it and how to undo what it replaced."""
    from ..voices import key

    bundled = [info.name for info in library.infos() if info.builtin and key(info.name) == key(name)]
    replaced = library.add(name, voice, clip=clip, overwrite=force)
    console.note(f"saved the voice {name!r}; try: s2mlx say -v {shlex.quote(name)} Hello.")
    if replaced:
        console.note(
            f"the old one comes back with: s2mlx voice remove {shlex.quote(name)} && s2mlx voice restore {replaced}"
        )
    elif bundled:
        console.note(f"it stands before the bundled {bundled[0]}, which is back when yours is removed or renamed")


def _rename(args: argparse.Namespace, console: Console) -> int:
    library = _library()
    old = library.info(args.old).name
    library.rename(old, args.new)
    console.note(f"the voice {old!r} is now {library.info(args.new).name!r}")
    return 0


def _remove(args: argparse.Namespace, console: Console) -> int:
    token = _library().remove(args.name)
    print(token)
    console.note(f"removed the voice {args.name!r}; undo: s2mlx voice restore {token}")
    return 0


def _restore(args: argparse.Namespace, console: Console) -> int:
    if args.which is None:
        return _list_removed(args, console)
    name = _library().restore(args.which)
    if args.json:
        print(json.dumps({"restored": name}))
    console.note(f"the voice {name!r} is back")
    return 0


def _list_removed(args: argparse.Namespace, console: Console) -> int:
    removed = _library().removed()
    if args.json:
        print(json.dumps({"removed": [dataclasses.asdict(voice) for voice in removed]}))
    elif removed:
        print(
            table(
                [["voice", "removed", "token"], *([voice.name, _when(voice.removed), voice.token] for voice in removed)]
            )
        )
    else:
        console.note("no voice was removed in the last 30 days")
    return 0


def _when(stamp: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(stamp))


def _import(args: argparse.Namespace, console: Console) -> int:
    from ..voices import Voice, clip_of_file

    library = _library()
    free_name(library, Voice.load(args.file).name if args.name is None else args.name, args.force)
    name = library.import_file(args.file, args.name, overwrite=args.force, clip=args.clip)
    console.note(f"saved the voice {name!r}")
    clip = clip_of_file(Path(args.file))
    if not args.clip and clip.is_file():
        console.note(f"{clip} stayed there; --clip brings it along, and other models can make the voice again")
    return 0


def _export(args: argparse.Namespace, console: Console) -> int:
    from ..voices import SUFFIX, clip_beside

    library, target = _library(), args.file
    info = library.info(args.name)
    if os.path.isdir(target):
        target = os.path.join(target, info.name + SUFFIX)
    paths.check_ending(target, (SUFFIX,), "a voice file")
    for file in (target, str(clip_beside(Path(target))))[: 1 + args.clip]:
        paths.check_writable(file)
        if os.path.isfile(file) and not args.force:
            raise VoiceError(f"{file} exists already; choose another name, or replace it with --force")
    console.note(f"wrote {library.export(args.name, target, overwrite=args.force, clip=args.clip)}")
    if info.has_clip and not args.clip:
        console.note("its clip stayed behind; --clip takes it along, and other models can make the voice again")
    return 0
