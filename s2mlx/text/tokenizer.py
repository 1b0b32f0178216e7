"""Text to token ids, by the model's own tokenizer.json.

Knows where that file is looked for, and how to keep what a user types apart from the tokens that steer the model.
Knows nothing of prompts: see `prompt`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ..config import ModelConfig
from ..errors import ModelError, UsageError

FILE_NAME = "tokenizer.json"
# Tokens without which no prompt can be built. The semantic ones are checked against the config.
REQUIRED = ("<|im_start|>", "<|im_end|>", "<|voice|>", "<|semantic:0|>")
# S2 Pro's has 6 MB and 155,774 ids
_LARGEST_FILE = 64 << 20
_MOST_IDS = 1 << 24


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
    text = _read(path)
    _check_structure(text, path)
    from tokenizers import Tokenizer as Backend

    try:
        backend = Backend.from_str(text)
        # A file may ask to cut or pad what it encodes; here every token counts.
        backend.no_truncation()
        backend.no_padding()
        # Control tokens are recognised only by `special`. Some files mark a few of them as ordinary added tokens.
        ordinary = [t.content for t in backend.get_added_tokens_decoder().values() if not t.special]
        if ordinary:
            backend.add_special_tokens(ordinary)
        backend.encode_special_tokens = True
    except Exception as fault:  # the library raises bare Exception for every fault in the file
        raise ModelError(f"{path} is not a tokenizer file that can be used: {_one_line(fault)}") from fault
    tokenizer = Tokenizer(backend, path)
    if config is not None:
        tokenizer.check(config)
    return tokenizer


class Tokenizer:
    """Ids of text, and ids of control tokens by name. Safe to use from any thread."""

    def __init__(self, backend, path: Path):
        self.path = path
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


def check_text(text: str) -> None:
    """Raise `UsageError` where text holds a lone surrogate, which no tokenizer and no UTF-8 file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise UsageError(
            f"the text is not valid Unicode at character {fault.start + 1} "
            f"(U+{ord(text[fault.start]):04X}); save it as UTF-8"
        ) from None


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            raise ModelError(f"no tokenizer at {path}")
        size = path.stat().st_size
        if size > _LARGEST_FILE:
            raise ModelError(f"{path} has {size >> 20} MB, too much for a tokenizer ({_LARGEST_FILE >> 20} MB at most)")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as fault:
        raise ModelError(f"{path} is not a tokenizer file: not UTF-8 at byte {fault.start}") from None
    except OSError as fault:
        raise ModelError(f"cannot read {path}: {fault.strerror or fault}") from fault


def _check_structure(text: str, path: Path) -> None:
    """Raise `ModelError` unless this is a byte-level BPE of sane proportions.

    The library aborts the whole process on some faults (a subword prefix that cuts a character, for one), so what S2's
    tokenizer never has is refused before the library sees it.
    """

    def need(ok, what):
        if not ok:
            raise ModelError(f"{path} is not a tokenizer file that can be used: {what}")

    try:
        root = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ModelError(f"{path} is not a tokenizer file: {_one_line(fault)}") from None
    model = root.get("model") if isinstance(root, dict) else None
    need(isinstance(model, dict), "it has no model")
    need(model.get("type", "BPE") == "BPE", "its model is not BPE")
    for key in ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"):
        need(model.get(key) in (None, ""), f"S2's tokenizer has no {key}")
    vocab, merges = model.get("vocab"), model.get("merges")
    need(isinstance(vocab, dict) and vocab and isinstance(merges, list), "it has no vocabulary")
    need(all(type(i) is int and 0 <= i < _MOST_IDS for i in vocab.values()), f"an id is not a number below {_MOST_IDS}")
    added = root.get("added_tokens")
    need(isinstance(added, list) and all(isinstance(t, dict) for t in added), "it has no added tokens")
    need(
        all(type(t.get("id")) is int and 0 <= t["id"] < _MOST_IDS and t.get("content") for t in added),
        f"an added token has no content or no id below {_MOST_IDS}",
    )


def _one_line(fault: Exception) -> str:
    return " ".join(str(fault).split())[:200]
