# SPDX-License-Identifier: Apache-2.0
"""Attacks on the gRPC front end, byte by byte."""

import gzip
import itertools
import struct
import time

import grpc_raw
import h2_wire
from h2_wire import DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INFER_PATH, PING, SETTINGS, \
    WINDOW_UPDATE, frame

ENHANCE_YOUR_CALM = 0xb
STREAM_PATH = INFER_PATH.replace("ModelInfer", "ModelStreamInfer")
REFLECTION_PATH = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
SECONDS = 1.0  # of what goes on until it is stopped


def push(wire, data) -> bool:
    """Sends all of it; false where the server has hung up, or takes nothing any more."""
    try:
        wire.socket.sendall(data)
        return True
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        return False


def push_for(wire, blocks, seconds=SECONDS, patience=0.5):
    """Sends one block after the other until the time is over, or nothing more is taken for
    `patience` seconds. Gives how many were sent whole."""
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
    """Reads what is there already, and forgets it."""
    wire.socket.setblocking(False)
    try:
        while wire.socket.recv(1 << 20):
            pass
    except (BlockingIOError, ConnectionResetError):
        pass
    finally:
        wire.socket.settimeout(5)


def ended(wire) -> bool:
    """Whether the server ends the connection for its behaviour."""
    wire.socket.settimeout(5)
    return wire.connection_error() in (ENHANCE_YOUR_CALM, "closed")


def plain_head(path=INFER_PATH, extra=b"") -> bytes:
    """The header block of a call, in HPACK that needs and leaves no table."""
    def text(data):
        return struct.pack("B", len(data)) + data  # below 127 bytes
    return (b"\x83\x86\x04" + text(path.encode())  # POST, http, :path
            + b"\x0f\x10" + text(b"application/grpc") + extra)  # content-type


def call_frames(stream, path=INFER_PATH, flags=END_HEADERS, extra=b"") -> bytes:
    return frame(HEADERS, flags, stream, plain_head(path, extra))


def streams():
    return itertools.count(1, 2)


def field(number, data) -> bytes:
    """A length-delimited field of protobuf, below 128 bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def small_infer(model="plain") -> bytes:
    tensor = field(1, b"INPUT0") + field(2, b"INT32") + field(3, b"\x01")
    return h2_wire.message(field(1, model.encode()) + field(5, tensor) + field(7, b"\7\0\0\0"))


def test_announced_messages(server, attack):
    """Prefixes that announce 2 GiB: nothing comes behind them but a byte each."""
    prefix = struct.pack(">BI", 0, 0x7fffffff) + b"x"
    with attack(server, peak_mib=160, worst_ms=1500):
        wires = [h2_wire.Wire(server) for _ in range(4)]
        for wire in wires:
            for chunk in range(8):
                push(wire, b"".join(
                    call_frames(stream) + frame(DATA, 0, stream, prefix)
                    for stream in range(1 + chunk * 1000, 1 + (chunk + 1) * 1000, 2)))
        time.sleep(SECONDS / 2)
        for wire in wires:
            wire.socket.close()


def test_ping_flood(server, attack):
    pings = frame(PING, 0, 0, b"12345678") * 1000
    with attack(server, peak_mib=48, worst_ms=1500), h2_wire.Wire(server) as wire:
        push_for(wire, iter(lambda: pings, None))
        assert ended(wire)


def test_rapid_reset(server, attack):
    numbers = streams()

    def blocks():
        while True:
            yield b"".join(
                call_frames(stream) + frame(h2_wire.RST_STREAM, 0, stream, struct.pack(">I", 8))
                for stream in itertools.islice(numbers, 500))

    with attack(server, peak_mib=64, worst_ms=1500), h2_wire.Wire(server) as wire:
        sent = push_for(wire, blocks(), 3 * SECONDS)
        assert ended(wire)
    assert sent * 500 < 50000
