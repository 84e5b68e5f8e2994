# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 by hand: valid frames by the package h2, invalid ones byte by byte."""

import socket
import struct

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, \
    CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1

PROTOCOL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, FRAME_SIZE_ERROR, COMPRESSION_ERROR = (
    0x1, 0x3, 0x5, 0x6, 0x9)

INFER_PATH = "/inference.GRPCInferenceService/ModelInfer"


def frame(kind, flags, stream, payload=b"", length=None) -> bytes:
    """Returns one frame. A `length` that differs from the payload's makes an invalid frame."""
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def message(data: bytes, compressed=0, length=None) -> bytes:
    """Returns a gRPC message: flag, length, bytes."""
    return struct.pack(">BI", compressed, len(data) if length is None else length) + data


class Wire:
    """One connection to the gRPC port, or another, by default with the preface already exchanged."""

    def __init__(self, server, preface=PREFACE + frame(SETTINGS, 0, 0), port=None):
        self.socket = socket.create_connection(("127.0.0.1", port or server.grpc_port), timeout=5)
        if getattr(server, "tls", None):
            self.socket = server.tls.wrap_socket(self.socket, server_hostname="localhost")
        self.buffer = b""
        self.encoder = hpack.Encoder()
        self.decoder = hpack.Decoder()
        self.send(preface)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data: bytes):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has closed the connection; its earlier frames can still be read

    def request(self, stream, path=INFER_PATH, method="POST", end=False, **headers):
        """Returns the HEADERS frame of a gRPC call. A header with the value None is omitted."""
        fields = {":method": method, ":scheme": "http", ":path": path, ":authority": "test",
                  "content-type": "application/grpc", "te": "trailers"}
        fields.update({k.replace("_", "-"): v for k, v in headers.items()})
        block = self.encoder.encode([(k, v) for k, v in fields.items() if v is not None])
        self.send(frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block))

    def data(self, stream, payload, end=True):
        self.send(frame(DATA, END_STREAM if end else 0, stream, payload))

    def _bytes(self, count) -> bytes:
        while len(self.buffer) < count:
            try:
                more = self.socket.recv(65536)
            except ConnectionResetError:
                more = b""
            except TimeoutError:
                raise AssertionError("no frame came, and the connection stays open") from None
            if not more:
                raise EOFError
            self.buffer += more
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def read(self):
        """Reads the next frame and returns (kind, flags, stream, payload). Raises EOFError if the
        server closed the connection."""
        head = self._bytes(9)
        size = int.from_bytes(head[:3], "big")
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:9], "big")
        if kind == DATA and size:  # returns the bytes to the connection's flow-control window
            self.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", size)))
        return kind, flags, stream, self._bytes(size)

    def read_until(self, wanted, stream=None):
        """Returns the payload of the next frame of a kind (on a stream) and skips other frames."""
        while True:
            kind, _, number, payload = self.read()
            if kind in (HEADERS,) and (kind != wanted or number != stream):
                self.decoder.decode(payload)
            if kind == wanted and stream in (None, number):
                return payload

    def call_result(self, stream):
        """Reads a call to its end. Returns (all headers merged, message bytes)."""
        fields, body = {}, b""
        while True:
            kind, flags, number, payload = self.read()
            if kind == HEADERS:
                decoded = dict(self.decoder.decode(payload))
                if number == stream:
                    fields.update(decoded)
            elif kind == DATA and number == stream:
                body += payload
            elif kind == RST_STREAM and number == stream:
                return {"reset": int.from_bytes(payload, "big")}, body
            elif kind == GOAWAY:
                return {"goaway": int.from_bytes(payload[4:8], "big")}, body
            if number == stream and kind in (HEADERS, DATA) and flags & END_STREAM:
                return fields, body

    def connection_error(self):
        """Returns the code of the required GOAWAY, or "closed" if the server only closed the
        connection."""
        try:
            return int.from_bytes(self.read_until(GOAWAY)[4:8], "big")
        except EOFError:
            return "closed"

    def stream_or_connection_error(self, stream):
        """Returns the code of the required RST_STREAM or GOAWAY, or "closed"."""
        try:
            while True:
                kind, _, number, payload = self.read()
                if kind == RST_STREAM and number == stream:
                    return int.from_bytes(payload, "big")
                if kind == GOAWAY:
                    return int.from_bytes(payload[4:8], "big")
        except EOFError:
            return "closed"
