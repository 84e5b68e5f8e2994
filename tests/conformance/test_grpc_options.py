# SPDX-License-Identifier: Apache-2.0
"""The flags of gRPC that other files do not test: their effect on a whole server."""

import re
from pathlib import Path

import grpc_raw
import h2_wire
import models
import numpy as np
import pytest
from h2_wire import ACK, GOAWAY, PING, SETTINGS, frame, message
from tritonclient.grpc import service_pb2 as pb

TEXT = b"many equal words " * 200
STREAM = "/inference.GRPCInferenceService/ModelStreamInfer"


def write(root):
    models.Repository(root).identity("plain", [("BYTES", [-1])])


@pytest.fixture(scope="module")
def changed(start_server):
    return start_server("grpc_options", write, "--grpc-infer-thread-count=3",
                        "--grpc-infer-response-compression-level=high",
                        "--grpc-keepalive-time=200", "--grpc-http2-max-ping-strikes=0",
                        "--grpc-http2-max-pings-without-data=2")


@pytest.fixture(scope="module")
def usual(start_server):
    return start_server("grpc_defaults", write)


def connect(server):
    wire = h2_wire.Wire(server)
    wire.send(frame(SETTINGS, ACK, 0))
    return wire


def answer(server, **headers):
    """Returns the headers and the bytes of the response to an inference."""
    raw = len(TEXT).to_bytes(4, "little") + TEXT
    request = grpc_raw.infer_request("plain", [grpc_raw.tensor("INPUT0", "BYTES", [1])], [raw])
    with connect(server) as wire:
        wire.request(1, **headers)
        wire.data(1, message(request.SerializeToString()))
        return wire.call_result(1)


def test_responses_are_compressed_for_clients_that_accept_it(changed, usual):
    fields, body = answer(changed, grpc_accept_encoding="identity,deflate,gzip")
    assert fields["grpc-encoding"] == "gzip"
    assert body[0] == 1 and len(body) < len(TEXT) / 2
    for server, headers in ((changed, {}), (usual, {"grpc_accept_encoding": "gzip"})):
        fields, body = answer(server, **headers)
        assert "grpc-encoding" not in fields and body[0] == 0
        response = pb.ModelInferResponse.FromString(body[5:])
        assert response.raw_output_contents[0][4:] == TEXT


def loops(server):
    names = Path(f"/proc/{server.process.pid}/task").glob("*/comm")
    return sum(bool(re.fullmatch(r"grpc-\d+\n", name.read_text())) for name in names)


def test_the_number_of_threads(changed):
    assert loops(changed) == 3


def test_a_connection_with_a_call_is_asked_only_so_often(changed):
    with connect(changed) as wire:
        wire.request(1, path=STREAM)
        for _ in range(2):
            wire.send(frame(PING, ACK, 0, wire.read_until(PING)))
        wire.socket.settimeout(1.0)  # five times the interval
        with pytest.raises(AssertionError, match="no frame came"):
            wire.read_until(PING)


def test_a_connection_without_calls_is_not_asked(changed):
    with connect(changed) as wire:
        wire.socket.settimeout(1.0)
        with pytest.raises(AssertionError, match="no frame came"):
            wire.read_until(PING)


def test_without_strikes_any_number_of_pings_is_answered(changed):
    with connect(changed) as wire:
        for number in range(50):
            wire.send(frame(PING, 0, 0, number.to_bytes(8, "big")))
            kind = None
            while kind != PING:
                kind, flags, _, payload = wire.read()
                assert kind != GOAWAY
            assert flags & ACK and payload == number.to_bytes(8, "big")


def test_calls_may_finish_in_the_grace_of_an_old_connection(start_server):
    server = start_server("grpc_grace", write, "--grpc-max-connection-age=300",
                          "--grpc-max-connection-age-grace=20000")
    with connect(server) as wire:
        wire.request(1, path=STREAM)
        assert int.from_bytes(wire.read_until(GOAWAY)[4:8], "big") == 0
        raw = len(TEXT).to_bytes(4, "little") + TEXT
        request = grpc_raw.infer_request("plain", [grpc_raw.tensor("INPUT0", "BYTES", [1])], [raw])
        wire.data(1, message(request.SerializeToString()))
        fields, body = wire.call_result(1)
        assert fields["grpc-status"] == "0"
        assert TEXT in body


def test_the_number_of_waiting_responses_does_not_lose_any(start_server):
    server = start_server("grpc_pool", write, "--grpc-max-response-pool-size=1")
    requests = [grpc_raw.infer_request("plain", [grpc_raw.tensor("INPUT0", "BYTES", [1])],
                                       [(4).to_bytes(4, "little") + np.int32(i).tobytes()])
                for i in range(50)]
    responses = grpc_raw.stream(server, requests)
    assert [r.infer_response.raw_output_contents[0][4:] for r in responses] == [
        np.int32(i).tobytes() for i in range(50)]
    assert all(not r.error_message for r in responses)
