"""A synthesizer without a model, and a client that sends exactly the bytes it is told to."""

import json
import socket
import threading
import time

import numpy as np

from s2mlx.config import ModelConfig
from s2mlx.request.run import MOST_LEAD
from s2mlx.results import CANCELLED, STOP, Audio, AudioChunk, Stats
from s2mlx.text import estimate_seconds
from s2mlx.voices import Voice

RATE, FRAME, BOOKS = 44100, 2048, 10


class FakeSynthesizer:
    """Speaks `frames` frames of one value, one request at a time; each frame waits for `go`, as if it took its time,
    and for a listener far behind, and is followed by `pause` seconds of silence. `made`: how many there are so far.

    fail_at: frame that raises `failure`. `calls`: arguments of each stream; `cancelled`: texts that were cancelled.
    """

    name, path, sample_rate, num_codebooks, is_demo = "Fake S2", "/models/fake.gguf", RATE, BOOKS, False
    frame_samples = FRAME
    config = ModelConfig(name="Fake S2")

    def __init__(self, frames=4):
        self.frames, self.finish, self.fail_at, self.failure = frames, STOP, None, None
        self.go, self.calls, self.cancelled, self.said, self.cloned = threading.Event(), [], [], [], []
        self.clips, self.sayings, self.made, self.pause = [], [(1, STOP)], 0, 0
        self.go.set()
        self.waiting_at = 0  # frame that waits for `go`
        self._one = threading.Lock()

    def stream(self, text, *, voice=None, options=None, cancel=None, lead=None):
        chunks = self._chunks(text, options, cancel, lead, self.frames)
        self.calls.append({"text": text, "voice": voice, "options": options, "lead": lead})
        return chunks

    def say(self, text, *, voice=None, seed=None, max_frames=None, cancel=None):
        """What `sayings` holds, in turn: (times its words take, finish reason) or a fault; the codes are its number."""
        self.said.append(seed)
        saying = self.sayings[len(self.said) % len(self.sayings) - 1]
        if isinstance(saying, Exception):
            raise saying
        length, reason = saying
        frames = round(length * estimate_seconds(text) * RATE / FRAME)
        assert frames <= max_frames
        return Audio(np.zeros(frames * FRAME, np.float32), RATE, np.full((BOOKS, 9), len(self.said), np.int32), reason)

    def clone(self, clip, transcript, *, name="", cancel=None):
        self.cloned.append(name)
        self.clips.append(clip)
        return Voice(np.zeros((BOOKS, 5), np.int32), transcript, name=name)

    def warm_up(self):
        pass

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def _chunks(self, text, options, cancel, lead, frames):
        with self._one:
            for frame in range(frames):
                while frame >= self.waiting_at and not self.go.wait(0.002) or lead() > MOST_LEAD:
                    if cancel.is_set():
                        break
                    time.sleep(0.001)
                if cancel.is_set():
                    self.cancelled.append(text)
                    yield self._chunk(options, frame, 0, CANCELLED)
                    return
                if frame == self.fail_at:
                    raise self.failure
                self.made += 1
                yield self._chunk(options, frame + 1, 1, self.finish if frame == frames - 1 else None)
            if not frames:
                yield self._chunk(options, 0, 0, self.finish)

    def _chunk(self, options, made, frames, reason):
        seconds = made * FRAME / RATE
        stats = Stats(7 if options.seed is None else options.seed, made, seconds, seconds / 2, 0.02, 0.01, 30, 1000)
        samples = np.full(frames * FRAME, 0.25, np.float32)
        samples = np.append(samples, np.zeros(frames * self.pause * RATE, np.float32))
        return AudioChunk(samples, RATE, np.zeros((BOOKS, frames), np.int32), 0, 1, (0, 1), stats, reason)


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """Its message, after a look at the form."""
        error = self.json["error"]
        assert set(error) == {"message", "type", "param", "code"} and error["message"]
        return error["message"]


class Client:
    """A connection. Everything it waits for it waits for ten seconds at most."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, 10)
        self._file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._file.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def post(self, content, path="/v1/audio/speech", **fields):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        fields = {"Host": "localhost", "Content_Type": "application/json", "Content_Length": len(body), **fields}
        self.send(f"POST {path} HTTP/1.1\r\n{_lines(fields)}\r\n".encode() + body)
        return self

    def post_1_0(self, content):
        """As an old client, or a proxy, that knows no chunks."""
        body = json.dumps(content)
        self.send(
            "POST /v1/audio/speech HTTP/1.0\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        )
        return self

    def ask(self, path, method="GET", **fields):
        self.send(f"{method} {path} HTTP/1.1\r\n{_lines({'Host': 'localhost', **fields})}\r\n")
        return self.answer(method == "HEAD")

    def head(self):
        """(status, fields) of the next answer."""
        status = int(self._file.readline().split()[1])
        fields = {}
        while line := self._file.readline().rstrip(b"\r\n"):
            name, _, value = line.decode().partition(": ")
            fields[name.lower()] = value
        return status, fields

    def chunk(self):
        """The next one of a stream, empty at its end. A stream that breaks off is a ConnectionError."""
        line = self._file.readline()
        if not line:
            raise ConnectionError("the stream broke off")
        data = self._file.read(int(line, 16) + 2)
        assert data.endswith(b"\r\n")
        return data[:-2]

    def answer(self, only_head=False):
        status, fields = self.head()
        if only_head or status in (100, 204):
            return Answer(status, fields, b"")
        if fields.get("transfer-encoding") == "chunked":
            return Answer(status, fields, b"".join(iter(self.chunk, b"")))
        if "content-length" in fields:
            return Answer(status, fields, self._file.read(int(fields["content-length"])))
        return Answer(status, fields, self._file.read())

    def ended(self):
        """Has the server closed the connection, with nothing more to read?"""
        try:
            return self._file.read(1) == b""
        except ConnectionError:
            return True


def _lines(fields):
    return "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if value is not None)
