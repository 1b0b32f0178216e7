"""Several takes of a voice: side by side, compared, the best kept, trimmed, deleted and brought back; and a crash."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from s2mlx_app.app import S2App
from s2mlx_app.engine.levels import Levels, matched, peak_db
from s2mlx_app.engine.local import LocalStudio
from s2mlx_app.recording.take_facts import TakeFacts
from s2mlx_app.recording.takes import Takes
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.review import Stage
from s2mlx_app.state.session import Session
from s2mlx_app.state.take_file import UnsavedTake
from s2mlx_app.widgets.take_table import TakeTable, line

from .conftest import running, until
from .fakes import RATE, FakeStudio, hum
from .test_recording import label

SOUNDS = hum(8.0, 0.5), hum(7.0, 0.05), hum(6.0, 0.3)


def some_takes(count=3):
    return [UnsavedTake(sound, RATE, f"Words {n}.", "me") for n, sound in enumerate(SOUNDS[:count], 1)]


async def sitting(app, pilot, takes=None):
    """The recording screen with kept takes, the last or best one in the hand."""
    takes = [app.session.keep_anew(take) for take in (some_takes() if takes is None else takes)]
    app.push_screen(RecordScreen(recovered=takes))
    await until(pilot, lambda: getattr(app.screen, "stage", None) is Stage.REVIEW and not app.jobs.running)
    return app.screen


async def settled(app, pilot):
    await until(pilot, lambda: app.screen.stage is Stage.REVIEW and not app.jobs.running)


def rows(app):
    found = app.screen.query_one(TakeTable)
    return [str(found.get_option_at_index(n).prompt) for n in range(found.option_count)]


async def test_takes_stand_side_by_side_with_length_level_and_verdict(make_app, studio):
    bad = SimpleNamespace(ok=False, usable=True, problems=("too quiet", "noisy"))
    good = SimpleNamespace(ok=True, usable=True, problems=())
    studio.judge_take = lambda samples, rate: bad if abs(samples).max() < 0.1 else good
    app = make_app()
    async with running(app) as pilot:
        await sitting(app, pilot)
        first, second, third = rows(app)
        assert first.split() == ["1", "7.7", "s", "-9", "dB", "✓", "good"]
        assert "6.7 s" in second and second.rstrip().endswith("! too quiet; noisy")
        assert third.split()[0] == "3" and app.screen.takes.at == 2
        app.screen.take_table.focus()
        await pilot.press("up")
        await settled(app, pilot)
        assert app.screen.takes.at == 1 and app.screen.card.words == "Words 2."
        assert "too quiet; noisy" in label(app, "#verdict")


async def test_one_take_has_no_list(make_app):
    app = make_app()
    async with running(app) as pilot:
        screen = await sitting(app, pilot, some_takes(1))
        assert not screen.take_table.display
        assert screen.check_action("takes", ("compare",)) is False and screen.check_action("takes", ("throw_away",))


async def test_x_hears_the_other_take_from_the_same_place_and_as_loud(make_app, studio):
    studio.loudspeakers.speed = 0
    app = make_app()
    async with running(app) as pilot:
        screen = await sitting(app, pilot, some_takes(2))  # the second is softer by 20 dB, and in the hand
        await pilot.press("space")
        await until(pilot, lambda: studio.players and studio.players[0].queued)
        studio.players[0].position = 3.35  # half of what is kept of it
        await pilot.press("x")
        await until(pilot, lambda: len(studio.players) == 2 and studio.players[1].queued)
        assert screen.takes.at == 0 and screen.card.words == "Words 1."
        heard = screen.review.replay
        assert heard.begin == pytest.approx(0.2 + 7.7 / 2, abs=0.01)
        kept = screen.review.kept()
        assert np.abs(heard.samples).max() == pytest.approx(np.abs(kept).max() / 10, rel=0.01)
        await pilot.press("x")
        await until(pilot, lambda: len(studio.players) == 3 and studio.players[2].queued)
        assert screen.takes.at == 1 and np.abs(screen.review.replay.samples).max() == pytest.approx(0.05, rel=0.02)
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)
        assert screen.review.replay is None


async def test_the_best_is_kept_and_comes_first_the_next_time(make_app):
    app = make_app()
    async with running(app) as pilot:
        await sitting(app, pilot)
        await pilot.press("pageup", "b")
        await until(pilot, lambda: rows(app)[1].startswith("★") and not app.jobs.running)
        await until(pilot, lambda: [take.best for take in app.session.unsaved_takes()] == [False, True, False])
        await pilot.press("pageup", "b")  # one is the best
        await until(pilot, lambda: [take.best for take in app.session.unsaved_takes()] == [True, False, False])
        await pilot.press("escape")
        await pilot.click("#answer-keep")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and not app.jobs.running)
        await pilot.press("ctrl+r", "enter")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.stage is Stage.REVIEW)
        assert app.screen.takes.at == 0


async def test_each_take_keeps_its_cut_its_words_and_the_disk_knows(make_app):
    app = make_app()
    async with running(app) as pilot:
        screen = await sitting(app, pilot)
        await pilot.press("right", "right")
        screen.card.put("Other words.")
        await pilot.press("pageup")
        await settled(app, pilot)
        assert screen.trimmer.begin == pytest.approx(0.2)
        await pilot.press("pagedown")
        await settled(app, pilot)
        assert screen.trimmer.begin == pytest.approx(0.3) and screen.card.words == "Other words."

        def kept():
            return app.session.unsaved_takes()[2]

        await until(pilot, lambda: kept().begin == pytest.approx(0.3) and kept().transcript == "Other words.")
        assert len(screen.review.kept()) == int(kept().end * RATE) - int(kept().begin * RATE)


async def test_a_take_that_was_deleted_comes_back(make_app):
    app = make_app()
    async with running(app) as pilot:
        screen = await sitting(app, pilot)
        await pilot.press("pageup", "delete")
        await until(pilot, lambda: len(screen.takes) == 2 and screen.desk.can_undo and not app.jobs.running)
        assert [take.transcript for take in app.session.unsaved_takes()] == ["Words 1.", "Words 3."]
        await pilot.press("d", "d")
        await until(pilot, lambda: not screen.takes and screen.stage is Stage.IDLE and not app.jobs.running)
        assert screen.review.take is None and not screen.trimmer.envelope.samples
        await pilot.press("u")
        await until(pilot, lambda: len(screen.takes) == 1 and not app.jobs.running)
        await pilot.press("u", "u")
        await until(pilot, lambda: len(screen.takes) >= 2 and not app.jobs.running)
        if screen.desk.can_undo:  # the second u came while the first was at work
            await pilot.press("u")
        await until(pilot, lambda: len(screen.takes) == 3 and not screen.desk.can_undo)
        assert {take.transcript for take in app.session.unsaved_takes()} == {"Words 1.", "Words 2.", "Words 3."}


async def test_live_makes_a_voice_of_a_new_take_only(make_app, studio):
    studio.problems = ("too quiet",)
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.stage is Stage.RECORDING)
        studio.recorders[0].hear(6)
        await pilot.press("space")
        await settled(app, pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.screen.stage is Stage.RECORDING)
        studio.recorders[1].hear(6)
        await pilot.press("space")
        await settled(app, pilot)
        studio.problems = ()
        await pilot.press("delete")
        await settled(app, pilot)
        await pilot.press("u")
        await settled(app, pilot)
        assert isinstance(app.screen, RecordScreen) and not studio.engine.calls


# --- trimming --------------------------------------------------------------------------------------------------------


async def test_zoom_keeps_the_handle_in_sight_and_its_steps_are_finer(make_app):
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        screen = await sitting(app, pilot, some_takes(1))
        trimmer = screen.trimmer
        assert (trimmer.first, trimmer.span) == (0.0, 8.0)
        await pilot.press("]", "+", "+")
        assert trimmer.span == 2.0 and trimmer.first == 6.0
        before = trimmer.end
        await pilot.press("left")
        assert before - trimmer.end == pytest.approx(0.025)
        await pilot.press("[")
        assert trimmer.first == 0.0
        await pilot.press("+", "+", "+")
        assert trimmer.span == pytest.approx(1.0)
        await pilot.press("home")
        assert (trimmer.first, trimmer.span, trimmer.begin, trimmer.end) == (0.0, 8.0, 0.0, 8.0)


async def test_handles_snap_to_pauses_and_go_from_one_to_the_next(make_app):
    app = make_app()
    async with running(app) as pilot:
        trimmer = (await sitting(app, pilot, some_takes(1))).trimmer  # pauses: 0 to 0.3, 3 to 4, 7.5 to 8
        await pilot.press("shift+right", "s")
        assert trimmer.begin == pytest.approx(0.2)  # a tenth of a second before the speech
        await pilot.press(".")
        assert trimmer.begin == pytest.approx(3.9)
        await pilot.press(".")  # there is no other before the end
        assert trimmer.begin == pytest.approx(3.9)
        await pilot.press(",", "]", ",")
        assert (trimmer.begin, trimmer.end) == (pytest.approx(0.2), pytest.approx(7.85))
        await pilot.press(",")
        assert trimmer.end == pytest.approx(3.35)


async def test_a_cut_that_is_short_says_so_until_it_is_longer(make_app):
    app = make_app()
    async with running(app) as pilot:
        await sitting(app, pilot)
        await pilot.press(*["shift+right"] * 2)
        assert "is short" in label(app, "#verdict") and "! short" in rows(app)[2]
        await pilot.press("pageup")
        await settled(app, pilot)
        assert "this will do" in label(app, "#verdict")
        await pilot.press("pagedown")
        await settled(app, pilot)
        assert "is short" in label(app, "#verdict")
        await pilot.press("home")
        assert "this will do" in label(app, "#verdict") and "✓ good" in rows(app)[2]


async def test_p_hears_the_cut_and_the_levels_stand_beside_it(make_app, studio):
    studio.loudspeakers.speed = 0
    app = make_app()
    async with running(app) as pilot:
        screen = await sitting(app, pilot, some_takes(1))
        assert screen.trimmer.levels == "speech -9 · pauses -60 · peak -6 dB"
        assert "peak -6 dB" in screen.trimmer.render_line(screen.trimmer.size.height - 1).text
        await pilot.press("shift+right", "p")
        await until(pilot, lambda: studio.players and studio.players[-1].queued)
        assert screen.review.replay.begin == pytest.approx(0.7)
        await pilot.press("]", "p")
        await until(pilot, lambda: len(studio.players) == 2 and studio.players[-1].queued)
        assert studio.players[-1].queued == pytest.approx(1.5, abs=0.01)
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)


def test_the_real_studio_finds_levels_and_pauses():
    studio = LocalStudio()
    tone = 0.1 * np.sin(np.arange(RATE) * 0.1).astype(np.float32)
    quiet = 1e-4 * np.random.default_rng(0).standard_normal(RATE // 2).astype(np.float32)
    sound = np.concatenate([quiet, tone, quiet, tone, quiet])
    levels = studio.levels(sound, RATE)
    assert levels.peak == pytest.approx(-20, abs=0.1) and levels.speech == pytest.approx(-23, abs=0.2)
    assert levels.floor == pytest.approx(-80, abs=2)
    assert [(round(b, 1), round(e, 1)) for b, e in studio.quiet_spans(sound, RATE)] == [
        (0.0, 0.5),
        (1.5, 2.0),
        (3.0, 3.5),
    ]


# --- values ----------------------------------------------------------------------------------------------------------


def test_what_is_compared_is_as_loud_as_the_softest_and_silence_counts_for_nothing():
    assert matched([-10.0, -30.0]) == pytest.approx([0.1, 1.0])
    assert matched([-120.0, -10.0]) == [1.0, 1.0] and matched([]) == []
    assert peak_db(np.zeros(3, np.float32)) == peak_db(np.zeros(0, np.float32)) == -120.0


def test_the_other_take_is_the_one_before_else_the_best_else_a_neighbour():
    takes = Takes(some_takes())
    assert (takes.at, takes.other) == (2, 1)
    takes.go(0)
    assert takes.other == 2
    takes.go(1)
    takes.remove()
    assert (takes.at, takes.other, len(takes)) == (1, 0, 2)
    best = Takes([replace(take, best=n == 0) for n, take in enumerate(some_takes())])
    assert best.at == 0 and best.other == 1
    assert Takes(some_takes(1)).other is None


def test_a_cut_made_by_hand_is_not_moved_by_a_later_look():
    takes = Takes([replace(take, begin=1.0, end=2.0) for take in some_takes(1)])
    verdict = SimpleNamespace(ok=True, usable=True, problems=())
    takes.judged(takes.in_hand, TakeFacts(verdict, (0.1, 7.0), Levels()))
    assert (takes.in_hand.begin, takes.in_hand.end) == (1.0, 2.0) and takes.facts
    assert line(0, takes.all[0]).split() == ["1", "1.0", "s", "silent", "!", "short"]


@pytest.mark.parametrize(
    "notes, expected",
    [
        ('{"begin": 0.5, "end": 1.5, "best": true, "name": "b"}', (0.5, 1.5, True, "b")),
        ('{"begin": 1.5, "end": 0.5}', (0.0, None, False, "a")),
        ('{"begin": true, "end": 1e999, "best": 1}', (0.0, None, False, "a")),
        ('{"name": 7}', (0.0, None, False, "a")),
        ("not JSON", (0.0, None, False, "a")),
    ],
)
def test_notes_that_are_damaged_cost_no_take(tmp_path, notes, expected):
    session = Session(tmp_path)
    take = session.keep_take(np.ones(2 * RATE, np.float32), RATE, "words", "a")
    take.file.with_suffix(".notes").write_text(notes)
    (found,) = session.unsaved_takes()
    assert (found.begin, found.end, found.best, found.name) == expected and found.transcript == "words"
    assert bool(session.complaints) == ("7" in notes or "not" in notes)


def test_what_was_thrown_away_goes_after_thirty_days_and_its_number_is_not_used_again(tmp_path):
    session = Session(tmp_path)
    old = session.keep_anew(session.keep_take(np.ones(RATE, np.float32), RATE, "old"))
    young = session.keep_take(np.ones(RATE, np.float32), RATE, "young")
    session.throw_away([old, young])
    assert session.unsaved_takes() == [] and session.keep_take(np.ones(9, np.float32), RATE, "next").file.stem == "3"
    os.utime(old.file.with_suffix(".gone"), (1, 1))
    session.adopt_broken_recordings()
    assert not old.file.with_suffix(".notes").exists()
    assert session.bring_back().transcript == "young" and session.bring_back() is None


async def _choose_until_killed(folder):
    """In a process of its own: two takes, the first is the best and cut; say so once it is on disk."""
    app = S2App(FakeStudio(folder), folder / "config", folder / "state", text="", countdown=0.0)
    async with running(app) as pilot:
        await sitting(app, pilot, some_takes(2))
        await pilot.press("pageup", "b", "right", "right")
        await until(pilot, lambda: app.session.unsaved_takes()[0].best and app.session.unsaved_takes()[0].begin > 0.25)
        print("chosen", flush=True)
        await asyncio.sleep(60)


async def test_takes_the_best_and_its_cut_survive_the_death_of_the_process(make_app, tmp_path):
    code = (
        "import asyncio, pathlib; from tests.app.test_takes import _choose_until_killed as f; "
        f"asyncio.run(f(pathlib.Path({str(tmp_path)!r})))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TEXTUAL_ANIMATIONS": "none"},
    )
    with child.stdout:
        said = child.stdout.readline()
        child.kill()
        child.wait()
    assert said == "chosen\n"
    app = make_app()
    async with running(app) as pilot:
        await until(pilot, lambda: not isinstance(app.screen, MainScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RecordScreen) and app.screen.stage is Stage.REVIEW)
        await settled(app, pilot)
        assert app.screen.takes.at == 0 and app.screen.takes.in_hand.best and len(app.screen.takes) == 2
        assert app.screen.trimmer.begin == pytest.approx(0.3)
