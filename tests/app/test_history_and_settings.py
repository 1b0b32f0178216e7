"""The history and settings screens, the palette, help."""

import shlex
import threading
import time
from types import SimpleNamespace

import pytest
from s2mlx_app.app import S2App
from s2mlx_app.commands import Actions
from s2mlx_app.screens.help import HelpScreen, key_groups
from s2mlx_app.screens.history import HistoryScreen
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.settings import SettingsScreen
from s2mlx_app.state import settings as settings_file
from s2mlx_app.state.history import HistoryEntry
from s2mlx_app.widgets.device_select import DeviceSelect
from s2mlx_app.widgets.key_line import KeyLine

from s2mlx.errors import DeviceError

from .conftest import TEXT, notices, running, until
from .fakes import hum


@pytest.fixture
def spoken(studio):
    """An utterance in the history of an app."""

    def put(app, **changes):
        entry = HistoryEntry(
            **{
                "text": "It's [sad] here.",
                "voices": ("anna",),
                "seed": 99,
                "options": {"temperature": 0.5, "trim": True},
                "model": "pro.gguf",
                "when": "2026-01-02T03:04:05",
                "seconds": 2.0,
                "frames": 43,
            }
            | changes
        )
        app.history.add(entry, hum(2), 44100)
        return entry

    return put


async def test_what_is_spoken_is_kept_and_replayed(make_app, studio):
    app = make_app(seed=41)
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and app.screen.entries)
        [entry] = app.screen.entries
        assert (entry.text, entry.seed, entry.frames, entry.model_name) == (TEXT, 41, 40, "Fake S2")
        await pilot.press("space")
        await until(pilot, lambda: len(studio.players) == 2 and not app.jobs.running)
        assert abs(studio.players[1].queued - entry.seconds) < 1e-6


async def test_speaks_again_with_the_same_seed_and_options(make_app, studio, spoken):
    app = make_app(temperature=1.5)
    spoken(app)
    async with running(app) as pilot:
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.screen.entries)
        await pilot.press("s")
        await until(pilot, lambda: studio.engine.calls and not app.jobs.running)
        [request] = studio.engine.calls
        assert request.options.seed == 99 and request.options.temperature == 0.5 and request.voice[0].name == "anna"
        assert isinstance(app.screen, MainScreen) and app.main.editor.text == TEXT, "the draft stays"


async def test_copies_the_command(make_app, spoken):
    app = make_app()
    entry = spoken(app)
    async with running(app) as pilot:
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.screen.entries)
        await pilot.press("c")
        assert app.clipboard == entry.command()
    assert shlex.split(entry.command()) == [
        "s2mlx",
        "say",
        "--model",
        "pro.gguf",
        "--voice",
        "anna",
        "--temperature",
        "0.5",
        "--trim",
        "--seed",
        "99",
        "--",
        "It's [sad] here.",
    ]


async def test_exports_and_deletes(make_app, studio, spoken, tmp_path):
    app = make_app()
    spoken(app)
    async with running(app) as pilot:
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.screen.entries)
        await pilot.press("e")
        app.screen.query_one("#field-path").value = str(tmp_path / "x.mp3")
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        assert len(studio.files[tmp_path / "x.mp3"]) == 2 * 44100
        await pilot.press("d")
        await until(pilot, lambda: not app.screen.entries and not app.jobs.running)
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)


async def test_a_full_disk_is_told(make_app, studio, tmp_path):
    studio.write_error = OSError(28, "No space left on device", str(tmp_path / "y.wav"))
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.running)
        await pilot.press("ctrl+o")
        app.screen.query_one("#field-path").value = str(tmp_path / "y.wav")
        await pilot.press("enter")
        await until(pilot, lambda: not app.jobs.running)
        status = app.main.status
        assert "the disk is full" in status.state and status.mood == "failed" and app.main.speech.audio.samples
        assert not notices(app)  # once, where it hides nothing


async def test_settings_are_checked_and_kept(make_app, tmp_path):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, SettingsScreen) and not app.jobs.running)
        assert "4.63 GB" in str(app.screen.query_one("#facts").content)
        field = app.screen.query_one("#set-temperature")
        field.focus()
        field.value = "hot"
        await pilot.press("enter")
        assert "must be a number" in str(app.screen.query_one("#trouble").content) and app.settings.temperature is None
        field.value = "0.6"
        await pilot.press("enter")
        app.screen.query_one("#set-trim").value = True
        app.screen.query_one("#set-output").value = "USB Headset"
        app.screen.query_one("#set-theme").value = "s2-contrast"
        await until(pilot, lambda: app.theme == "s2-contrast" and not app.jobs.running)
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)
    kept, complaints = settings_file.load(tmp_path / "config" / "app.json")
    assert (kept.temperature, kept.trim, kept.output, kept.theme, complaints) == (
        0.6,
        True,
        "USB Headset",
        "s2-contrast",
        [],
    )


