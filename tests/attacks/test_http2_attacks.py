# SPDX-License-Identifier: Apache-2.0
"""Attacks on HTTP/2 itself, byte by byte: on the gRPC port, and on the HTTP port with REST."""

import itertools
import json
import struct
import time
from dataclasses import dataclass

import h2_wire
import pytest
from conftest import push, write_victims
from h2_attacks import SECONDS, call_frames, drain, ended, plain_head, push_for, small_infer, \
    streams
from h2_wire import CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, INFER_PATH, PING, \
    SETTINGS, WINDOW_UPDATE, frame


@dataclass(frozen=True)
class Front:
    """A port that speaks HTTP/2, and a valid request to it."""
    port: str
    path: str
    message: bytes

    def wire(self, server, preface=h2_wire.PREFACE + frame(SETTINGS, 0, 0)):
        return h2_wire.Wire(server, preface, port=getattr(server, self.port))

    def head(self, extra=b"") -> bytes:
        return plain_head(self.path, extra)

    def call(self, stream, flags=END_HEADERS, extra=b"") -> bytes:
        return call_frames(stream, self.path, flags, extra)


REST = Front("http_port", "/v2/models/plain/infer", json.dumps(
    {"inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [1], "data": [7]}]}).encode())
GRPC = Front("grpc_port", INFER_PATH, small_infer())


@pytest.fixture(params=[GRPC, REST], ids=["grpc", "rest"])
def front(request):
    return request.param


def test_such_requests_are_answered(server, front):
    """The frames of which the attacks below consist are valid."""
    with front.wire(server) as wire:
        wire.send(front.call(1) + frame(DATA, END_STREAM, 1, front.message))
        fields, _ = wire.call_result(1)
        assert fields[":status"] == "200", fields
        assert fields.get("grpc-status", "0") == "0", fields


# ---- Memory ----


def test_refused_streams_without_reading(server, attack, front):
    """A client that neither reads nor acknowledges SETTINGS opens streams endlessly."""
    numbers = streams()
    blocks = (b"".join(front.call(next(numbers)) for _ in range(500))
              for _ in itertools.count())
    with attack(server, peak_mib=200, worst_ms=1500):
        with front.wire(server) as wire:
            push_for(wire, blocks, 2 * SECONDS)


# ---- Work that costs the client nothing ----


def test_ping_flood(server, attack, front):
    pings = frame(PING, 0, 0, b"12345678") * 1000
    with attack(server, peak_mib=160, worst_ms=1500), front.wire(server) as wire:
        push_for(wire, iter(lambda: pings, None))
        assert ended(wire)


def test_settings_flood(server, attack, front):
    """Each must be acknowledged; the acknowledgements are not read."""
    block = frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535)) * 1000
    with attack(server, peak_mib=160, worst_ms=1500), front.wire(server) as wire:
        push_for(wire, itertools.repeat(block))


def test_continuation_flood(server, attack, front):
    """CVE-2024-27316: a head that never ends, of frames with headers and of empty ones."""
    parts = [b"\x00\x03x-a" + b"\x7f\x81\x1f" + b"v" * 4096, b""]  # a new header; nothing
    for part in parts:
        block = frame(CONTINUATION, 0, 1, part) * (100 if part else 1000)
        with attack(server, peak_mib=160, worst_ms=1500), front.wire(server) as wire:
            push(wire, frame(HEADERS, 0, 1, front.head()))
            sent = push_for(wire, itertools.repeat(block), 3 * SECONDS)
            assert ended(wire)
        assert sent < 1000


def test_window_stalling(server, attack, front):
    """The windows of all streams are closed, and are opened byte by byte."""
    no_window = h2_wire.PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
    message = front.message
    numbers = list(itertools.islice(streams(), 200))
    calls = b"".join(front.call(stream) + frame(DATA, END_STREAM, stream, message)
                     for stream in numbers)
    bytes_of_window = b"".join(frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 1))
                               for stream in numbers)
    with attack(server, peak_mib=160, worst_ms=1500), front.wire(server, no_window) as wire:
        push(wire, calls)

        def pump():
            while True:
                drain(wire)
                yield bytes_of_window
        push_for(wire, pump())


def test_rapid_reset(server, attack, front):
    numbers = streams()

    def blocks():
        while True:
            yield b"".join(
                front.call(stream) + frame(h2_wire.RST_STREAM, 0, stream, struct.pack(">I", 8))
                for stream in itertools.islice(numbers, 500))

    with attack(server, peak_mib=160, worst_ms=1500), front.wire(server) as wire:
        sent = push_for(wire, blocks(), 3 * SECONDS)
        assert ended(wire)
    assert sent * 500 < 50000


