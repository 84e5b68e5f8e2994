# SPDX-License-Identifier: Apache-2.0
"""Attacks on the gRPC front end, byte by byte."""

import gzip
import itertools
import struct
import time

import grpc_raw
import h2_wire
from conftest import memory_of, push, write_victims
from h2_wire import CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, INFER_PATH, PING, \
    SETTINGS, WINDOW_UPDATE, frame
from server_process import sanitized

STREAM_PATH = INFER_PATH.replace("ModelInfer", "ModelStreamInfer")
REFLECTION_PATH = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
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


def test_such_calls_are_answered(server):
    """The frames of which the attacks below consist are valid."""
    with h2_wire.Wire(server) as wire:
        wire.send(call_frames(1) + frame(DATA, END_STREAM, 1, small_infer()))
        fields, _ = wire.call_result(1)
        assert fields.get("grpc-status") == "0", fields


# ---- Memory that is announced but not used ----


def test_announced_messages(server, attack):
    """Prefixes announce 2 GiB, and only one byte follows each of them."""
    prefix = struct.pack(">BI", 0, 0x7fffffff) + b"x"
    with attack(server, peak_mib=160, worst_ms=1500):
        wires = [h2_wire.Wire(server) for _ in range(4)]
        for wire in wires:
            for chunk in range(8):
                push(wire, b"".join(
                    call_frames(stream) + frame(DATA, 0, stream, prefix)
                    for stream in range(1 + chunk * 1000, 1 + (chunk + 1) * 1000, 2)))
        time.sleep(SECONDS / 2)
        if not sanitized(server):  # a sanitizer reserves terabytes itself
            assert memory_of(server, "VmSize") < 200 * 1024, "reserves what is only announced"
        for wire in wires:
            wire.socket.close()


def test_half_sent_messages_within_the_budget(start_server, attack, test_plugins):
    """The bytes that arrive are limited for all connections together."""
    server = start_server("budget", write_victims(test_plugins),
                          "--max-request-memory=67108864")
    begin = struct.pack(">BI", 0, 0x0fffffff)
    block = bytes(16384)
    with attack(server, peak_mib=200, worst_ms=1500, may_refuse="--max-request-memory"):
        wires = [h2_wire.Wire(server) for _ in range(16)]
        for wire in wires:
            push(wire, frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))
            for stream in (1, 3, 5, 7):
                push(wire, call_frames(stream) + frame(DATA, 0, stream, begin))
                push_for(wire, (frame(DATA, 0, stream, block) for _ in range(128)), 2)
        for wire in wires:
            wire.socket.close()


def test_decompression_bombs(server, attack):
    """Two megabytes are decompressed to two gigabytes, in many messages."""
    bomb = h2_wire.message(gzip.compress(bytes(100 << 20), 6), compressed=1)  # 100 KiB
    with attack(server, peak_mib=700, worst_ms=1500):
        with h2_wire.Wire(server) as wire:
            numbers = list(range(1, 41, 2))
            for stream in numbers:
                wire.request(stream, grpc_encoding="gzip")
                for at in range(0, len(bomb), 16384):
                    last = at + 16384 >= len(bomb)
                    push(wire, frame(DATA, END_STREAM if last else 0, stream,
                                     bomb[at:at + 16384]))
            fields, _ = wire.call_result(numbers[0])
            assert fields["grpc-status"] == "8", fields
            time.sleep(SECONDS)


def test_reflection_without_reading(server, attack):
    """Small requests with large responses, from a client that reads none of them."""
    question = h2_wire.message(field(4, b"inference.GRPCInferenceService"))
    no_window = h2_wire.PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
    with attack(server, peak_mib=160, worst_ms=1500):
        with h2_wire.Wire(server, preface=no_window) as wire:
            push_for(wire, (call_frames(stream, REFLECTION_PATH)
                            + frame(DATA, 0, stream, question * 500)
                            for stream in range(1, 1001, 2)), 2)
            time.sleep(SECONDS / 2)


def test_refused_streams_without_reading(server, attack):
    """A client that neither reads nor acknowledges SETTINGS opens streams endlessly."""
    numbers = streams()
    blocks = (b"".join(call_frames(next(numbers)) for _ in range(500))
              for _ in itertools.count())
    with attack(server, peak_mib=200, worst_ms=1500):
        with h2_wire.Wire(server) as wire:
            push_for(wire, blocks, 2 * SECONDS)


# ---- Work that costs the client nothing ----


def test_ping_flood(server, attack):
    pings = frame(PING, 0, 0, b"12345678") * 1000
    with attack(server, peak_mib=160, worst_ms=1500), h2_wire.Wire(server) as wire:
        push_for(wire, iter(lambda: pings, None))
        assert ended(wire)


def test_settings_flood(server, attack):
    """Each must be acknowledged; the acknowledgements are not read."""
    block = frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535)) * 1000
    with attack(server, peak_mib=160, worst_ms=1500), h2_wire.Wire(server) as wire:
        push_for(wire, itertools.repeat(block))


def test_continuation_flood(server, attack):
    """CVE-2024-27316: a head that never ends, of frames with headers and of empty ones."""
    parts = [b"\x00\x03x-a" + b"\x7f\x81\x1f" + b"v" * 4096, b""]  # a new header; nothing
    for part in parts:
        block = frame(CONTINUATION, 0, 1, part) * (100 if part else 1000)
        with attack(server, peak_mib=160, worst_ms=1500), h2_wire.Wire(server) as wire:
            push(wire, frame(HEADERS, 0, 1, plain_head()))
            sent = push_for(wire, itertools.repeat(block), 3 * SECONDS)
            assert ended(wire)
        assert sent < 1000