async def test_the_last_of_many_changes_is_what_is_kept(make_app, tmp_path, monkeypatch):
    update, first = settings_file.update, threading.Event()

    def slow_first(*what):
        if not first.is_set():
            first.set()
            time.sleep(0.2)
        update(*what)

    monkeypatch.setattr(settings_file, "update", slow_first)
    app = make_app()
    async with running(app) as pilot:
        for k in range(1, 6):
            app.change(top_k=k)
        await until(pilot, lambda: not app.jobs.running)
    assert settings_file.load(tmp_path / "config" / "app.json")[0].top_k == 5


async def test_two_apps_keep_what_each_has_changed(make_app, studio, tmp_path):
    first, second = make_app(), make_app()
    async with running(first) as pilot, running(second) as other:
        first.change(temperature=0.3, languages={"anna": "de"})
        await until(pilot, lambda: not first.jobs.running)
        second.change(theme="s2-light", languages={"ben": "fr"})
        await until(other, lambda: not second.jobs.running)
    kept, complaints = settings_file.load(tmp_path / "config" / "app.json")
    assert (kept.temperature, kept.theme, complaints) == (0.3, "s2-light", [])
    assert kept.languages == {"anna": "de", "ben": "fr"}


async def test_damaged_settings_are_told_and_put_aside(make_app, tmp_path):
    path = tmp_path / "config" / "[/x]" / "app.json"  # a folder that looks like markup
    path.parent.mkdir(parents=True)
    path.write_text('{"temperature": 0.3,}')
    app = make_app()
    app = S2App(app.studio, path.parent, tmp_path / "state", text="")
    async with running(app) as pilot:
        [note] = notices(app)
        assert "[/x]/app.json is left aside" in note.message
        app.change(top_k=3)
        await until(pilot, lambda: not app.jobs.running)
    assert path.with_name("app.json.broken").read_text() == '{"temperature": 0.3,}'
    assert settings_file.load(path)[0].top_k == 3


async def test_settings_are_open_once(make_app):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, SettingsScreen) and not app.jobs.running)
        app.action_settings()
        await pilot.press("f1")
        app.action_help()
        app.action_settings()
        await pilot.pause()
        assert len(app.screen_stack) == 3  # main, settings, help
        assert not {"Settings", "Help"} & {command.title for command in app.get_system_commands(app.screen)}


async def test_names_with_brackets_are_shown_as_they_are(make_app, studio):
    name = "[USB] Mic [/x]"
    studio.more_devices = [SimpleNamespace(index=3, name=name, inputs=1, outputs=2, default_rate=48000.0)]
    studio.output_error = DeviceError(f"{name} is gone")
    app = make_app(input=name)
    async with running(app) as pilot:
        for key in ("ctrl+g", "ctrl+r"):
            await pilot.press(key)
            await until(pilot, lambda: app.screen is not app.main and not app.jobs.running)
            select = app.screen.query(DeviceSelect).last()
            select.focus()
            await pilot.press("enter")
            options = select.query_one("OptionList")
            await until(pilot, lambda: options.display)
            assert name in "".join(segment.text for y in range(5) for segment in options.render_line(y))
            assert str(select.query_one("#label").visual) == name
            await pilot.press("escape", "escape")
            await until(pilot, lambda: app.screen is app.main)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: studio.engine.calls and not app.jobs.running)
        assert name in app.main.query_one("#state").visual.plain
        await pilot.press("ctrl+b")
        await until(pilot, lambda: not app.jobs.running)
        assert name in app.main.query_one("#state").visual.plain
        app.notify(name)
        await until(pilot, lambda: notices(app))
        assert not any(note.markup for note in notices(app))