def test_made_you_reset(server, attack, front):
    """CVE-2025-8671: the client makes the server reset its streams."""
    numbers = streams()
    message = front.message

    def blocks():
        while True:
            yield b"".join(
                front.call(stream) + frame(DATA, END_STREAM, stream, message)
                + frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 0x7fffffff))
                for stream in itertools.islice(numbers, 200))

    with attack(server, peak_mib=160, worst_ms=1500), front.wire(server) as wire:
        def pump():
            for block in blocks():
                drain(wire)
                yield block
        sent = push_for(wire, pump(), 3 * SECONDS)
        assert ended(wire)
    assert sent * 200 < 100000


def test_repeated_header_references(server, attack, front):
    """Each byte of HPACK repeats a header of 3,900 bytes (grpc-accept-encoding) from the table."""
    value = b"gzip," * 780
    length = b"\x7f" + bytes([(len(value) - 127) & 0x7f | 0x80, (len(value) - 127) >> 7])
    name = b"grpc-accept-encoding"
    insert = b"\x40" + struct.pack("B", len(name)) + name + length + value
    reference = b"\xbe"  # the newest entry of the table
    first = frame(HEADERS, END_HEADERS | END_STREAM, 1, front.head(extra=insert))
    numbers = range(3, 1 << 30, 2)
    repeats = (frame(HEADERS, END_HEADERS | END_STREAM, stream,
                     front.head(extra=reference * 16000)) for stream in numbers)
    with attack(server, peak_mib=160, worst_ms=1500), front.wire(server) as wire:
        push(wire, first)

        def pump():
            for block in repeats:
                drain(wire)
                yield block
        push_for(wire, pump())
    # Few references each, so that no head is too large.
    with attack(server, peak_mib=160, worst_ms=1500), front.wire(server) as wire:
        push(wire, first)

        def pump_small():
            for stream in range(3, 1 << 30, 400):
                drain(wire)
                yield b"".join(frame(HEADERS, END_HEADERS | END_STREAM, number,
                                     front.head(extra=reference * 3))
                               for number in range(stream, stream + 400, 2))
        push_for(wire, pump_small())


# ---- REST alone ----


def content_length(size) -> bytes:
    text = str(size).encode()
    return b"\x0f\x0d" + struct.pack("B", len(text)) + text


def test_announced_bodies(server, attack):
    """Heads announce nearly 2 GiB, and only one byte follows each of them."""
    extra = content_length(2_000_000_000)
    with attack(server, peak_mib=160, worst_ms=1500):
        wires = [REST.wire(server) for _ in range(20)]
        for wire in wires:
            push(wire, b"".join(REST.call(stream, extra=extra) + frame(DATA, 0, stream, b"{")
                                for stream in range(1, 257, 2)))
        time.sleep(SECONDS / 2)
        for wire in wires:
            wire.socket.close()


def test_half_sent_bodies_within_the_budget(start_server, attack, test_plugins):
    """The bytes that arrive are limited for all connections together, and for each of them."""
    server = start_server("h2budget", write_victims(test_plugins),
                          "--max-request-memory=67108864")
    block = bytes(16384)
    with attack(server, peak_mib=200, worst_ms=1500, may_refuse="--max-request-memory"):
        wires = [REST.wire(server) for _ in range(16)]
        for wire in wires:
            for stream in (1, 3, 5, 7):
                push(wire, REST.call(stream))
                push_for(wire, (frame(DATA, 0, stream, block) for _ in range(128)), 2)
        for wire in wires:
            wire.socket.close()


def test_replies_that_nobody_reads(server, attack):
    """Large replies on all streams of many connections, without a window for them."""
    no_window = h2_wire.PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
    body = json.dumps({"inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [4000],
                                   "data": [7] * 4000}]}).encode()
    with attack(server, peak_mib=300, worst_ms=1500):
        wires = [REST.wire(server, no_window) for _ in range(10)]
        for wire in wires:
            push(wire, b"".join(REST.call(stream) + frame(DATA, END_STREAM, stream, body)
                                for stream in range(1, 257, 2)))
        time.sleep(SECONDS)
        for wire in wires:
            wire.socket.close()


@pytest.mark.parametrize("is_whole", [False, True])
def test_half_prefaces(server, attack, is_whole):
    """Connections that may become either protocol, and never do."""
    with attack(server, peak_mib=160, worst_ms=1500):
        part = h2_wire.PREFACE if is_whole else h2_wire.PREFACE[:20]
        wires = [REST.wire(server, part) for _ in range(500)]
        for wire in wires:
            wire.socket.close()
