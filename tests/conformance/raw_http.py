# SPDX-License-Identifier: Apache-2.0
"""HTTP by hand: requests that no official client sends, and the bytes of the responses."""

import http.client
import json
import socket
import struct
from dataclasses import dataclass, field

HEADER_LENGTH = "Inference-Header-Content-Length"


@dataclass
class Response:
    status: int
    reason: str = ""
    headers: dict = field(default_factory=dict)  # names in lower case
    body: bytes = b""

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """Returns the text of the error body, which must contain nothing else."""
        value = json.loads(self.body)
        assert list(value) == ["error"], value
        return value["error"]

    def parts(self):
        """Returns the JSON part and the binary part of an inference response."""
        length = self.headers.get(HEADER_LENGTH.lower())
        if length is None:
            return json.loads(self.body), b""
        return json.loads(self.body[:int(length)]), self.body[int(length):]


def request(server, method, path, body=None, headers=None, port=None) -> Response:
    """Sends one request on its own connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port or server.http_port, timeout=60)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        names = {k.lower(): v for k, v in answer.getheaders()}
        return Response(answer.status, answer.reason, names, answer.read())
    finally:
        connection.close()


def get(server, path, **kwargs) -> Response:
    return request(server, "GET", path, **kwargs)


def infer_path(model, version=None) -> str:
    return f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + "/infer"


def infer(server, model, document, binary=b"", headers=None, version=None) -> Response:
    """Sends a POST infer. `document` is JSON data, or a text or bytes that are sent unchanged."""
    if isinstance(document, str):
        document = document.encode()
    elif not isinstance(document, bytes):
        document = json.dumps(document).encode()
    names = {"Content-Type": "application/json"}
    if binary:
        names = {"Content-Type": "application/octet-stream", HEADER_LENGTH: str(len(document))}
    names.update(headers or {})
    return request(server, "POST", infer_path(model, version), document + binary, names)


def tensor(name, datatype, shape, data=None, **parameters):
    """Returns one entry of `inputs`, without a data member if `data` is None."""
    value = {"name": name, "datatype": datatype, "shape": list(shape)}
    if data is not None:
        value["data"] = data
    if parameters:
        value["parameters"] = parameters
    return value


def elements(*values) -> bytes:
    """Returns BYTES elements in the form of the wire."""
    return b"".join(struct.pack("<I", len(v)) + v for v in values)


class Wire:
    """One TCP connection to the HTTP port, to send and read any bytes."""

    def __init__(self, server, timeout=10):
        self.socket = socket.create_connection(("127.0.0.1", server.http_port), timeout=timeout)
        if getattr(server, "tls", None):
            self.socket = server.tls.wrap_socket(self.socket, server_hostname="localhost")
        self.buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data.encode() if isinstance(data, str) else data)

    def _more(self) -> bool:
        data = self.socket.recv(65536)
        self.buffer += data
        return bool(data)

    def closed_by_peer(self) -> bool:
        """Waits until the server sends bytes or closes the connection. Returns whether it closed.
        """
        try:
            return not self._more()
        except ConnectionResetError:
            return True

    def read_head(self) -> Response:
        """Reads the head of the next response."""
        while b"\r\n\r\n" not in self.buffer:
            assert self._more(), f"connection closed before an answer: {bytes(self.buffer)!r}"
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split()[1])
        headers = {k.strip().lower(): v.strip()
                   for k, v in (line.split(":", 1) for line in lines[1:])}
        return Response(status, lines[0].split(" ", 2)[-1], headers)

    def _take(self, length) -> bytes:
        while len(self.buffer) < length:
            assert self._more(), "connection closed inside a body"
        body = bytes(self.buffer[:length])
        del self.buffer[:length]
        return body

    def read(self) -> Response:
        """Reads the next response, which must have Content-Length."""
        answer = self.read_head()
        length = answer.headers.get("content-length", 0)
        answer.body = b"" if answer.status < 200 else self._take(int(length))
        return answer

    def read_chunk(self) -> bytes:
        """Reads the next chunk of a body; empty for the last one."""
        while b"\r\n" not in self.buffer:
            assert self._more(), "connection closed inside a body"
        size, self.buffer = self.buffer.split(b"\r\n", 1)
        chunk = self._take(int(size, 16) + 2)
        assert chunk.endswith(b"\r\n")
        return chunk[:-2]

    def read_chunked(self) -> Response:
        """Reads the next response, which must be chunked."""
        answer = self.read_head()
        assert answer.headers["transfer-encoding"] == "chunked"
        chunks = []
        while chunk := self.read_chunk():
            chunks.append(chunk)
        answer.body = b"".join(chunks)
        return answer


def head(method, path, *headers) -> bytes:
    """Returns a request head with Host and the final empty line."""
    return ("\r\n".join([f"{method} {path} HTTP/1.1", "Host: test", *headers, "", ""])).encode()
