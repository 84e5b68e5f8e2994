# SPDX-License-Identifier: Apache-2.0
"""Clients that go away, stall or misbehave: the other clients are served, and no resource is
leaked."""

import json
import os
import socket
import struct
import threading
import time
from pathlib import Path

import grpc_raw
import numpy as np
import pytest
import raw_http
from models import type_model
from raw_http import HEADER_LENGTH, Wire, head, infer, tensor

MODEL = type_model("INT32", False)
PATH = raw_http.infer_path(MODEL)
GOOD = {"inputs": [tensor("INPUT0", "INT32", [2], [1, 2])]}
BODY = json.dumps(GOOD).encode()


def serves(server):
    assert infer(server, MODEL, GOOD).json["outputs"][0]["data"] == [1, 2]


def reset(wire):
    """Closes the connection with RST, so that every later write of the server fails."""
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


WHOLE = head("POST", PATH, f"Content-Length: {len(BODY)}") + BODY


@pytest.mark.parametrize("cut", [1, 20, len(WHOLE) - len(BODY) - 2, len(WHOLE) - len(BODY) + 1,
                                 len(WHOLE) - 1])
@pytest.mark.parametrize("how", ["close", "reset"])
def test_client_goes_away_inside_a_request(server, cut, how):
    for _ in range(5):
        wire = Wire(server)
        wire.send(WHOLE[:cut])
        reset(wire) if how == "reset" else wire.close()
    serves(server)


@pytest.mark.parametrize("how", ["close", "reset"])
def test_client_goes_away_before_the_answer(server, how):
    body = json.dumps({"inputs": [tensor("INPUT0", "INT32", [4], [0] * 4)]}).encode()
    for _ in range(3):
        wire = Wire(server)
        wire.send(head("POST", raw_http.infer_path("slow"), f"Content-Length: {len(body)}") + body)
        reset(wire) if how == "reset" else wire.close()
    serves(server)


def test_client_goes_away_inside_a_large_answer(server):
    count = 1 << 20
    document = json.dumps({"inputs": [tensor("INPUT0", "INT32", [count],
                                             binary_data_size=4 * count)],
                           "parameters": {"binary_data_output": True}}).encode()
    for _ in range(3):
        wire = Wire(server)
        wire.send(head("POST", PATH, f"Content-Length: {len(document) + 4 * count}",
                       f"{HEADER_LENGTH}: {len(document)}") + document + bytes(4 * count))
        wire.socket.recv(1000)
        reset(wire)
    serves(server)


def test_half_closed_client_gets_its_answer(server):
    with Wire(server) as wire:
        wire.send(WHOLE)
        wire.socket.shutdown(socket.SHUT_WR)
        response = wire.read()
    assert response.json["outputs"][0]["data"] == [1, 2]


def test_stalled_clients_do_not_stop_the_others(server):
    """A hundred clients stop in the middle of a request; the next client is served."""
    stalled = [Wire(server) for _ in range(100)]
    for i, wire in enumerate(stalled):
        wire.send(WHOLE[:i % len(WHOLE)])
    serves(server)
    assert grpc_raw.call(server, "ServerLive").live
    for i, wire in enumerate(stalled):
        wire.send(WHOLE[i % len(WHOLE):])
    for wire in stalled:
        assert wire.read().status == 200
        wire.close()


def test_said_length_is_not_allocated(server):
    """An announced length of a terabyte costs the sender one line, and must not cost the server
    memory."""
    before = resident(server)
    wires = []
    for _ in range(20):
        wire = Wire(server)
        wire.send(head("POST", PATH, "Content-Length: 1000000000000") + b"{")
        wires.append(wire)
    serves(server)
    assert resident(server) - before < 200 << 20
    for wire in wires:
        wire.close()
    serves(server)


@pytest.mark.parametrize("length", ["99999999999999999999999", "18446744073709551616"])
def test_length_beyond_every_integer(server, length):
    with Wire(server) as wire:
        wire.send(head("POST", PATH, f"Content-Length: {length}") + b"{")
        wire.socket.shutdown(socket.SHUT_WR)
        if not wire.closed_by_peer():
            assert int(wire.buffer.split()[1]) >= 400
    serves(server)


def test_large_head_is_refused(server):
    with Wire(server) as wire:
        wire.send(b"GET /v2 HTTP/1.1\r\n")
        try:
            for _ in range(2000):
                wire.send(b"X-Filler: " + b"x" * 10000 + b"\r\n")
            wire.send(b"\r\n")
            if not wire.closed_by_peer():
                assert int(wire.buffer.split()[1]) >= 400
        except (BrokenPipeError, ConnectionResetError):
            pass
    serves(server)


def resident(server) -> int:
    """Returns the resident memory of the server in bytes."""
    pid = server.process.pid
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def open_files(server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def test_connections_are_given_back(server):
    serves(server)
    before = open_files(server)
    wires = [Wire(server) for _ in range(50)]
    for wire in wires:
        wire.send(WHOLE)
        assert wire.read().status == 200
    spare = 5  # connections of clients of other cases, whose number may change
    assert open_files(server) >= before + 50 - spare
    for wire in wires:
        wire.close()
    end = time.monotonic() + 10
    while open_files(server) > before + spare and time.monotonic() < end:
        time.sleep(0.02)
    assert open_files(server) <= before + spare


def test_memory_is_given_back(server):
    """After two hundred requests of one MiB, much less than 200 MiB is in use."""
    blob = bytes(1 << 20)
    document = {"inputs": [tensor("INPUT0", "INT32", [1 << 18], binary_data_size=1 << 20)],
                "parameters": {"binary_data_output": True}}
    for _ in range(20):
        infer(server, MODEL, document, blob)
    before = resident(server)
    for _ in range(200):
        assert infer(server, MODEL, document, blob).status == 200
    assert resident(server) - before < 64 << 20


def test_load_from_all_sides(server, transports):
    """Both protocols, valid and invalid requests, many threads: every client gets its own answers.
    """
    failures = []

    def over_http(seed):
        for i in range(25):
            value = seed * 1000 + i
            if i % 5 == 4:
                if infer(server, MODEL, "{").status != 400:
                    failures.append(("http error", value))
                continue
            answer = infer(server, MODEL, {"inputs": [tensor("INPUT0", "INT32", [1], [value])]})
            if answer.json["outputs"][0]["data"] != [value]:
                failures.append(("http", value, answer.body))

    def over_grpc(seed):
        for i in range(25):
            value = seed * 1000 + i
            request = grpc_raw.infer_request(
                MODEL, [grpc_raw.tensor("INPUT0", "INT32", [1], int_contents=[value])])
            raw = grpc_raw.call(server, "ModelInfer", request).raw_output_contents[0]
            if raw != np.array([value], np.int32).tobytes():
                failures.append(("grpc", value, raw))

    threads = [threading.Thread(target=f, args=(n,))
               for n in range(6) for f in (over_http, over_grpc)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
