# SPDX-License-Identifier: Apache-2.0
"""Attacks on the gRPC front end, byte by byte. Those on HTTP/2 itself are in test_http2_attacks.py."""

import gzip
import struct
import time

import grpc_raw
import h2_wire
from conftest import memory_of, push, write_victims
from h2_attacks import SECONDS, call_frames, field, push_for, small_infer
from h2_wire import DATA, END_STREAM, INFER_PATH, SETTINGS, WINDOW_UPDATE, frame
from server_process import sanitized

STREAM_PATH = INFER_PATH.replace("ModelInfer", "ModelStreamInfer")
REFLECTION_PATH = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"


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
