"""No key means two things at once: not within a screen, and not between a screen and a pane that may have the focus."""

from itertools import product

import pytest
from s2mlx_app.app import S2App
from s2mlx_app.screens.compare import CompareScreen
from s2mlx_app.screens.history import HistoryScreen
from s2mlx_app.screens.main import MainScreen
from s2mlx_app.screens.models import ModelsScreen
from s2mlx_app.screens.parts import PartsScreen
from s2mlx_app.screens.queue import QueueScreen
from s2mlx_app.screens.record import RecordScreen
from s2mlx_app.screens.versions import VersionsScreen
from s2mlx_app.widgets.part_table import PartTable
from s2mlx_app.widgets.queue_list import QueueList
from s2mlx_app.widgets.take_table import TakeTable
from s2mlx_app.widgets.trimmer import Trimmer
from s2mlx_app.widgets.version_table import VersionTable
from s2mlx_app.widgets.voice_list import VoiceList
from textual.widgets import TextArea

SCREENS = MainScreen, RecordScreen, HistoryScreen, ModelsScreen, CompareScreen, VersionsScreen, PartsScreen, QueueScreen
PANES = (
    (MainScreen, VoiceList),
    (MainScreen, TextArea),
    (RecordScreen, Trimmer),
    (RecordScreen, TakeTable),
    (RecordScreen, TextArea),
    (VersionsScreen, VersionTable),
    (PartsScreen, PartTable),
    (QueueScreen, QueueList),
)
SHADOWED = {  # what a pane does with a key of its screen, on purpose
    (MainScreen, TextArea): set(),
    (RecordScreen, TextArea): {"ctrl+z", "delete", "pageup", "pagedown"},  # in the words they are the words'
}


def keys(kind):
    """(key, what it does) of a class's own bindings."""
    return [(key, binding.action) for binding in kind.BINDINGS for key in binding.key.split(",")]


@pytest.mark.parametrize("kind", [*SCREENS, VoiceList, Trimmer, VersionTable, S2App])
def test_a_key_stands_once(kind):
    found = [key for key, _ in keys(kind)]
    assert sorted({key for key in found if found.count(key) > 1}) == []


@pytest.mark.parametrize("screen, pane", PANES, ids=lambda kind: kind.__name__)
def test_a_pane_takes_no_key_of_its_screen(screen, pane):
    first = {key for binding in screen.BINDINGS if binding.priority for key in binding.key.split(",")}
    both = {
        a for (a, _), (b, _) in product(keys(screen), keys(pane)) if a == b
    } - first  # which are the screen's anyway
    assert both - SHADOWED.get((screen, pane), set()) == set()


@pytest.mark.parametrize("screen", SCREENS)
def test_the_app_s_keys_are_its_own(screen):
    assert {key for key, _ in keys(screen)} & {key for key, _ in keys(S2App)} == set()
