"""Stage directions by a language model: they come into the text, and out of it again."""

from s2mlx.errors import UsageError

from .conftest import TEXT, notices, running, until


async def test_directions_come_and_undo_takes_them_out(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        studio.direct_gate.close()
        await pilot.press("f5")
        await until(pilot, lambda: "adding stage directions, 0 %" in app.main.status.state)
        studio.direct_gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert app.main.editor.text == f"[excited] {TEXT}" and "^z" in app.main.status.state
        await pilot.press("ctrl+z")
        assert app.main.editor.text == TEXT


async def test_a_text_that_was_changed_meanwhile_stays(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        studio.direct_gate.close()
        await pilot.press("f5")
        await until(pilot, lambda: app.main.work.job)
        await pilot.press("x", "f5")  # a second one waits for nobody
        studio.direct_gate.open()
        await until(pilot, lambda: not app.jobs.running)
        assert app.main.editor.text == f"x{TEXT}" and "changed meanwhile" in app.main.status.state


async def test_cancelled_the_text_stays(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        studio.direct_gate.close()
        await pilot.press("f5")
        await until(pilot, lambda: app.main.work.job)
        await pilot.press("escape")
        await until(pilot, lambda: not app.jobs.running)
        assert app.main.editor.text == TEXT and app.main.status.state == "cancelled"


async def test_what_cannot_be_directed_says_so(make_app, studio):
    app = make_app(text="")
    async with running(app) as pilot:
        await pilot.press("f5")
        assert "type some text" in app.main.status.state and not app.jobs.running
        app.main.editor.put("Words.")
        studio.directs = False
        await pilot.press("f5")
        await until(pilot, lambda: not app.jobs.running)
        assert "nothing to direct" in app.main.status.state
        studio.direct_error = UsageError('a language model needs mlx-lm: pip install "s2mlx[lm]"')
        await pilot.press("f5")
        await until(pilot, lambda: not app.jobs.running)
        assert "s2mlx[lm]" in app.main.status.state and not notices(app)
