"""A take is heard: free words come into the card, wrong ones are marked; without a recognizer nothing changes."""

from s2mlx_app.engine.hearing import HeardTake, hear
from s2mlx_app.screens.review import Stage

from ..fakes import FakeEar
from .conftest import running, until
from .fakes import hum
from .test_leaving import checking
from .test_recording import take


def subtitle(screen):
    return str(screen.card.query_one("#words").border_subtitle or "")


async def test_words_spoken_freely_stand_in_the_card_and_can_be_taken_back(make_app, studio):
    studio.hears = lambda words: HeardTake("I just say something else.", freely=True)
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        await take(app, pilot)
        card = app.screen.card
        await until(pilot, lambda: "were heard" in subtitle(app.screen))
        assert card.words == "I just say something else."
        await until(pilot, lambda: app.screen.takes.in_hand.transcript == "I just say something else.")
        app.screen.action_undo_words()
        await until(pilot, lambda: card.words != "I just say something else." and not subtitle(app.screen))


async def test_words_heard_before_the_verdict_are_the_take_s(make_app, studio):
    studio.hears = lambda words: HeardTake("I just say something else.", freely=True)
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        await checking(app, pilot)
        await until(pilot, lambda: app.screen.card.words == "I just say something else.")
        await until(pilot, lambda: app.screen.takes.in_hand.transcript == "I just say something else.")
        assert app.screen.stage is Stage.CHECKING
        studio.look_gate.open()
        await until(pilot, lambda: app.screen.stage is Stage.REVIEW and not app.jobs.running)
        assert app.screen.takes.in_hand.transcript == "I just say something else."


async def test_words_heard_otherwise_are_marked_until_they_change(make_app, studio):
    studio.hears = lambda words: HeardTake("x", wrong=((0, 5),), doubt='"x" was heard for "y"')
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        await take(app, pilot)
        area = app.screen.card.query_one("#words")
        await until(pilot, lambda: "was heard for" in subtitle(app.screen))
        assert area.marked == ((0, 5),)
        [span] = [s for s in area.get_line(0).spans if (s.start, s.end) == (0, 5)]
        assert span.style.underline
        app.screen.card.next()
        await until(pilot, lambda: area.marked == () and not subtitle(app.screen))


async def test_without_a_recognizer_nothing_is_said(make_app, studio):
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        await take(app, pilot)
        assert subtitle(app.screen) == "" and app.screen.card.query_one("#words").marked == ()


def test_what_was_read_is_told_from_what_was_said_freely(monkeypatch):
    words = "The garden is quiet this morning, and the first roses are open."
    ear = FakeEar.installed(monkeypatch, words)
    sound = hum(3.0)
    assert hear(sound, 44100, words, "en") == HeardTake(words) and ear.closed
    FakeEar.installed(monkeypatch, words.replace("quiet", "loud"))
    found = hear(sound, 44100, words, "en")
    assert [words[slice(*span)] for span in found.wrong] == ["quiet"] and not found.freely and "loud" in found.doubt
    FakeEar.installed(monkeypatch, "Something else was said here.", confidence=0.3)
    found = hear(sound, 44100, words, "en")
    assert found.freely and found.text == "Something else was said here." and found.doubt == "heard badly"
    FakeEar.installed(monkeypatch, "")
    assert hear(sound, 44100, words, "en") is None
    FakeEar.installed(monkeypatch, words)
    assert hear(sound, 44100, words, "de") is None
    monkeypatch.setenv("S2MLX_EAR", "off")
    assert hear(sound, 44100, words, "en") is None
