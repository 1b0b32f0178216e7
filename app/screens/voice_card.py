"""A voice's card: what it is, which model it fits, what the user notes of it, and how it speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2mlx.errors import UsageError
from s2mlx.options import KNOBS

from ..state.voice_notes import KNOBS_OF_A_VOICE, VoiceNote
from ..widgets.voice_list import VoiceRow
from .form import Field, Form
from .model_values import settings_value

if TYPE_CHECKING:
    from ..app import S2App


def open_card(app: S2App, row: VoiceRow) -> None:
    """Ask for notes and settings of a voice; they are kept at once, and hold whenever it is the first speaker."""
    shelf, before = app.voices, app.voices.notes.of(row.name)

    def note(values: dict) -> VoiceNote:
        knobs = {name: KNOBS[name].parse(values[name]) if values[name].strip() else None for name in KNOBS_OF_A_VOICE}
        return VoiceNote(values["notes"].strip(), **knobs)

    def check(values: dict) -> str:
        try:
            note(values)
        except UsageError as fault:
            return str(fault)
        return ""

    def answered(values: dict | None) -> None:
        if values is None or note(values) == before:
            return
        shelf.notes.change(row.name, note(values))
        app.jobs.start("voice notes", lambda job: shelf.notes.save())
        app.main.voices.refresh(row.name)
        app.main.say(f"{row.name}: kept; it speaks so whenever it is the first speaker")

    fields = [Field("notes", "Notes", before.notes, hint="close, warm; for stories")]
    for name in KNOBS_OF_A_VOICE:
        value = getattr(before, name)
        knob = KNOBS[name]
        label = f"{knob.label}: {knob.help}" + (f", {knob.range_words}" if knob.range_words else "")
        fields.append(
            Field(
                name,
                label,
                "" if value is None else str(value),
                hint=f"{settings_value(app, name)}, as in the settings",
            )
        )
    app.push_screen(Form(f"Voice {row.name}", fields, "Keep", check, about=row.about), answered)
