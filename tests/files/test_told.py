"""What a person is told once."""

import pytest

from s2mlx.files import first_time, state_dir


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_once_for_each_note():
    assert first_time("a") and not first_time("a") and first_time("b")


def test_each_time_where_nothing_can_be_kept(state):
    state.mkdir()
    state_dir().write_bytes(b"in the way")
    assert first_time("a") and first_time("a")
