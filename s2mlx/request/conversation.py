"""What a request has said so far and in whose voices: the prompt of each pass, as long as the context has room."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks.generate import check_room
from ..networks.load import Model
from ..options import Options
from ..text.marks import SPEAKER_TAG, without_tags
from ..text.pace import most_frames
from ..voices.voice import Voice
from .passes import PlannedPass
from .prompt import Prompt, Turn, build_prompt


class Conversation:
    """voices: the references of speakers 0, 1, ...; history: the turns of a dialogue so far, oldest first."""

    def __init__(self, model: Model, voices: list[Voice], options: Options):
        self.voices, self.history, self.borrowed = voices, list[Turn](), False
        self._model, self._config, self._options = model, model.config, options

    def prompt(self, planned: PlannedPass) -> tuple[Prompt, int]:
        """The prompt with as much history as leaves half of the context and the frames asked for, and the frame limit.

        What does not fit is forgotten for good: a long dialogue would otherwise be tokenized again and again."""
        context, text, voices = self._config.context_length, planned.text, self.voices
        if not self._config.tags:
            text = without_tags(text)
        if not self._config.dialogue:
            speaker = planned.speaker or 0
            text, voices = SPEAKER_TAG.sub("", text).strip(), voices[speaker : speaker + 1]
        most = self._options.max_frames
        room = min(context // 2, context - (most or 0))
        while True:
            prompt = build_prompt(self._model.tokenizer, self._config, text, voices, self.history)
            if not self.history or len(prompt) <= room:
                if planned.index and most is not None:  # what fitted the first pass is cut to fit a longer prompt
                    most = max(1, min(most, context - len(prompt)))
                limit = check_room(len(prompt), most, context)
                return prompt, limit if most is not None else min(limit, self._by_length(text))
            self.history.pop(0)

    def _by_length(self, text: str) -> int:
        """The frames after which a model that does not end has run away from its words."""
        codec = self._model.codec_config
        return max(most_frames(text, codec.frame_samples / codec.sample_rate), self._options.min_frames)

    def remember(self, text: str, codes: np.ndarray) -> None:
        """A turn of a dialogue that was spoken: codes int32 [num_codebooks, frames]."""
        self.history.append(Turn(text, codes))

    def borrow_voice(self, text: str, codes: np.ndarray, passes: list[PlannedPass]) -> None:
        """Speak `passes` in the voice of what was said, if that leaves half of the context to each of them."""
        if (voice := voice_of(self._model, text, codes, passes)) is not None:
            self.voices, self.borrowed = [voice], True

    def references(self) -> dict[str, Any] | None:
        """What is told of the references where they are kept for later; None for a voice that only this request has."""
        if self.borrowed or not self.voices:
            return None
        return {"model": self._config.name, "voices": [voice.name or "a clip" for voice in self.voices]}


def voice_of(model: Model, text: str, codes: np.ndarray, passes: list[PlannedPass]) -> Voice | None:
    """What was said as a reference for `passes`; None if that leaves less than half of the context to one of them."""
    voice = Voice(codes, text, model.codec_config.sample_rate, model.config.codebook_size)
    longest = max(passes, key=lambda p: len(p.text))
    prompt = build_prompt(model.tokenizer, model.config, longest.text, [voice])
    return voice if len(prompt) <= model.config.context_length // 2 else None
