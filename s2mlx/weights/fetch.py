"""A model from the hub into the shared Hugging Face cache."""

from __future__ import annotations

import inspect
import io
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ..errors import ModelError, UsageError
from .catalog import KNOWN
from .part_names import parts_of

PATIENCE = 20.0  # seconds that the hub may take for an answer
# What is taken of a checkpoint folder, also of a language model: no samples, no pictures.
_CHECKPOINT = ["*.safetensors", "*.json", "*.pth", "*.jinja", "tokenizer.model", "LICENSE*", "NOTICE*"]
_NAME = re.compile(r"([\w.-]+/[\w.-]+)(?::([\w.-]+(?:/[\w.-]+)*))?")

Progress = Callable[[int, int], None]  # progress(bytes there, bytes in all); what it raises ends the download


class FetchListener(Protocol):
    """Who wants to hear how a download goes."""

    def asks(self, repository: str) -> None:
        """The hub is asked what there is."""

    def begins(self, what: str, nbytes: int) -> None:
        """So much is to be fetched, as far as it is not there."""

    def warns(self, line: str) -> None: ...


def fetch_model(name: str, listener: FetchListener, progress: Progress | None = None, bars: bool = False) -> Path:
    """Fetch what a name means (owner/repo, owner/repo:file, a known one); the path to load it by.

    A download that was broken off goes on where it stopped. `bars`: the hub's own are drawn, on stderr, where there is
    no `progress`. Raises UsageError for a name that means nothing or too much, ModelError for the hub and the network.
    """
    repository, file = parse_name(name)
    from huggingface_hub import constants, errors
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()
    # the base class of its HTTP error is that of the HTTP library it uses, which connection errors share
    expected: tuple[type[Exception], ...] = (
        *errors.HfHubHTTPError.__bases__,
        errors.HFValidationError,
        errors.EntryNotFoundError,
        OSError,
    )
    try:
        return Path(_fetch(repository, file, listener, progress, bars))
    except expected as fault:
        raise ModelError(_reason(fault, repository, file, constants.ENDPOINT)) from fault


def parse_name(name: str) -> tuple[str, str | None]:
    """(repository, file or None for the whole). Raises UsageError."""
    if name in KNOWN:
        return KNOWN[name]
    found = _NAME.fullmatch(name)
    if found is None:
        raise UsageError(f"{name!r} is neither owner/repo[:file] nor a known name ({', '.join(KNOWN)})")
    return found[1], found[2]


def _fetch(repository: str, file: str | None, listener: FetchListener, progress: Progress | None, bars: bool) -> str:
    from huggingface_hub import HfApi, constants, get_session, hf_hub_download, snapshot_download
    from huggingface_hub.utils import disable_progress_bars, filter_repo_objects

    if not bars or progress:
        disable_progress_bars()
    if constants.HF_HUB_OFFLINE:
        return hf_hub_download(repository, file) if file else snapshot_download(repository)
    _bound(get_session())
    listener.asks(repository)
    found = HfApi().model_info(repository, timeout=PATIENCE, files_metadata=True).siblings or ()
    sizes = {entry.rfilename: entry.size or 0 for entry in found}
    there = list(sizes)
    ggufs = sorted(name for name in there if name.endswith(".gguf") and str(parts_of(name)[0]) == name)
    if file is None and len(ggufs) > 1:
        names = ", ".join(f"{repository}:{name}" for name in ggufs)
        raise UsageError(f"{repository} holds several models, name one: {names}")
    if file is None and not ggufs:
        total = sum(sizes[name] for name in filter_repo_objects(there, allow_patterns=_CHECKPOINT))
        listener.begins(repository, total)
        watched = _watched(snapshot_download, progress, total)
        return snapshot_download(repository, allow_patterns=_CHECKPOINT, **watched)
    file = file or ggufs[0]
    if file not in there:
        raise ModelError(f"{repository} has no file {file}; it has {', '.join(ggufs) or 'no GGUF'}")
    if "tokenizer.json" in there:
        hf_hub_download(repository, "tokenizer.json")
    else:
        listener.warns(f"{repository} has no tokenizer.json; give one with --tokenizer")
    parts = [str(part) for part in parts_of(file)]  # of a model in several files, all
    total = sum(sizes.get(part, 0) for part in parts)
    listener.begins(f"{repository}:{file}", total)
    watched = _watched(hf_hub_download, progress, total)
    return [hf_hub_download(repository, part, **watched) for part in parts][0]


def _watched(call: Callable[..., Any], progress: Progress | None, total: int) -> dict[str, Any]:
    """The arguments that make a download of the library report to `progress`: a bar that draws nothing."""
    if progress is None or "tqdm_class" not in inspect.signature(call).parameters:
        return {}
    from tqdm.std import tqdm

    lock, done, told = threading.Lock(), 0, progress

    class Silent(tqdm):
        def __init__(self, *arguments: Any, **named: Any):
            super().__init__(*arguments, **named | {"file": io.StringIO(), "disable": False})
            self.counts = named.get("unit") == "B"  # others count files
            self._add(named.get("initial") or 0)  # there already, of an earlier try

        def update(self, n: float | None = 1) -> bool | None:
            self._add(n or 0)
            return super().update(n)

        def _add(self, n: float) -> None:
            nonlocal done
            if self.counts:
                with lock:
                    done = min(total, done + int(n))
                told(done, total)

    return {"tqdm_class": Silent}


def _bound(session: Any) -> None:
    """Every request of the library gets a time-out: those for lists of files have none."""

    def limit(request: Any) -> None:
        kept = {name: value for name, value in request.extensions.get("timeout", {}).items() if value is not None}
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE) | kept

    hooks = session.event_hooks
    session.event_hooks = {**hooks, "request": [*hooks.get("request", ()), limit]}


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
