# SPDX-License-Identifier: Apache-2.0
"""Deadlines of clients: gRPC's deadline, and the headers for it over HTTP."""

import json

import grpc_raw
import pytest
import raw_http
from models import type_model
from raw_http import Wire, head
from test_statistics import counted, counts, wait_for_counts

SLOW = {"inputs": [raw_http.tensor("INPUT0", "INT32", [4], [1, 2, 3, 4])]}
BODY = json.dumps(SLOW).encode()
TOO_LATE = "the deadline of the request has passed"


def slow_request():
    return grpc_raw.infer_request("slow", [grpc_raw.tensor("INPUT0", "INT32", [4])], [bytes(16)])


@pytest.mark.parametrize("header", ["Grpc-Timeout: 50m", "grpc-timeout: 50000u",
                                    "X-Envoy-Expected-Rq-Timeout-Ms: 50",
                                    "grpc-timeout: 0n"])
def test_deadline_over_http(server, header):
    """The model needs 400 ms. The answer arrives earlier, and the connection stays usable."""
    with Wire(server) as wire:
        wire.send(head("POST", raw_http.infer_path("slow"), header,
                       f"Content-Length: {len(BODY)}") + BODY)
        answer = wire.read()
        assert (answer.status, answer.error) == (504, TOO_LATE)
        wire.send(head("GET", "/v2/health/live"))
        assert wire.read().status == 200


@pytest.mark.parametrize("header", ["Grpc-Timeout: 1M", "X-Envoy-Expected-Rq-Timeout-Ms: 60000"])
def test_answers_in_time_over_http(server, header):
    name, value = header.split(": ")
    answer = raw_http.infer(server, "slow", SLOW, headers={name: value})
    assert answer.json["outputs"][0]["data"] == [1, 2, 3, 4]


@pytest.mark.parametrize("name,value,expected", [
    ("grpc-timeout", "50", "up to 8 digits and a unit of H, M, S, m, u or n"),
    ("grpc-timeout", "-1m", "up to 8 digits and a unit of H, M, S, m, u or n"),
    ("x-envoy-expected-rq-timeout-ms", "50ms", "a number of milliseconds"),
    ("x-envoy-expected-rq-timeout-ms", "", "a number of milliseconds"),
])
def test_malformed_header(server, name, value, expected):
    answer = raw_http.infer(server, type_model("INT32", False), {
        "inputs": [raw_http.tensor("INPUT0", "INT32", [1], [1])]}, headers={name.title(): value})
    assert (answer.status, answer.error) == (
        400, f"the header '{name}' has the value '{value}', expected {expected}")


def test_deadline_over_grpc(server):
    code, _ = grpc_raw.failure(server, "ModelInfer", slow_request(), timeout=0.05)
    assert code == "DEADLINE_EXCEEDED"
    assert grpc_raw.call(server, "ModelInfer", slow_request(), timeout=60).outputs[0].shape == [4]


def test_what_is_cancelled_is_counted(server, transports):
    """The model learns that the client does not wait any more: a cancelled execution is not a
    success."""
    client = transports["http"]
    before = counts(counted(client, "given_up"))
    answer = raw_http.infer(server, "given_up", SLOW, headers={"Grpc-Timeout": "50m"})
    assert answer.status == 504
    raw_http.infer(server, "given_up", SLOW)
    after = counts(wait_for_counts(client, "given_up", before["success"] + 1))
    assert after["success"] - before["success"] == 1
    assert after["fail"] - before["fail"] == 1
