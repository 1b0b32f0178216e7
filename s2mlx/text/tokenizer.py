"""Text to token ids, by the model's own tokenizer.json.

Knows where that file is looked for, and how to keep what a user types apart from the tokens that steer the model.
Knows nothing of prompts: see `prompt`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from ..config import ModelConfig
from ..errors import ModelError, UsageError
from .normalizer import Normalizer
from .tokenizer_file import one_line, parts, read_tokenizer_file

FILE_NAME = "tokenizer.json"
# Tokens without which no prompt can be built. The semantic ones are checked against the config.
REQUIRED = ("<|im_start|>", "<|im_end|>", "<|voice|>", "<|semantic:0|>")


def find_tokenizer(model_path) -> Path:
    """The tokenizer.json of a model file or folder: in or beside it, in the parent of that, in the current folder."""
    model = Path(model_path)
    beside = model if os.path.isdir(model) else model.parent
    # A relative "model.gguf" has "." as its folder, so the parent needs the absolute one. Links are followed second:
    # a Hugging Face cache entry has its companions beside the link, a hand-made link beside the file.
    folders = [beside.absolute(), beside.absolute().parent]
    if model.is_symlink():
        folders += [model.resolve().parent, model.resolve().parent.parent]
    with contextlib.suppress(FileNotFoundError):  # the current folder was deleted
        folders.append(Path.cwd())
    folders = list(dict.fromkeys(folders))
    for folder in folders:
        if os.path.isfile(folder / FILE_NAME):
            return folder / FILE_NAME
    looked = ", ".join(str(f) for f in folders)
    raise ModelError(
        f"no {FILE_NAME} for {model.name}: looked in {looked}; put it beside the model or name it with --tokenizer"
    )


def load_tokenizer(path, config: ModelConfig | None = None) -> Tokenizer:
    """Read a tokenizer.json (or the one in folder `path`); with a config, make sure that the two belong together."""
    path = Path(path)
    if os.path.isdir(path):
        path = path / FILE_NAME
    text, root = read_tokenizer_file(path)
    steps = parts(root, "normalizer")
    # Replacements can make a text longer and longer: those are run by a watchful hand, not within the library.
    watched = any(step["type"] == "Replace" for step in steps)
    if watched:
        text = json.dumps(root | {"normalizer": None})
    from tokenizers import Tokenizer as Backend

    with _faults_of_the_library(path):
        backend = Backend.from_str(text)
        # A file may ask to cut or pad what it encodes; here every token counts.
        backend.no_truncation()
        backend.no_padding()
        # Control tokens are recognised only by `special`. Some files mark a few of them as ordinary added tokens.
        ordinary = [t.content for t in backend.get_added_tokens_decoder().values() if not t.special]
        if ordinary:
            backend.add_special_tokens(ordinary)
        backend.encode_special_tokens = True
        normalize = Normalizer(steps, path) if watched else None
    tokenizer = Tokenizer(backend, path, normalize)
    if config is not None:
        tokenizer.check(config)
    return tokenizer


class Tokenizer:
    """Ids of text, and ids of control tokens by name. Safe to use from any thread."""

    def __init__(self, backend, path: Path, normalize: Callable[[str], str] | None = None):
        """normalize: what the text goes through before the library gets it."""
        self.path, self._normalize = path, normalize
        self._backend = backend
        self._encoded = lru_cache(256)(self._encode)  # a prompt's fixed parts, and its voice's words, come every time
        self._added = {t.content: i for i, t in backend.get_added_tokens_decoder().items()}
        missing = [name for name in REQUIRED if name not in self._added]
        if missing:
            raise ModelError(
                f"{path} is not S2's tokenizer: it lacks {', '.join(missing)}; use the one published with the model"
            )

    @property
    def vocab_size(self) -> int:
        """Number of ids, control tokens included."""
        return self._backend.get_vocab_size(with_added_tokens=True)

    def special(self, name: str) -> int:
        """The id of a control token such as `<|im_end|>` or `<|semantic:7|>`."""
        try:
            return self._added[name]
        except KeyError:
            raise ModelError(f"{self.path} has no token {name}") from None

    def encode(self, text: str) -> list[int]:
        """Ids of text as a user typed it: whatever spells a control token stays plain text.

        The tokenizer normalises to NFC. A lone surrogate, which is what bytes that are no UTF-8 become on a command
        line, is a `UsageError`: nothing can be said for it, and dropping it would change the text.
        """
        return list(self._encoded(text))

    def _encode(self, text: str) -> tuple[int, ...]:
        check_text(text)
        with _faults_of_the_library(self.path):
            if self._normalize is not None:
                text = self._normalize(text)
            return tuple(self._backend.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Iterable[int]) -> str:
        """Text of ids; control tokens by their names. For a broken sequence U+FFFD stands for what is no UTF-8."""
        ids = [int(i) for i in ids]
        for i in ids:
            # `decode` would skip an unknown id without a word
            if i < 0 or self._backend.id_to_token(i) is None:
                raise ValueError(f"{i} is not a token id of {self.path}")
        return self._backend.decode(ids, skip_special_tokens=False)

    def check(self, config: ModelConfig) -> None:
        """Raise `ModelError` unless the model's ids are this tokenizer's."""
        first, last = config.semantic_begin, config.semantic_end
        for offset in range(last - first + 1):
            name = f"<|semantic:{offset}|>"
            if self._added.get(name) != first + offset:
                raise ModelError(
                    f"{self.path} does not belong to this model: {name} is "
                    f"{self._added.get(name, 'absent')} there and {first + offset} in the model; "
                    f"use the {FILE_NAME} published with it"
                )
        beyond = [n for n in REQUIRED if self._added[n] >= config.vocab_size]
        if beyond or self._backend.get_vocab_size(with_added_tokens=False) > config.vocab_size:
            raise ModelError(
                f"{self.path} does not belong to this model: it has ids beyond the model's "
                f"{config.vocab_size}; use the {FILE_NAME} published with it"
            )


@contextlib.contextmanager
def _faults_of_the_library(path: Path) -> Iterator[None]:
    """Whatever a file makes it stumble over as `ModelError`: it raises bare Exception for every fault, and panics,
    which is none, where one of its own rules does not hold."""
    try:
        yield
    except ModelError:
        raise
    except BaseException as fault:
        if not isinstance(fault, Exception) and type(fault).__name__ != "PanicException":
            raise
        raise ModelError(f"{path} is not a tokenizer file that can be used: {one_line(fault)}") from fault


def check_text(text: str) -> None:
    """Raise `UsageError` where text holds a lone surrogate, which no tokenizer and no UTF-8 file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise UsageError(
            f"the text is not valid Unicode at character {fault.start + 1} "
            f"(U+{ord(text[fault.start]):04X}); save it as UTF-8"
        ) from None
