"""What the main screen is doing, as values, and the line that is drawn from them."""

import pytest
from s2mlx_app.screens.activity import (
    Idle,
    LoadFailed,
    Loading,
    MadeUnheard,
    MakingUnheard,
    PassNumber,
    Paused,
    Replaying,
    Situation,
    Speaking,
    Starting,
    Working,
    words,
)


@pytest.mark.parametrize(
    "activity, line",
    [
        (Idle(), "ready"),
        (Idle(demo=True), "ready, with the small demo model: F8 chooses another"),
        (Loading(None), "loading the model: esc cancels"),
        (Loading("x.gguf", 0.4, then_speaks=True), "loading x.gguf 40%: speaks as soon as it is loaded"),
        (LoadFailed("too large"), "no model (F8 chooses another, ^g has settings): too large"),
        (Working("renaming anna"), "renaming anna  esc cancels"),
        (Starting(), "speaking: waiting for the first sound"),
        (Starting("fitting anna"), "fitting anna  esc cancels"),
        (Speaking(), "speaking"),
        (Speaking(PassNumber(1, 3)), "speaking, part 2 of 3"),
        (
            Speaking(PassNumber(0, 2), slow=3.24),
            "speaking, part 1 of 2: slower than real time (3.2x), a smaller model helps",
        ),
        (Speaking(slow=2.04, smallest=True), "speaking: slower than real time (2.0x)"),
        (
            Speaking(PassNumber(0, 2), slow=3.24, held=True),
            "collecting sound first, part 1 of 2: slower than real time (3.2x)",
        ),
        (MakingUnheard("no device", PassNumber(0, 2)), "making it, unheard, part 1 of 2 (^o saves it): no device"),
        (Replaying(), "replaying"),
        (Replaying("anna"), "listening to the clip of anna"),
        (Paused(), "paused: F2 goes on, esc stops"),
        (MadeUnheard("no device"), "made, unheard (^o saves it): no device"),
    ],
)
def test_every_activity_has_its_words(activity, line):
    assert words(activity) == line


def test_the_end_of_sound_leaves_what_was_said_or_began_meanwhile():
    drawn = []
    situation = Situation(lambda line, mood: drawn.append(line))
    situation.enter(Speaking())
    situation.sound_ended(Idle())
    assert drawn == ["speaking", "ready"] and situation.activity == Idle()
    situation.enter(Speaking())
    situation.say("saved x.wav")
    situation.sound_ended(Idle())
    assert drawn[2:] == ["speaking", "saved x.wav"] and situation.activity == Idle()
    situation.enter(Replaying())
    situation.enter(Loading(None))  # from the settings, while a replay goes on
    situation.sound_ended(Idle())
    assert drawn[4:] == ["replaying", "loading the model: esc cancels"] and situation.activity == Loading(None)


def test_words_that_look_like_an_activity_are_none():
    """A voice's or a file's name may begin like a state: what goes on is not read from the line."""
    drawn = []
    situation = Situation(lambda line, mood: drawn.append(line))
    situation.enter(Speaking())
    situation.say("making-of.wav exists already")
    situation.sound_ended(Idle())
    assert drawn[-1] == "making-of.wav exists already"
