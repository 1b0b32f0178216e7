"""What the main screen is doing, as values with their data. The status line's words are made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from s2mlx.text import visible

from ..widgets.status_line import Mood

GO_ON = "  esc cancels"


@dataclass(frozen=True)
class Idle:
    """Nothing is under way. `demo`: the model is the small one that comes along."""

    demo: bool = False


@dataclass(frozen=True)
class Loading:
    """The model is being loaded; `fraction` of it is there. `then_speaks`: the text is waiting for it."""

    model: str | None
    fraction: float | None = None
    then_speaks: bool = False


@dataclass(frozen=True)
class LoadFailed:
    why: str


@dataclass(frozen=True)
class Working:
    """Something with a voice: encoding, renaming, importing, ..."""

    what: str


@dataclass(frozen=True)
class Starting:
    """The engine works, and there is no sound yet. `what`: a step that comes before it, such as fitting a voice."""

    what: str = ""


@dataclass(frozen=True)
class PassNumber:
    """Which pass of a text is being made, from 0 on."""

    index: int = 0
    count: int = 1


@dataclass(frozen=True)
class Speaking:
    """`slow`: the pace, where it is slower than real time; `held`: nothing is heard yet for that reason; `smallest`:
    there is no smaller model."""

    part: PassNumber = PassNumber()
    slow: float | None = None
    held: bool = False
    smallest: bool = False


@dataclass(frozen=True)
class MakingUnheard:
    """No loudspeaker; the speech is made all the same."""

    why: str
    part: PassNumber = PassNumber()


@dataclass(frozen=True)
class Replaying:
    """Sound that exists is heard: the last utterance, or the clip of a voice."""

    clip_of: str | None = None


@dataclass(frozen=True)
class Paused:
    """The sound is held where it is."""


@dataclass(frozen=True)
class AwaitingText:
    """All that was written was heard; the next sentence is being typed."""


@dataclass(frozen=True)
class MadeUnheard:
    """The speech is there, and nobody has heard it."""

    why: str


Sounding = Starting | Speaking | MakingUnheard | Replaying | Paused | AwaitingText
Activity = Idle | Loading | LoadFailed | Working | Sounding | MadeUnheard


def words(activity: Activity) -> str:
    """The activity as the status line says it."""
    match activity:
        case Idle(demo):
            return "ready, with the small demo model: F8 chooses another" if demo else "ready"
        case Loading(model, fraction, then_speaks):
            share = "" if fraction is None else f" {fraction:.0%}"
            then = "speaks as soon as it is loaded" if then_speaks else "esc cancels"
            return f"loading {visible(model) if model else 'the model'}{share}: {then}"
        case LoadFailed(why):
            return f"no model (F8 chooses another, ^g has settings): {why}"
        case Working(what):
            return what + GO_ON
        case Starting(what):
            return what + GO_ON if what else "speaking: waiting for the first sound"
        case Speaking(part, slow, held, smallest):
            begin = "collecting sound first" if held else "speaking"
            advice = "" if held or smallest else ", a smaller model helps"
            return f"{begin}{_part(part)}" + (f": slower than real time ({slow:.1f}x){advice}" if slow else "")
        case MakingUnheard(why, part):
            return f"making it, unheard{_part(part)} (^o saves it): {why}"
        case Replaying(clip_of):
            return f"listening to the clip of {clip_of}" if clip_of else "replaying"
        case Paused():
            return "paused: F2 goes on, esc stops"
        case AwaitingText():
            return "speaks each sentence when it is finished: esc ends that"
        case MadeUnheard(why):
            return f"made, unheard (^o saves it): {why}"
        case _:
            assert_never(activity)


def mood(activity: Activity) -> Mood:
    """The colour that the activity has on the screen."""
    match activity:
        case Speaking(held=True):
            return "working"
        case Speaking() | Replaying():
            return "speaking"
        case Paused():
            return "paused"
        case LoadFailed() | MakingUnheard() | MadeUnheard():
            return "failed"
        case Idle():
            return ""
        case _:
            return "working"


def _part(part: PassNumber) -> str:
    return f", part {part.index + 1} of {part.count}" if part.count > 1 else ""


class Situation:
    """The activity and the last remark. `draw(line, mood)` shows whichever came later."""

    def __init__(self, draw: Callable[[str, Mood], None]):
        self._draw = draw
        self.activity: Activity = Idle()
        self.remark: str | None = None

    def enter(self, activity: Activity) -> None:
        """Something begins, goes on or ends."""
        self.activity, self.remark = activity, None
        self._draw(words(activity), mood(activity))

    def say(self, remark: str, mood: Mood = "") -> None:
        """A word that stays until something happens."""
        self.remark = remark
        self._draw(remark, mood)

    def sound_ended(self, then: Idle | MadeUnheard) -> None:
        """A remark made meanwhile stays, and so does what began meanwhile, such as the loading of a model."""
        if isinstance(self.activity, Sounding):
            self.activity = then
            if self.remark is None:
                self._draw(words(then), mood(then))
