"""A client that sends exactly the bytes it is told to."""

import json
import socket


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
    """A connection. Everything it waits for it waits for a minute at most."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, 60)
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
