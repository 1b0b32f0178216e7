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


def lit(stage: Stage, heard: bool) -> dict[str, str]:
    """Which buttons say what goes on; `heard`: the take is."""
    if stage in (Stage.COUNTING, Stage.RECORDING):
        return {"record": "recording"}
    return {"listen": "speaking"} if heard else {}
