"""The models there are: those on this machine, and those that can be fetched, with what each needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ModelOffer:
    """One model. `name`: as the settings take it. `path`: where it is, None where it must be fetched. `fetched` and
    `needed`: bytes of the download, and of memory while it speaks; 0 where nobody knows before it is there."""

    name: str
    path: Path | None = None
    fetched: int = 0
    needed: int = 0
    licence: str = ""

    def fits(self, memory: int) -> bool | None:
        """Whether a machine with so many bytes of memory holds it and as much again for codec and system; None: nobody
        knows."""
        return 2 * self.needed <= memory if self.needed else None


def offers() -> list[ModelOffer]:
    """The bundled model, the known ones, and other GGUF files of the Hugging Face cache. Reads the disk."""
    from s2mlx.bench.machine import files
    from s2mlx.errors import ModelError
    from s2mlx.weights import DEMO, KNOWN, LICENCE, find_model

    sizes = {row["name"]: (row["bytes"], row["memory"]) for row in files()}
    found = []
    for name in (DEMO, *KNOWN):
        try:
            path = find_model(name).path
        except ModelError:
            path = None
        if name == DEMO:
            size = path.stat().st_size if path else 0
            found.append(ModelOffer(name, path, size, _needed(path, size) if path else 0, "Apache-2.0"))
        elif path or name in sizes:
            found.append(ModelOffer(name, path, *sizes.get(name, (0, 0)), licence=LICENCE))
    known = set(KNOWN.values())
    found += [offer for key, offer in _others() if key not in known]
    return found


def _others() -> Iterator[tuple[tuple[str, str], ModelOffer]]:
    """What else the cache holds, by repository and file."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    from s2mlx.weights import parts_of

    try:
        repositories = scan_cache_dir().repos
    except (CacheNotFound, OSError, ValueError):
        return
    for repository in sorted(repositories, key=lambda repository: repository.repo_id):
        newest = max(repository.revisions, key=lambda revision: revision.last_modified, default=None)
        if newest is None:
            continue
        for file in sorted(newest.files, key=lambda file: file.file_name):
            name = file.file_path.relative_to(newest.snapshot_path).as_posix()
            if name.endswith(".gguf") and str(parts_of(name)[0]) == name:
                size, path = file.size_on_disk, file.file_path
                offer = ModelOffer(f"{repository.repo_id}:{name}", path, size, _needed(path, size))
                yield (repository.repo_id, name), offer


def _needed(path: Path, size: int) -> int:
    """Bytes of memory by what a file says of itself; one that says nothing needs its `size` at least."""
    from s2mlx.errors import S2Error
    from s2mlx.weights import describe, open_checkpoint

    try:
        with open_checkpoint(path) as checkpoint:
            return describe(checkpoint)["memory"]["needed"]
    except (S2Error, OSError):
        return size
