"""`s2mlx download` against a stand-in for the Hub: files land in the shared cache, refusals are one line."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMIT = "c" * 40
REPOSITORIES = {
    "some/one-gguf": {"model.gguf": b"GGUF one", "tokenizer.json": b"{}", "sample.wav": b"RIFF"},
    "some/two-ggufs": {"a.gguf": b"GGUF a", "b.gguf": b"GGUF b"},
    "some/in-parts": {"m-00001-of-00002.gguf": b"GGUF 1", "m-00002-of-00002.gguf": b"GGUF 2", "tokenizer.json": b"{}"},
    "some/stalls": {"config.json": b"{}"},
    "some/checkpoint": {"config.json": b"{}", "model.safetensors": b"weights", "a.wav": b"RIFF", "LICENSE.md": b""},
}


stalled = threading.Event()


class Hub(BaseHTTPRequestHandler):
    """The few answers of the Hub that a download needs."""

    def do_HEAD(self):
        self._answer(body=False)

    def do_GET(self):
        self._answer(body=True)

    def _answer(self, body):
        parts = self.path.split("?")[0].strip("/").split("/")
        name = "/".join(parts[2:4] if parts[:2] == ["api", "models"] else parts[:2])
        if name == "some/gated":
            return self._send(403, b"", body, {"X-Error-Code": "GatedRepo"})
        files = REPOSITORIES.get(name)
        if files is None:
            return self._send(404, b"", body, {"X-Error-Code": "RepoNotFound"})
        if name == "some/stalls" and "revision" in parts or "tree" in parts and name == "some/stalls":
            return stalled.wait(20)
        if parts[0] == "api" and "tree" in parts:
            tree = [{"type": "file", "path": f, "size": len(data), "oid": "0" * 40} for f, data in files.items()]
            return self._send(200, json.dumps(tree).encode(), body, {"Content-Type": "application/json"})
        if parts[0] == "api":
            siblings = [{"rfilename": f, "size": len(data)} for f, data in files.items()]
            listing = {"id": name, "sha": COMMIT, "siblings": siblings, "private": False, "tags": []}
            return self._send(200, json.dumps(listing).encode(), body, {"Content-Type": "application/json"})
        data = files.get("/".join(parts[4:]))
        if data is None:
            return self._send(404, b"", body, {"X-Error-Code": "EntryNotFound"})
        return self._send(200, data, body, {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT})

    def _send(self, code, data, body, headers):
        self.send_response(code)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def hub():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    stalled.set()
    server.shutdown()


@pytest.fixture
def download(hub, tmp_path):
    """The command in a process of its own: huggingface_hub reads its settings when it is imported."""

    def invoke(*argv, endpoint=hub, code=None, **environment):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
        env |= {
            "HF_ENDPOINT": endpoint,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "*",
            **environment,
        }
        return subprocess.run(
            [sys.executable, *(["-c", code] if code else ["-m", "s2mlx"]), *argv],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return invoke


def test_a_file_and_its_tokenizer(download, tmp_path):
    done = download("download", "some/one-gguf")
    assert done.returncode == 0 and done.stderr == "note: downloading some/one-gguf:model.gguf (8 B) ...\n"
    path = Path(done.stdout.strip())
    assert path.read_bytes() == b"GGUF one" and (path.parent / "tokenizer.json").read_bytes() == b"{}"
    assert tmp_path / "hf" in path.parents and not (path.parent / "sample.wav").exists()
    offline = download("download", "some/one-gguf:model.gguf", HF_HUB_OFFLINE="1")
    assert offline.returncode == 0 and offline.stdout == done.stdout
    # the name then finds it: what fails is that these eight bytes are no model
    used = download("info", "some/one-gguf:model.gguf")
    assert used.returncode == 1 and "model.gguf" in used.stderr and "not on this machine" not in used.stderr


def test_one_of_several(download):
    done = download("download", "some/two-ggufs")
    assert done.returncode == 2 and "some/two-ggufs:a.gguf, some/two-ggufs:b.gguf" in done.stderr and done.stdout == ""
    done = download("download", "some/two-ggufs:b.gguf")
    assert Path(done.stdout.strip()).read_bytes() == b"GGUF b"
    assert "warning: some/two-ggufs has no tokenizer.json" in done.stderr


def test_a_model_in_parts_comes_whole(download):
    """However it is named, and `info` then finds it as one model."""
    done = download("download", "some/in-parts")
    assert done.returncode == 0 and "m-00001-of-00002.gguf (12 B)" in done.stderr
    path = Path(done.stdout.strip())
    assert sorted(p.name for p in path.parent.glob("*.gguf")) == ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"]
    used = download("info", "some/in-parts")
    assert used.returncode == 1 and "m-00001-of-00002.gguf" in used.stderr and "several" not in used.stderr


def test_a_checkpoint_folder_without_its_samples(download):
    folder = Path(download("download", "some/checkpoint").stdout.strip())
    assert sorted(p.name for p in folder.iterdir()) == ["LICENSE.md", "config.json", "model.safetensors"]


@pytest.mark.parametrize(
    "name, code, words",
    [
        ("some/nothing", 1, "no repository some/nothing"),
        ("some/gated", 1, "accept its terms"),
        ("some/one-gguf:other.gguf", 1, "it has model.gguf"),
        ("not a name", 2, "known name"),
        ("some/../etc", 2, "known name"),
    ],
)
def test_refusals_are_one_line(download, name, code, words):
    done = download("download", name)
    assert done.returncode == code and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1 and words in done.stderr


def test_a_hub_that_never_answers(download):
    """It accepts and is silent: the download ends all the same, also where the list of files came."""
    code = (
        "import sys; import s2mlx.weights.fetch as f; from s2mlx.cli import main; f.PATIENCE = 0.5; "
        "sys.exit(main.main())"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = download("download", "some/one-gguf", endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}", code=code)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ") and "did not answer" in done.stderr
    done = download("download", "some/stalls", code=code)
    assert done.returncode == 1 and "the hub cannot be reached" in done.stderr


def test_no_network(download):
    done = download("download", "some/one-gguf:model.gguf", HF_HUB_OFFLINE="1")
    assert done.returncode == 1 and "not in the cache" in done.stderr and done.stderr.count("\n") == 1
    done = download("download", "some/one-gguf", endpoint="http://127.0.0.1:9")
    assert done.returncode == 1 and done.stderr.startswith("error: cannot reach http://127.0.0.1:9")
    assert done.stderr.count("\n") == 1


def test_a_program_follows_a_download_and_ends_it(download):
    """What the app draws: bytes there of bytes in all; what the listener raises ends the download."""
    code = """if True:
        from s2mlx.weights import fetch_model

        class Told:
            asks = lambda self, repository: print("asks", repository)
            begins = lambda self, what, nbytes: print("begins", what, nbytes)
            warns = lambda self, line: print("warns")

        seen = []
        path = fetch_model("some/in-parts", Told(), lambda done, total: seen.append((done, total)))
        print(path.name, seen[-1], all(total == 12 for _, total in seen))

        def enough(done, total):
            raise KeyboardInterrupt

        try:
            fetch_model("some/checkpoint", Told(), enough)
        except KeyboardInterrupt:
            print("ended")
    """
    done = download(code=code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "asks some/in-parts",
        "begins some/in-parts:m-00001-of-00002.gguf 12",
        "m-00001-of-00002.gguf (12, 12) True",
        "asks some/checkpoint",
        "begins some/checkpoint 9",
        "ended",
    ]
