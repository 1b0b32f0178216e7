"""A text that several machines speak has the codes and the sound of one: with a voice, with none, as a dialogue; and
what happens when one fails, is lost or has another model."""

import threading

import numpy as np
import pytest

import s2mlx
from s2mlx.errors import GenerationError, ModelError, UsageError
from s2mlx.files.folders import assets_dir
from s2mlx.results import CANCELLED
from s2mlx.team import TeamLost, TeamSynthesizer, follow
from s2mlx.team import leader as leader_module
from s2mlx.weights.catalog import DEMO

from .table import Table

TEXT = "\n\n".join(
    f"Part {number} of the story begins here. This paragraph has two sentences, as the others have."
    for number in ("one", "two", "three", "four")
)
SHORT = s2mlx.Options(seed=4, min_frames=12, max_frames=12)  # each pass as long, whatever is drawn
DIALOGUE = "<|speaker:0|>Who is there? <|speaker:1|>It is me."
pytestmark = pytest.mark.skipif(not assets_dir(), reason="no voice is bundled")


@pytest.fixture(scope="module")
def machines():
    with s2mlx.load(DEMO) as first, s2mlx.load(DEMO) as second:
        yield first, second


@pytest.fixture
def team(machines):
    """-> the leader's synthesizer; the other follows in a thread, whose fault is kept in `faults`."""
    table, faults = Table(2), []
    rounds = table.rounds(pause=0.001)

    def work():
        try:
            follow(machines[1], rounds[1], 1)
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    team = TeamSynthesizer(machines[0], rounds[0], 2)
    team.table, team.faults, team.other = table, faults, rounds[1]
    yield team
    rounds[0].leave()
    thread.join(10)
    assert not thread.is_alive()


def joined(chunks):
    chunks = list(chunks)
    reasons = [chunk.finish_reason for chunk in chunks if chunk.finish_reason]
    return (
        np.concatenate([c.codes for c in chunks], 1),
        np.concatenate([c.samples for c in chunks]),
        [(c.part, c.parts, c.span, c.text) for c in chunks if c.finish_reason],
        reasons,
        chunks[-1].stats,
    )


BRIEF = {"max_frames": 30}  # the first speaks to the end of its passes


@pytest.mark.parametrize(
    "voice, options",
    [(["clara"], {"batch": 1}), (["clara"], {"rate": 1.4, "pause_ms": 100, **BRIEF}), ([], BRIEF)],
)
def test_the_codes_are_those_of_one(machines, team, voice, options):
    voices = [s2mlx.VoiceLibrary().resolve(name) for name in voice]
    wanted = s2mlx.Options(seed=3, **options)
    one = joined(machines[0].stream(TEXT, voice=voices, options=wanted))
    two = joined(team.stream(TEXT, voice=voices, options=wanted))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])
    assert one[2:4] == two[2:4]
    assert (two[4].seed, two[4].frames) == (3, one[4].frames)
    assert two[4].audio_seconds == pytest.approx(one[4].audio_seconds)
    counts = list(map(int, team.standing.rpartition(": ")[2].split(" + ")))
    assert sum(counts) == len(one[2]) - (not voice) and min(counts) >= 1


def test_one_text_after_the_other(machines, team):
    voices = [s2mlx.VoiceLibrary().resolve("nora")]
    for seed in (1, 2):
        options = s2mlx.Options(seed=seed, max_frames=12)
        one, two = (joined(tts.stream(TEXT, voice=voices, options=options)) for tts in (machines[0], team))
        np.testing.assert_array_equal(one[0], two[0])


def test_what_comes_late_of_an_earlier_text_is_not_of_this_one(machines, team):
    voices = [s2mlx.VoiceLibrary().resolve("nora")]
    list(team.stream(TEXT, voice=voices, options=SHORT))
    team.other.say(kind="codes", job=0, index=0, codes=np.zeros((4, 5), np.int32), reason="stop")
    team.other.say(kind="codes", job=0, index=70, codes=np.zeros((4, 5), np.int32), reason="stop")
    team.other.say(kind="fault", job=0, why="nobody knows")
    one, two = (joined(tts.stream(TEXT, voice=voices, options=SHORT)) for tts in (machines[0], team))
    np.testing.assert_array_equal(one[0], two[0])


