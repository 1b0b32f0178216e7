"""The buttons of the recording screen: which make sense at a stage, and which are lit."""

from __future__ import annotations

from .review import Stage

BUTTONS = (
    ("record", "● Record", "^r"),
    ("stop", "■ Stop", "esc"),
    ("listen", "▶ Listen", "^b"),
    ("save", "▼ Save voice", "^s"),
    ("back", "Back", "esc"),
)

ALLOWED = {
    Stage.IDLE: ("record", "back"),
    Stage.COUNTING: ("stop",),
    Stage.RECORDING: ("stop",),
    Stage.KEEPING: (),
    Stage.CHECKING: ("back",),
    Stage.REVIEW: ("record", "listen", "save", "back"),
    Stage.CLONING: ("stop",),
}


REFUSED = {
    Stage.IDLE: "nothing is recorded yet: space starts it",
    Stage.COUNTING: "the recording is about to begin: esc stops it",
    Stage.RECORDING: "the recording goes on: space ends it",
    Stage.KEEPING: "the take is being kept",
    Stage.CHECKING: "the take is being looked at",
    Stage.REVIEW: "the words are those of the take: ^r records another",
    Stage.CLONING: "the voice is being made: esc stops that",
}


def why_not(action: str, what: str, stage: Stage, takes: int) -> str:
    """Why a key is refused at a stage; `what`: is to be done with one of so many takes."""
    if action != "takes" or stage not in (Stage.IDLE, Stage.REVIEW):
        return REFUSED[stage]
    if what == "bring_back":
        return "no take was deleted: there is nothing to bring back"
    return "there is no other take: ^r records one" if takes else REFUSED[Stage.IDLE]


def lit(stage: Stage, heard: bool) -> dict[str, str]:
    """Which buttons say what goes on; `heard`: the take is."""
    if stage in (Stage.COUNTING, Stage.RECORDING):
        return {"record": "recording"}
    return {"listen": "speaking"} if heard else {}