async def test_a_new_model_is_loaded_on_leaving(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        old, studio.engine = studio.engine, type(studio.engine)(name="Other")
        await pilot.press("ctrl+g")
        field = app.screen.query_one("#set-model")
        field.value = "other.gguf"
        await pilot.press("enter", "escape")
        await until(pilot, lambda: app.loader.engine and app.loader.engine.name == "Other" and old.closed)
        assert app.settings.model == "other.gguf"


async def test_what_the_command_line_says_is_for_this_run_only(make_app, tmp_path):
    app = make_app(model="once.gguf")
    async with running(app) as pilot:
        app.change(top_k=5)
        await until(pilot, lambda: not app.jobs.running)
    kept, _ = settings_file.load(tmp_path / "config" / "app.json")
    assert kept.model is None and kept.top_k == 5


async def test_help_lists_the_keys_of_the_screen(make_app):
    app = make_app()
    async with running(app) as pilot:
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        text = " ".join(str(child.content) for child in app.screen.query("Static"))
        assert "Speak" in text and "^t" in text and "How" in text
        assert "In the list of voices" in text and "0-9" in text and "Export" in text
        await pilot.press("escape")

        def promised():
            return {key.shown for key in app.screen.query_one(KeyLine).keys if key.description == "Help"}

        await until(pilot, lambda: promised() == {"F1"})
        assert "a adds" not in app.main.query_one("#voices").border_subtitle
        await pilot.press("?")
        assert app.main.editor.text.startswith("?")  # which is why the footer does not promise it here
        app.main.query_one("#voices").focus()
        await until(pilot, lambda: promised() == {"?/F1"})
        assert "a adds" in app.main.query_one("#voices").border_subtitle
        await pilot.press("?")
        assert isinstance(app.screen, HelpScreen)


async def test_the_palette_reaches_every_action(make_app, studio):
    app = make_app()
    async with running(app) as pilot:
        titles = {command.title for command in app.get_system_commands(app.screen)}
        assert {
            "Speak",
            "Save sound",
            "Live clone",
            "Import a voice",
            "Open a text file",
            "History",
            "Settings",
            "Quit",
        } <= titles
        await pilot.press("ctrl+p", *"open a text", "enter")
        await pilot.pause()
        studio_text = app.settings  # the palette closes, the form opens
        await until(pilot, lambda: bool(app.screen.query("#field-path")))
        assert studio_text is app.settings


async def test_no_size_of_terminal_breaks_a_screen(make_app, studio):
    studio.loudspeakers.speed = 0
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("ctrl+s")
        for key in ("ctrl+r", "ctrl+t", "ctrl+g", "f1"):
            for size in ((20, 6), (1, 1), (250, 80), (40, 12)):
                await pilot.resize_terminal(*size)
                app.main.speech.tick()
            await pilot.press("escape", key)
            await pilot.pause()


async def test_every_screen_fits_the_smallest_and_a_large_terminal(make_app):
    app = make_app()
    async with running(app, (80, 24)) as pilot:
        for key in ("ctrl+r", "ctrl+t", "ctrl+g"):
            await pilot.press(key)
            await until(pilot, lambda: not isinstance(app.screen, MainScreen) and not app.jobs.running)
            for size in ((200, 60), (80, 24)):
                await pilot.resize_terminal(*size)
                assert app.screen.size == size
                for widget in app.screen.query("#transport, #trouble, #verdict, KeyLine, #details"):
                    assert widget.region.bottom <= size[1] and widget.region.right <= size[0], widget
                await fits(pilot, app)
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, MainScreen))


async def fits(pilot, app):
    """The keys in the last row can be read, and the way to all others is among them."""

    def keys():
        return app.screen.query_one(KeyLine).keys

    await until(pilot, lambda: keys() and keys()[-1].action == "command_palette")
    assert sum(key.width for key in keys()) - 1 <= app.size.width
    assert any(key.description == "Help" for key in keys())


@pytest.mark.parametrize("width", [80, 60, 120])
async def test_the_keys_of_every_pane_fit(make_app, studio, width):
    app = make_app()
    studio.engine.gate.close()
    async with running(app, (width, 24)) as pilot:
        app.main.query_one("#voices").can_undo = True
        await pilot.press("ctrl+s")
        for pane in ("#voices", "#text"):
            app.main.query_one(pane).focus()
            await pilot.pause()
            await fits(pilot, app)
        await pilot.press("escape")


async def test_the_palette_has_every_action_with_its_key(make_app):
    app = make_app()
    async with running(app) as pilot:
        offered = {title: key for title, _, _, key in Actions(app.screen)._all()}
        assert (offered["Speak"], offered["History"], offered["Pause"]) == ("^s", "^t", "F2")
        assert offered["Rename: the list of voices"] == "r"  # though another pane has the focus
        told = {binding.description for _, _, bindings in key_groups(app, app.screen) for binding in bindings}
        assert len(told) > 20 and len(offered) >= len(told)
        app.main.voice_list.highlight("anna")
        rename = next(act for title, _, act, _ in Actions(app.screen)._all() if title.startswith("Rename"))
        rename()
        await until(pilot, lambda: bool(app.screen.query("#field-name")))
