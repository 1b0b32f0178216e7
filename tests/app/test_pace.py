"""How fast speech is made, as the app says it."""

import pytest
from s2mlx_app.widgets.status_line import StatusLine

from s2mlx.errors import DeviceError
from s2mlx.request.schedule import Schedule

from .conftest import TEXT, running, until


def figures(app):
    return str(app.main.query_one("#figures").content)


async def test_slower_than_real_time_is_said(make_app, studio):
    studio.engine.rtf, studio.engine.frames, studio.loudspeakers.speed = 3.2, 56, 0
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.audio and app.main.speech.audio.stats.frames == 56)
        assert "slower than real time" in app.main.status.state and len(app.main.status.state) < 78
        assert "RTF 3.20 slower" in figures(app)


@pytest.mark.parametrize(
    "startup, rtf, frames, shown",
    [
        (
            2.0,
            0.5,
            56,
            "RTF 0.50 faster than real time",
        ),  # the long wait for the first sound is told apart from the pace
        (2.0, 0.5, 40, "RTF 0.50 faster than real time"),
        (0.1, 1.4, 20, "RTF 1.40 ·"),  # too little sound to call it slow
    ],
)
async def test_nothing_is_called_slow_for_how_it_begins(make_app, studio, monkeypatch, startup, rtf, frames, shown):
    studio.engine.startup, studio.engine.rtf, studio.engine.frames = startup, rtf, frames
    studio.engine.gate.close()
    said = []
    monkeypatch.setattr(StatusLine, "say", lambda line, words, mood="": said.append(words))
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.main.speech.audio and app.main.speech.audio.samples)
        app.main.speech.tick()
        assert "frames" in figures(app) and "RTF" not in figures(app)  # too early to say
        studio.engine.gate.let(100)
        await until(pilot, lambda: not app.jobs.running)
        assert shown in figures(app) and "slower" not in " ".join(said)


async def test_faster_speech_is_expected_to_be_shorter(make_app, studio):
    app = make_app(rate=2.0)
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        assert studio.engine.calls[0].options.rate == 2.0
        assert studio.players[0].expected_seconds == studio.estimate_seconds(TEXT) / 2


async def test_without_a_listener_the_pieces_grow(make_app, studio):
    """One frame to a piece, as for a listener about to run dry, takes several times as long."""
    speaking = pytest.importorskip("s2mlx.request.run")
    studio.output_error = DeviceError("there is none")
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        [request] = studio.engine.calls
        schedule = Schedule(0.046, request.lead)
        assert [schedule.take(100), schedule.take(1), schedule.take(2), schedule.take(4)] == [16, 0, 0, 0]
        assert request.lead() < speaking.MOST_LEAD
