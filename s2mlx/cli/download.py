"""Fetch a model into the shared Hugging Face cache and print its path."""

from __future__ import annotations

import argparse
import re
from typing import Any

from ..errors import ModelError, UsageError
from ..files import size
from ..weights import KNOWN, LICENCE, parts_of
from . import model
from .parser import Parser
from .terminal import Console, on_stdout

PATIENCE = 20.0  # seconds that the hub may take for an answer
# What is taken of a checkpoint folder, also of a language model: no samples, no pictures.
_CHECKPOINT = ["*.safetensors", "*.json", "*.pth", "*.jinja", "tokenizer.model", "LICENSE*", "NOTICE*"]
_NAME = re.compile(r"([\w.-]+/[\w.-]+)(?::([\w.-]+(?:/[\w.-]+)*))?")


def configure(parser: Parser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="owner/repo, owner/repo:file, or a known name: " + ", ".join(KNOWN)
    )
    model.add_manners(parser)
    parser.epilog = (
        "The cache is where HF_HOME says; with HF_HUB_OFFLINE=1 what is there already is found.\n"
        "A download that was stopped goes on where it stopped.\n\n" + LICENCE
    )


def run(args: argparse.Namespace, console: Console) -> int:
    repository, file = _parse(args.name)
    from huggingface_hub import constants, errors
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # of the library
    # the base class of its HTTP error is that of the HTTP library it uses, which connection errors share
    expected: tuple[type[Exception], ...] = (
        *errors.HfHubHTTPError.__bases__,
        errors.HFValidationError,
        errors.EntryNotFoundError,
        OSError,
    )
    try:
        path = _fetch(repository, file, console)
    except expected as fault:
        raise ModelError(_reason(fault, repository, file, constants.ENDPOINT)) from fault
    console.clear()
    print(on_stdout(str(path)))
    if "s2-pro" in repository.lower():
        console.note(LICENCE)
    return 0


def _parse(name: str) -> tuple[str, str | None]:
    if name in KNOWN:
        return KNOWN[name]
    found = _NAME.fullmatch(name)
    if found is None:
        raise UsageError(f"{name!r} is neither owner/repo[:file] nor a known name ({', '.join(KNOWN)})")
    return found[1], found[2]


def _fetch(repository: str, file: str | None, console: Console) -> str:
    """Download what the name asks for; the path to give to -m."""
    from huggingface_hub import HfApi, constants, get_session, hf_hub_download, snapshot_download
    from huggingface_hub.utils import disable_progress_bars, filter_repo_objects

    if not console.live:
        disable_progress_bars()
    if constants.HF_HUB_OFFLINE:
        return hf_hub_download(repository, file) if file else snapshot_download(repository)
    _bound(get_session())
    console.progress(f"asking for {repository} ...")
    found = HfApi().model_info(repository, timeout=PATIENCE, files_metadata=True).siblings or ()
    sizes = {entry.rfilename: entry.size or 0 for entry in found}
    there = list(sizes)
    console.clear()
    ggufs = sorted(name for name in there if name.endswith(".gguf") and str(parts_of(name)[0]) == name)
    if file is None and len(ggufs) > 1:
        names = ", ".join(f"{repository}:{name}" for name in ggufs)
        raise UsageError(f"{repository} holds several models, name one: {names}")
    if file is None and not ggufs:
        _announce(
            console, repository, sum(sizes[name] for name in filter_repo_objects(there, allow_patterns=_CHECKPOINT))
        )
        return snapshot_download(repository, allow_patterns=_CHECKPOINT)
    file = file or ggufs[0]
    if file not in there:
        raise ModelError(f"{repository} has no file {file}; it has {', '.join(ggufs) or 'no GGUF'}")
    if "tokenizer.json" in there:
        hf_hub_download(repository, "tokenizer.json")
    else:
        console.warn(f"{repository} has no tokenizer.json; give one with --tokenizer")
    parts = [str(part) for part in parts_of(file)]  # of a model in several files, all
    _announce(console, f"{repository}:{file}", sum(sizes.get(part, 0) for part in parts))
    return [hf_hub_download(repository, part) for part in parts][0]


def _bound(session: Any) -> None:
    """Every request of the library gets a time-out: those for lists of files have none."""

    def limit(request: Any) -> None:
        kept = {name: value for name, value in request.extensions.get("timeout", {}).items() if value is not None}
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE) | kept

    hooks = session.event_hooks
    session.event_hooks = {**hooks, "request": [*hooks.get("request", ()), limit]}


def _announce(console: Console, what: str, nbytes: int) -> None:
    """Where no progress is drawn, one line says what is going on; a download of gigabytes is silent otherwise."""
    if not console.live:
        console.note(f"downloading {what} ({size(nbytes)}) ...")


def _reason(fault: Exception, repository: str, file: str | None, endpoint: str) -> str:
    """One line of what the hub or the network said."""
    from huggingface_hub import errors

    what = f"{repository}:{file}" if file else repository
    if isinstance(fault, errors.GatedRepoError):
        return f"{repository} is gated: accept its terms at {endpoint}/{repository}, then log in with `hf auth login`"
    if isinstance(fault, errors.RepositoryNotFoundError):
        return f"there is no repository {repository} at {endpoint}, or it is private (then log in with `hf auth login`)"
    if isinstance(fault, (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled)):
        return f"{what} is not in the cache and the hub cannot be reached; is HF_HUB_OFFLINE set, or the network down?"
    said = " ".join(str(fault).split())[:300]
    if "Timeout" in type(fault).__name__:
        return f"{endpoint} did not answer in time; try again: a download goes on where it stopped"
    if type(fault).__name__.startswith("Connect"):  # of httpx or requests, whichever the hub's client uses
        return f"cannot reach {endpoint} ({said}); is the network up?"
    return f"cannot download {what}: {said}"