def test_window_stalling(server, attack):
    """The windows of all streams are closed, and are opened byte by byte."""
    no_window = h2_wire.PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
    message = small_infer()
    numbers = list(itertools.islice(streams(), 200))
    calls = b"".join(call_frames(stream) + frame(DATA, END_STREAM, stream, message)
                     for stream in numbers)
    bytes_of_window = b"".join(frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 1))
                               for stream in numbers)
    with attack(server, peak_mib=160, worst_ms=1500), h2_wire.Wire(server, no_window) as wire:
        push(wire, calls)

        def pump():
            while True:
                drain(wire)
                yield bytes_of_window
        push_for(wire, pump())


def test_rapid_reset(server, attack):
    numbers = streams()

    def blocks():
        while True:
            yield b"".join(
                call_frames(stream) + frame(h2_wire.RST_STREAM, 0, stream, struct.pack(">I", 8))
                for stream in itertools.islice(numbers, 500))

    with attack(server, peak_mib=160, worst_ms=1500), h2_wire.Wire(server) as wire:
        sent = push_for(wire, blocks(), 3 * SECONDS)
        assert ended(wire)
    assert sent * 500 < 50000


def test_made_you_reset(server, attack):
    """CVE-2025-8671: the client makes the server reset its streams."""
    numbers = streams()
    message = small_infer()

    def blocks():
        while True:
            yield b"".join(
                call_frames(stream) + frame(DATA, END_STREAM, stream, message)
                + frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 0x7fffffff))
                for stream in itertools.islice(numbers, 200))

    with attack(server, peak_mib=160, worst_ms=1500), h2_wire.Wire(server) as wire:
        def pump():
            for block in blocks():
                drain(wire)
                yield block
        sent = push_for(wire, pump(), 3 * SECONDS)
        assert ended(wire)
    assert sent * 200 < 100000


def test_repeated_header_references(server, attack):
    """Each byte of HPACK repeats a header of 3,900 bytes (grpc-accept-encoding) from the table."""
    value = b"gzip," * 780
    length = b"\x7f" + bytes([(len(value) - 127) & 0x7f | 0x80, (len(value) - 127) >> 7])
    name = b"grpc-accept-encoding"
    insert = b"\x40" + struct.pack("B", len(name)) + name + length + value
    reference = b"\xbe"  # the newest entry of the table
    first = frame(HEADERS, END_HEADERS | END_STREAM, 1, plain_head(extra=insert))
    numbers = range(3, 1 << 30, 2)
    repeats = (frame(HEADERS, END_HEADERS | END_STREAM, stream,
                     plain_head(extra=reference * 16000)) for stream in numbers)
    with attack(server, peak_mib=160, worst_ms=1500), h2_wire.Wire(server) as wire:
        push(wire, first)

        def pump():
            for block in repeats:
                drain(wire)
                yield block
        push_for(wire, pump())
    # Few references each, so that no head is too large.
    with attack(server, peak_mib=160, worst_ms=1500), h2_wire.Wire(server) as wire:
        push(wire, first)

        def pump_small():
            for stream in range(3, 1 << 30, 400):
                drain(wire)
                yield b"".join(frame(HEADERS, END_HEADERS | END_STREAM, number,
                                     plain_head(extra=reference * 3))
                               for number in range(stream, stream + 400, 2))
        push_for(wire, pump_small())


def test_long_contents(server, attack):
    """Typed contents and short strings that take long to decode and to check."""
    floats = grpc_raw.pb.ModelInferRequest(model_name="floats")
    tensor = floats.inputs.add(name="INPUT0", datatype="INT32", shape=[3 << 20])
    tensor.contents.int_contents.extend([-1] * (3 << 20))  # ten bytes each
    strings = grpc_raw.infer_request(
        "text", [grpc_raw.tensor("INPUT0", "BYTES", [4 << 20])], [bytes(16 << 20)])
    with attack(server, peak_mib=1200, worst_ms=1500):
        for _ in range(3):
            try:
                grpc_raw.call(server, "ModelInfer", floats)
            except grpc_raw.grpc.RpcError as error:
                assert error.code().name == "INVALID_ARGUMENT"
            grpc_raw.call(server, "ModelInfer", strings)


# ---- Clients that do not read ----


def test_stopped_readers_of_one_instance(server, attack):
    """Nobody reads the responses of ten streams; another client of the same instance is served."""
    no_window = h2_wire.PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
    request = grpc_raw.infer_request(
        "many", [grpc_raw.tensor("INPUT0", "UINT8", [4 << 20])], [bytes(4 << 20)],
        parameters={"fault": "inside", "count": 20}).SerializeToString()
    data = h2_wire.message(request)
    readers = 10
    with attack(server, peak_mib=readers * 90 + 200, worst_ms=1500):
        wires = [h2_wire.Wire(server, preface=no_window) for _ in range(readers)]
        for wire in wires:
            wire.request(1, STREAM_PATH)
            wire.socket.settimeout(0.5)
            wire.read_until(SETTINGS)
            for at in range(0, len(data), 16384):
                push(wire, frame(DATA, 0, 1, data[at:at + 16384]))
        begin = time.monotonic()
        small = grpc_raw.infer_request(
            "many", [grpc_raw.tensor("INPUT0", "UINT8", [1])], [b"x"],
            parameters={"fault": "inside", "count": 1})
        with grpc_raw.channel(server) as channel:
            stub = grpc_raw.service_pb2_grpc.GRPCInferenceServiceStub(channel)
            answers = list(stub.ModelStreamInfer(iter([small]), timeout=60))
        waited = time.monotonic() - begin
        assert not answers[0].error_message
        assert waited < 20, f"another client of the model waited {waited:.1f} s"
        for wire in wires:
            wire.socket.close()
