"""A language model that writes what a test has told it, under the same constraints as a real one."""

from types import SimpleNamespace

import mlx.core as mx
import numpy as np

from s2mlx.language.model import Written

END = 0
LETTERS = {bytes([byte]): [byte + 1] for byte in range(256)}  # a token for each byte


class ScriptedModel:
    """Answers with the texts of `answers` in turn, a letter at a time. Where a constraint forbids the next letter, it
    takes the lowest that is allowed and goes on with its script."""

    tokens, ends = LETTERS, [END]

    def __init__(self, *answers):
        self.answers, self.asked, self.closed = list(answers), [], 0

    def opens_thought(self, messages):
        return False

    def write(self, messages, *, max_tokens, constraint=None, keep_going=lambda: True, **how):
        self.asked.append(SimpleNamespace(messages=list(messages), max_tokens=max_tokens, **how))
        script = self.answers.pop(0)
        if constraint is None:
            for i, letter in enumerate(script):
                if not keep_going():
                    return
                yield Written(letter, "length" if i + 1 == max_tokens else None)
                if i + 1 == max_tokens:
                    return
            yield Written("", "stop")
            return
        wanted, seen = list(script.encode()), [7, 7, 7]
        for _ in range(max_tokens):
            logits = constraint(mx.array(seen), mx.zeros((1, 257)))
            allowed = set(np.flatnonzero(np.isfinite(np.array(logits[0]))).tolist())
            token = wanted[0] + 1 if wanted and wanted[0] + 1 in allowed else min(allowed)
            if wanted and token == wanted[0] + 1:
                wanted.pop(0)
            seen.append(token)
            if token == END:
                yield Written("", "stop")
                return
            yield Written("?", None)
