"""A language model of mlx-lm, loaded: from messages to text, piece by piece. Lives on one thread, as MLX's streams
do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import GenerationError, ModelError, S2Error
from .constraint import LogitsProcessor
from .vocabulary import token_bytes

Message = dict[str, str]  # {"role": "system" | "user" | "assistant", "content": ...}, as chat templates take them
_TOP_P = 0.9


class Written(NamedTuple):
    """A piece of the answer. finish_reason: "stop" or "length" with the last one."""

    text: str
    finish_reason: str | None


class _NoLongerWanted(Exception):
    pass


class LanguageModel:
    """Loads the folder. What one answer has left in the cache is not computed again where the next one begins alike.
    Raises `ModelError`."""

    def __init__(self, path: Path):
        from mlx_lm import load
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            loaded: Any = load(str(path), return_config=True)
        except Exception as fault:  # a file from elsewhere, read by a library that promises no kind of error
            said = " ".join(str(fault).split()) or type(fault).__name__
            raise ModelError(f"mlx-lm cannot load the language model {path}: {said:.300}") from fault
        self._model: Any = loaded[0]
        self.tokenizer: Any = loaded[1]
        config = loaded[2]
        self._context = int(config.get("max_position_embeddings") or 0) or math.inf
        self._tokens: dict[bytes, list[int]] | None = None
        self._seen: list[int] = []  # the ids that the cache holds
        self._cache: list[Any] | None = None

    @property
    def tokens(self) -> dict[bytes, list[int]]:
        """What each token writes -> its ids."""
        if self._tokens is None:
            self._tokens = token_bytes(self.tokenizer)
        return self._tokens

    @property
    def ends(self) -> list[int]:
        """The ids that end an answer."""
        return sorted(self.tokenizer.eos_token_ids)

    def opens_thought(self, messages: Sequence[Message]) -> bool:
        """Whether the prompt itself begins what the model thinks before it answers."""
        start = self.tokenizer.think_start
        return bool(start) and self.tokenizer.decode(self._ids(messages)[-8:]).rstrip().endswith(start)

    def write(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int | None = None,
        constraint: LogitsProcessor | None = None,
        keep_going: Callable[[], bool] = lambda: True,
    ) -> Iterator[Written]:
        """The answer to the last message. temperature 0 takes the likeliest token each time. Ends where `keep_going`
        says no. Raises `GenerationError` for messages that the model's context has no room for."""
        import mlx.core as mx
        from mlx_lm import stream_generate
        from mlx_lm.sample_utils import make_sampler

        prompt = self._prompt(messages, max_tokens)
        if seed is not None:
            mx.random.seed(seed)
        new = prompt[self._rewind(prompt) :]

        def wanted(*_: int) -> None:
            if not keep_going():
                raise _NoLongerWanted

        try:
            for part in stream_generate(
                self._model,
                self.tokenizer,
                new,
                max_tokens=max_tokens,
                prompt_cache=self._cache,
                sampler=make_sampler(temperature, _TOP_P),
                logits_processors=[constraint] if constraint else None,
                prompt_progress_callback=wanted,
            ):
                self._seen.append(int(part.token))
                yield Written(part.text, part.finish_reason)
                if not keep_going():
                    return
        except _NoLongerWanted:
            self._cache = None
        except S2Error:
            raise
        except (ValueError, IndexError, KeyError, TypeError) as fault:  # of a model that mlx-lm half knows
            self._cache = None
            raise GenerationError(f"the language model failed: {fault}") from fault

    def _prompt(self, messages: Sequence[Message], max_tokens: int) -> list[int]:
        """The ids of the messages, without the oldest ones where there is no room for all of them."""
        kept = list(messages)
        while len(ids := self._ids(kept)) + max_tokens > self._context:
            first = next((i for i, each in enumerate(kept[:-1]) if each["role"] != "system"), None)
            if first is None:
                raise GenerationError(
                    f"{len(ids)} tokens and an answer of {max_tokens} do not fit into the language model's context of "
                    f"{self._context}: ask for less, or fewer --max-tokens"
                )
            del kept[first : first + 2]  # what was asked, and the answer
        return ids

    def _ids(self, messages: Sequence[Message]) -> list[int]:
        if not self.tokenizer.has_chat_template:
            lines = [f"{each['role'].capitalize()}: {each['content']}\n" for each in messages]
            return list(self.tokenizer.encode("\n".join([*lines, "Assistant:"])))
        try:
            return self._by_template(messages)
        except Exception as fault:  # a template says by any error that it knows no system message
            if messages[0]["role"] != "system" or len(messages) < 2:
                raise ModelError(f"the language model's chat template fails: {fault}") from fault
        first, second, *rest = messages
        return self._by_template([{**second, "content": f"{first['content']}\n\n{second['content']}"}, *rest])

    def _by_template(self, messages: Sequence[Message]) -> list[int]:
        told = list(messages)
        return list(self.tokenizer.apply_chat_template(told, add_generation_prompt=True, enable_thinking=False))

    def _rewind(self, prompt: list[int]) -> int:
        """Make the cache one that holds the beginning of the prompt; how many of its ids."""
        from mlx_lm.models.cache import can_trim_prompt_cache, make_prompt_cache, trim_prompt_cache

        same = 0
        while same < min(len(self._seen), len(prompt) - 1) and self._seen[same] == prompt[same]:
            same += 1
        surplus = len(self._seen) - same
        cache = self._cache
        if cache is None or (
            surplus and not (can_trim_prompt_cache(cache) and trim_prompt_cache(cache, surplus) == surplus)
        ):
            self._cache, same = make_prompt_cache(self._model), 0
        self._seen = list(prompt)
        return same
