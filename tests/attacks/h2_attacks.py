# SPDX-License-Identifier: Apache-2.0
"""What attacks over HTTP/2 are made of."""

import itertools
import struct
import time

import h2_wire
from conftest import push
from h2_wire import END_HEADERS, HEADERS, INFER_PATH, frame

SECONDS = 1.0  # duration of endless attacks


def push_for(wire, blocks, seconds=SECONDS, patience=0.5):
    """Sends one block after the other until the time is over, or until the server has read nothing
    for `patience` seconds. Returns the number of complete blocks."""
    wire.socket.settimeout(patience)
    end = time.monotonic() + seconds
    sent = 0
    for block in blocks:
        if time.monotonic() > end or not push(wire, block):
            break
        sent += 1
    wire.socket.settimeout(5)
    return sent


def drain(wire):
    """Reads and discards the bytes that have arrived."""
    wire.socket.setblocking(False)
    try:
        while wire.socket.recv(1 << 20):
            pass
    except (BlockingIOError, ConnectionResetError):
        pass
    finally:
        wire.socket.settimeout(5)


def ended(wire) -> bool:
    """Returns whether the server closes the connection. (The reason may have been drained.)"""
    wire.socket.settimeout(10)
    try:
        while wire.socket.recv(1 << 16):
            pass
        return True
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def plain_head(path=INFER_PATH, extra=b"") -> bytes:
    """Returns the header block of a call, in HPACK without a dynamic table."""
    def text(data):
        return struct.pack("B", len(data)) + data  # below 127 bytes
    return (b"\x83\x86\x01" + text(b"test") + b"\x04" + text(path.encode())  # POST, http, …
            + b"\x0f\x10" + text(b"application/grpc") + extra)  # content-type


def call_frames(stream, path=INFER_PATH, flags=END_HEADERS, extra=b"") -> bytes:
    return frame(HEADERS, flags, stream, plain_head(path, extra))


def streams():
    return itertools.count(1, 2)


def field(number, data) -> bytes:
    """Returns a length-delimited field of protobuf, below 128 bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def small_infer(model="plain") -> bytes:
    tensor = field(1, b"INPUT0") + field(2, b"INT32") + field(3, b"\x01")
    return h2_wire.message(field(1, model.encode()) + field(5, tensor) + field(7, b"\7\0\0\0"))