def test_a_dialogue_is_spoken_by_one(machines, team):
    voices = [s2mlx.VoiceLibrary().resolve(name) for name in ("clara", "marcus")]
    options = s2mlx.Options(seed=1)
    one, two = (joined(tts.stream(DIALOGUE, voice=voices, options=options)) for tts in (machines[0], team))
    np.testing.assert_array_equal(one[0], two[0])


@pytest.mark.parametrize("heard", (1, 3))  # chunks before the cancel: amid a pass of two, and amid the next
def test_a_cancel_ends_it(team, heard):
    cancel = threading.Event()
    chunks = team.stream(TEXT, voice=[s2mlx.VoiceLibrary().resolve("clara")], options=SHORT, cancel=cancel)
    last = [next(chunks) for _ in range(heard)][-1]
    assert not last.finish_reason
    cancel.set()
    (end,) = chunks
    assert (end.finish_reason, end.part, end.codes.shape, len(end.samples)) == (
        CANCELLED,
        last.part,
        (last.codes.shape[0], 0),
        0,
    )


def test_a_cancel_while_nothing_is_done_yet(team, monkeypatch):
    cancel = threading.Event()
    monkeypatch.setattr(leader_module._Sharing, "_take", lambda self: cancel.set())
    chunks = list(team.stream(TEXT, voice=[s2mlx.VoiceLibrary().resolve("clara")], options=SHORT, cancel=cancel))
    assert [(chunk.finish_reason, chunk.part) for chunk in chunks] == [(CANCELLED, 0)]


def test_a_cancel_of_one_machine_ends_alike(machines):
    cancel = threading.Event()
    cancel.set()
    chunks = list(machines[0].stream(TEXT, voice="clara", options=SHORT, cancel=cancel))
    assert [(chunk.finish_reason, chunk.part) for chunk in chunks] == [(CANCELLED, 0)]


def test_a_machine_is_lost_amid_speech(team):
    options = SHORT.replace(batch=1)
    chunks = team.stream((TEXT + chr(10) * 2) * 8, voice=[s2mlx.VoiceLibrary().resolve("clara")], options=options)
    next(chunks)
    team.table.break_up()
    with pytest.raises(TeamLost) as lost:
        list(chunks)
    assert lost.value.keeps_finished


def test_a_machine_that_fails_says_why(machines, team, monkeypatch):
    monkeypatch.setattr(machines[1]._engine, "speak", lambda *_, **__: iter([1 / 0 for _ in "x"]), raising=True)
    with pytest.raises(GenerationError, match="machine 1 of the team: an unexpected ZeroDivisionError"):
        list(team.stream(TEXT, voice=[s2mlx.VoiceLibrary().resolve("clara")], options=SHORT))


def test_another_model(machines, monkeypatch):
    rounds = Table(2).rounds(pause=0.001)
    rounds[1].say(kind="ready", model="0" * 64)
    with pytest.raises(ModelError, match="machine 1 of the team has another model"):
        TeamSynthesizer(machines[0], rounds[0], 2)
    rounds[1].say(kind="fault", why="there is no model here")
    with pytest.raises(GenerationError, match="there is no model here"):
        TeamSynthesizer(machines[0], rounds[0], 2)
    monkeypatch.setattr(leader_module, "_GREETING", 0.05)
    with pytest.raises(TeamLost, match="did not load"):
        TeamSynthesizer(machines[0], rounds[0], 2)
    rounds[0].leave()


def test_what_a_team_does_not_do(team):
    for text, more in ((iter("a"), {}), ("Hello.", {"lead": lambda: 1.0})):
        with pytest.raises(UsageError, match="into a file"):
            team.stream(text, **more)
    with pytest.raises(UsageError, match="--check"):
        team.stream("Hello.", options=s2mlx.Options(check=True))
