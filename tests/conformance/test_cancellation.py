# SPDX-License-Identifier: Apache-2.0
"""Clients that go away while their requests wait in the queue: the requests are never executed."""

import json
import socket
import time
from contextlib import ExitStack

import grpc_raw
import pytest
import raw_http
from raw_http import Wire, head
from test_resilience import reset
from test_statistics import counted, counts
from tritonclient.grpc import service_pb2_grpc

MODEL = "given_up"  # one instance; an execution takes 400 ms
BODY = json.dumps({"inputs": [raw_http.tensor("INPUT0", "INT32", [4], [1, 2, 3, 4])]}).encode()
REQUEST = head("POST", raw_http.infer_path(MODEL), f"Content-Length: {len(BODY)}") + BODY


def waiting(server) -> int:
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    (value,) = [line.split()[-1] for line in page.splitlines()
                if line.startswith("nv_inference_pending_request_count")
                and f'model="{MODEL}"' in line]
    return int(value)


def wait_for(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def over_http(leave):
    def ask_and_leave(server, when):
        wire = Wire(server)
        wire.send(REQUEST)
        when()
        leave(wire)
    return ask_and_leave


def message():
    return grpc_raw.infer_request(MODEL, [grpc_raw.tensor("INPUT0", "INT32", [4])], [bytes(16)])


def over_grpc(server, when):
    with grpc_raw.channel(server) as channel:
        call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(message())
        when()
        call.cancel()


def over_a_stream(server, when):
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([message()]))
        when()
        call.cancel()


def with_a_lost_connection(server, when):
    with grpc_raw.channel(server) as channel:
        call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(message())
        when()
    assert call.code().name == "CANCELLED"  # not earlier, because grpcio cancels a call without references


# A closed connection looks like that of a client that has only finished sending. The server checks
# this after three seconds; until then other requests are in front.
LONG = 14
# As long as a loaded machine may take to cancel a call: 2 s.
SOME = 5


@pytest.mark.parametrize("ask_and_leave,others", [
    pytest.param(over_http(lambda wire: wire.close()), LONG, id="http-close"),
    pytest.param(over_http(reset), SOME, id="http-reset"),
    pytest.param(over_grpc, SOME, id="grpc-cancel"),
    pytest.param(over_a_stream, SOME, id="stream-cancel"),
    pytest.param(with_a_lost_connection, SOME, id="grpc-lost"),
])
def test_what_nobody_waits_for_is_not_executed(server, transports, ask_and_leave, others):
    client = transports["http"]
    before = counted(client, MODEL)

    def finished():
        now = counts(counted(client, MODEL))
        return sum(now[kind] - counts(before)[kind] for kind in ("success", "fail"))

    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(server, 30)) for _ in range(others)]
        for wire in wires:
            wire.send(REQUEST)
        wait_for(lambda: finished() + waiting(server) == others - 1)  # one is being executed
        ask_and_leave(server, lambda: wait_for(lambda: finished() + waiting(server) == others))
        for wire in wires:
            assert wire.read().json["outputs"][0]["data"] == [1, 2, 3, 4]

    wait_for(lambda: finished() == others + 1)
    after = counted(client, MODEL)
    assert after["execution_count"] - before["execution_count"] == others
    assert counts(after)["fail"] - counts(before)["fail"] == 1


def test_a_client_that_has_finished_sending_gets_its_answer(server):
    """The server cannot distinguish this client from one that has closed the connection, and must
    answer."""
    with Wire(server) as wire:
        wire.send(REQUEST)
        wire.socket.shutdown(socket.SHUT_WR)
        assert wire.read().json["outputs"][0]["data"] == [1, 2, 3, 4]
        assert wire.closed_by_peer()
