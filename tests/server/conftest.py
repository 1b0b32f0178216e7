"""A server with a fake model on a free port of this machine."""

import numpy as np
import pytest

from s2mlx.files import folders
from s2mlx.results import STOP
from s2mlx.server.access import Access
from s2mlx.server.listener import Server
from s2mlx.server.service import Service
from s2mlx.voices import Voice, VoiceLibrary

from ..fakes import BOOKS, FakeSynthesizer
from .client import Client


@pytest.fixture
def tts():
    return FakeSynthesizer(frames=4, sayings=[(1, STOP)])


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "assets_dir", lambda: None)
    library = VoiceLibrary(tmp_path / "voices")
    library.add("anna", Voice(np.ones((BOOKS, 3), np.int32), "Anna's words."))
    return library


@pytest.fixture
def start(tts, library):
    """start(key=..., origins=..., wyoming=..., announce=..., demo=..., **options of Service) -> a running Server with
    its `service`, and lists of what it told: `log_lines` and `faults`."""
    running = []

    def start(key=None, origins=(), wyoming=False, announce=False, demo=False, **options):
        log, faults = [], []
        also = ("127.0.0.1", 0) if wyoming else None
        server = Server("127.0.0.1", 0, wyoming=also, announce=announce, demo=demo, log=log.append, fault=faults.append)
        server.log_lines, server.faults = log, faults
        server.service = Service(tts, "fake", also=("Fake S2",), library=library, log=log.append, **options)
        server.start(server.service, Access(key, origins))
        running.append(server)
        return server

    yield start
    tts.gate.open()
    for server in running:
        server.stop()
        assert not server.faults


@pytest.fixture
def server(start):
    return start()


@pytest.fixture
def connect():
    """connect(server) -> Client, closed after the test."""
    clients = []

    def connect(server):
        clients.append(Client(server.address))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


@pytest.fixture
def client(server, connect):
    return connect(server)
