"""A real browser without a window, told what to do over its debugging protocol. Skips without Chromium."""

import json
import shutil
import subprocess
import time
from contextlib import contextmanager
from urllib.request import urlopen

import pytest
from websockets.sync.client import connect

COMMANDS = ("chromium", "chromium-browser", "google-chrome")


class Page:
    def __init__(self, socket):
        self._socket, self._number = socket, 0

    def run(self, script):
        """-> the value of the expression, awaited if it is a promise."""
        self._number += 1
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        self._socket.send(json.dumps({"id": self._number, "method": "Runtime.evaluate", "params": asked}))
        while (answer := json.loads(self._socket.recv(20))).get("id") != self._number:
            pass
        assert "exceptionDetails" not in answer["result"], answer["result"]
        return answer["result"]["result"].get("value")

    def until(self, script, seconds=30):
        """Wait for the expression to be true -> its value"""
        deadline = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < deadline, script
            time.sleep(0.1)
        return value


@contextmanager
def browser(url, folder):
    """The page at `url`; `folder` is the browser's own."""
    command = next(filter(None, map(shutil.which, COMMANDS)), None)
    if command is None:
        pytest.skip("no Chromium is installed")
    process = subprocess.Popen(
        [
            command,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--autoplay-policy=no-user-gesture-required",
            "--remote-debugging-port=0",
            f"--user-data-dir={folder}",
            url,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with connect(_page_address(folder / "DevToolsActivePort", url), open_timeout=20, max_size=None) as socket:
            page = Page(socket)
            page.until("document.readyState === 'complete' && location.protocol === 'http:'")
            yield page
    finally:
        process.kill()
        process.wait(10)


def _page_address(port_file, url):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if port_file.exists() and (lines := port_file.read_text().splitlines()):
            with urlopen(f"http://127.0.0.1:{lines[0]}/json", timeout=10) as answer:
                for target in json.load(answer):
                    if target["type"] == "page" and target["url"].startswith(url):
                        return target["webSocketDebuggerUrl"]
        time.sleep(0.1)
    pytest.fail("the browser did not open the page")
