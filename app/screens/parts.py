"""A long text as the list of its parts: made at full pace, heard, said again one by one, put into a file."""

from __future__ import annotations

import secrets

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Label, Static

from s2mlx.results import LENGTH

from .. import figures
from ..jobs import Job
from ..speaking.reading_desk import ReadingDesk, Sounds
from ..state.reading import PartSound, PartTake, Reading
from ..widgets.key_line import KeyLine
from ..widgets.part_table import PartTable, part_row
from ..widgets.progress_line import ProgressLine
from ..widgets.voice_list import OWN
from ..widgets.waveform import Waveform
from .base import HELP_KEYS, AppScreen
from .listening import Listening
from .part_saver import PartSaver

MAKING = "made in the background, also when you leave this screen; m stops, space listens"


class PartsScreen(AppScreen[None]):
    """What is made goes on when the screen is left."""

    CSS_PATH = "parts.tcss"
    BINDINGS = [
        Binding("m", "make", "Make, stop"),
        Binding("space", "listen", "Listen, stop"),
        Binding("l", "listen_through", "Listen on"),
        Binding("n", "anew", "Say it anew"),
        Binding("s", "again", "Same seed", show=False),
        Binding("left", "take(-1)", "Take before", show=False),
        Binding("right", "take(1)", "Other take", key_display="←/→"),
        Binding("e", "export", "Export"),
        Binding("t", "take_text", "Text to editor", show=False),
        Binding("escape", "back", "Stop/back"),
        *HELP_KEYS,
    ]

    def __init__(self, reading: Reading, at: int = 0):
        """at: the part in the hand."""
        super().__init__()
        self.reading = reading
        self.table = PartTable(reading.chapters, at, id="parts")
        self.bar = ProgressLine(id="parts-bar")
        self.wave = Waveform("", id="part-wave")
        self.listening = Listening(self, self.wave, self._heard)
        self._saver = PartSaver(self, self.say)
        self._through = False  # the next one is heard when this one ends
        self._awaited: int | None = None  # the part that is heard as soon as it is there
        self._again: Job | None = None  # a part is said again
        self._again_number = -1
        self._words = [" ".join(reading.words(number).split())[:600] for number in range(len(reading.parts))]
        self._drawn: PartTake | None = None  # whose wave is shown
        self._looks: list[tuple[PartSound | None, str]] = []  # of the rows that are shown

    @property
    def desk(self) -> ReadingDesk:
        return self.app.desk

    @property
    def sounds(self) -> Sounds:
        return self.desk.sounds.get(self.reading.id, {})

    def compose(self) -> ComposeResult:
        yield Label(self._title(), classes="title", markup=False)
        yield self.bar
        yield self.table
        yield Static("", id="part-words", markup=False)
        yield self.wave
        yield Label("", id="said", markup=False)
        yield KeyLine()

    def _title(self) -> str:
        chapters = f" · {len(self.reading.chapters)} chapters" if self.reading.chapters else ""
        return f"Parts of “{self.reading.title}” · {', '.join(self.reading.voices) or OWN}{chapters}"

    def on_mount(self) -> None:
        self.desk.watchers.append(self._changed)
        self.desk.look_into(self.reading, self._changed)
        self.table.focus()
        self.say(self._advice())

    def on_unmount(self) -> None:
        self.desk.watchers.remove(self._changed)
        self.listening.hush()
        if self._again:
            self._again.cancel.set()

    def say(self, text: str) -> None:
        self.query_one("#said", Label).update(text)

    def _advice(self) -> str:
        if self.desk.is_made(self.reading):
            return "all of it is there: e exports it, l listens on from here, n says a part anew"
        if self.desk.is_going(self.reading):
            return MAKING
        return "m makes what is missing, at full pace and unheard; space makes and hears the one here"

    # what is shown

    def _changed(self) -> None:
        self.reading = self.desk.now(self.reading)
        self._show_rows()
        self._show_progress()
        self._show_part()
        if self._awaited is not None and self._awaited in self.sounds:
            number, self._awaited = self._awaited, None
            self.table.take(number)
            self._listen()
        self.refresh_bindings()

    def _show_rows(self) -> None:
        """Those that look otherwise than they did: a book has thousands, and a key waits meanwhile."""
        maker, sounds = self.desk.maker_of(self.reading), self.sounds
        again = self._again_number if self._again else None
        looks = [(sounds.get(number), "") for number in range(len(self.reading.parts))]
        if maker and maker.part is not None and looks[maker.part][0] is None:
            looks[maker.part] = None, "made"
        if again is not None:
            looks[again] = sounds.get(again), "again"
        if not self._looks:
            self.table.show([self._row(number, *look) for number, look in enumerate(looks)])
        for number, (before, now) in enumerate(zip(self._looks, looks)):
            if before[0] is not now[0] or before[1] != now[1]:
                self.table.change(number, self._row(number, *now))
        self._looks = looks

    def _row(self, number: int, sound: PartSound | None, doing: str) -> Content:
        words = self._words[number][:200]
        if doing == "again":
            sign, style = "◌", "$speaking"
        elif sound and sound.take:
            sign, style = ("!", "$failed") if sound.take.reason == LENGTH else ("✓", "$done")
        elif doing == "made":
            sign, style = "▶", "$speaking"
        else:
            sign, style = "·", "$faint"
        takes = f"{sound.at + 1}/{len(sound.takes)}" if sound and len(sound.takes) > 1 else ""
        return part_row(number, sign, style, sound.take.seconds if sound and sound.take else None, takes, words)

    def _show_progress(self) -> None:
        desk, reading = self.desk, self.reading
        count, there = len(reading.parts), len(self.sounds)
        found = desk.estimate(reading)
        if there >= count:
            self.bar.show(1.0, f"{count} of {count} parts · {figures.clock(found.whole)} of sound")
            return
        share = found.made / found.whole if found.whole else 0.0
        so_far, whole = figures.clock(found.made), figures.clock(found.whole)
        words = f"{there} of {count} parts · {share:.0%} · {so_far} of about {whole}"
        maker = desk.maker_of(reading)
        if maker is None:
            state = "waits for its turn" if desk.is_going(reading) else reading.trouble or "stopped"
        elif maker.waits:
            state = "steps aside for what you asked for"
        else:
            state = "making" if found.left is None else f"{figures.clock(found.left)} left"
        self.bar.show(share, f"{state} · {words}", "$speaking" if maker else "$paused")

    def _show_part(self) -> None:
        number = self.table.at
        sound = self.sounds.get(number)
        take = sound.take if sound else None
        head = f"part {number + 1} of {len(self.reading.parts)}"
        if sound and take:
            head += f" · seed {take.seed}"
            if len(sound.takes) > 1:
                head += f" · take {sound.at + 1} of {len(sound.takes)}"
            if take.reason == LENGTH:
                head += " · cut by the limit of frames: n says it anew"
        else:
            head += f" · seed {self.reading.seed + number} · not made yet"
        self.query_one("#part-words", Static).update(Content.assemble((head, "$faint"), "\n", self._words[number]))
        if take is not self._drawn:
            self._drawn = take
            self._show_wave(take)

    def _show_wave(self, take: PartTake | None) -> None:
        if take is None:
            self.wave.clear()
            return

        def show(samples) -> None:
            if take is self._drawn:
                self.wave.show(samples, self.reading.rate)

        readings = self.desk.readings
        self.app.jobs.start("wave", lambda job: readings.samples(self.reading, take), owner=self, done=show)

    # hearing

    @on(PartTable.PartChosen)
    def _part_chosen(self, event: PartTable.PartChosen) -> None:
        heard = self.listening.replay is not None
        self._show_part()
        self.refresh_bindings()
        if heard and self.table.at in self.sounds:
            self._listen()
        elif heard:  # to look at a part makes none
            self.listening.hush()

    @on(PartTable.PartEntered)
    def _part_entered(self) -> None:
        self._listen()

    @on(Waveform.Sought)
    def _sought(self, event: Waveform.Sought) -> None:
        self._listen(event.seconds)

    def _listen(self, begin: float = 0.0) -> None:
        """The one in the hand; one that is not there is made first."""
        number, self._awaited = self.table.at, None
        sound = self.sounds.get(number)
        self.listening.hush()
        if sound is None or sound.take is None:
            if not self.desk.is_making(self.reading):
                self._say_again(self.reading.seed + number)
            else:
                self._awaited = number
                self.say(f"part {number + 1} is heard as soon as it is there  (esc: not)")
            return
        take, reading, readings = sound.take, self.reading, self.desk.readings

        def play(samples) -> None:
            if self.table.at == number:
                self.wave.show(samples, reading.rate)
                self.listening.play(samples, reading.rate, begin)

        self.app.jobs.start("read part", lambda job: readings.samples(reading, take), owner=self, done=play)

    def _heard(self, error: BaseException | None) -> None:
        following = self.table.at + 1
        if error:
            self._through = False
            self.say(self.app.explain(error))
        elif self._through and following < len(self.reading.parts):
            self.table.take(following)
            self._show_part()
            self._listen()
        else:
            self._through = False

    # what the user asks for

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        sound = self.sounds.get(self.table.at)
        if action == "take":
            return sound is not None and len(sound.takes) > 1
        return bool(self.sounds) if action == "export" else True

    def why_not(self, action: str, parameters: tuple) -> str:
        if action == "take":
            return "there is no other take of this part: n says it anew"
        return "nothing to export yet: m makes the parts"

    def action_make(self) -> None:
        if self.desk.is_made(self.reading):
            self.say(self._advice())
        elif self.desk.is_going(self.reading):
            self._awaited = None
            self.desk.stop(self.reading)
            self.say("stopped: what is there stays; m goes on")
        else:
            self.desk.make(self.reading)
            self.say(MAKING)

    def action_listen(self) -> None:
        self._through = False
        if not self.listening.hush():
            self._listen()

    def action_listen_through(self) -> None:
        self._through = True
        if not self.desk.is_made(self.reading) and not self.desk.is_going(self.reading):
            self.desk.make(self.reading)
        self._listen()

    def action_anew(self) -> None:
        """With another seed, into the whole."""
        self._say_again(secrets.randbits(32))

    def action_again(self) -> None:
        sound = self.sounds.get(self.table.at)
        self._say_again(sound.take.seed if sound and sound.take else self.reading.seed + self.table.at)

    def _say_again(self, seed: int) -> None:
        if self._again:
            self.say(f"part {self._again_number + 1} is being said still  (esc stops)")
            return
        self.listening.hush()
        number = self._again_number = self.table.at
        before = self.sounds.get(number)

        def then(trouble: str) -> None:
            self._again = None
            if not self.is_attached:
                return
            kept = "" if before is None else "; ← brings back the take before"
            self.say(trouble or f"part {number + 1} is in the whole, with seed {seed}{kept}")
            self._changed()
            if self.table.at == number and not trouble:
                self._listen()

        def told(how_far: str = "") -> None:
            if self.is_attached and self._again:
                self.say(f"saying part {number + 1} with seed {seed}{how_far and ': '}{how_far}  (esc stops)")

        self._again = self.desk.again(self.reading, number, seed, told, then)
        told()
        self._changed()

    def action_take(self, by: int) -> None:
        self.listening.hush()
        if self.desk.choose(self.reading, self.table.at, by):
            self._listen()

    def action_export(self) -> None:
        self._saver.save(self.reading, self.sounds)

    def action_take_text(self) -> None:
        """The text in place of the one in the editor, which undo brings back."""
        self.app.main.editor.put(self.reading.given or self.reading.text)
        self.app.main.say("the text is in the editor; ctrl+z brings back the one that was there")
        self.dismiss(None)

    def action_back(self) -> None:
        heard, self._through = self.listening.hush(), False
        if self._again:
            self._again.cancel.set()
        elif self._saver.cancel():
            self.say("cancelled")
        elif self._awaited is not None:
            self._awaited = None
            self.say(self._advice())
        elif not heard:
            self.dismiss(None)
