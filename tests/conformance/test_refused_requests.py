# SPDX-License-Identifier: Apache-2.0
"""Requests that are refused before they are in a queue are counted by front end, status and reason."""

import re

import grpc
import grpc_raw
import models
import pytest
import raw_http
from tritonclient.grpc import service_pb2_grpc

FAMILY = "nereid_requests_refused_total"
LINE = re.compile(FAMILY + r'{frontend="([^"]*)",reason="([^"]*)",status="([^"]*)"} (\d+)')
GOOD = {"inputs": [raw_http.tensor("INPUT0", "INT32", [2], [1, -2])]}


def write(root):
    models.Repository(root).identity("fixed", [("INT32", [2])])


@pytest.fixture(scope="module")
def refusing(start_server, is_peer):
    if is_peer:
        pytest.skip("a metric of Nereid")
    return start_server("refusing", write)


def counts(server):
    text = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    return {(front_end, reason, status): int(value)
            for front_end, reason, status, value in LINE.findall(text)}


def more(server, before):
    after = counts(server)
    return {key: after[key] - before.get(key, 0) for key in after
            if after[key] != before.get(key, 0)}


def infer(server, document, model="fixed"):
    return raw_http.infer(server, model, document).status


def test_the_usual_series_exist_before_the_first_refusal(refusing):
    assert set(counts(refusing)) >= {
        ("http", "malformed", "400"), ("http", "invalid", "400"),
        ("http", "unknown_model", "404"), ("http", "unavailable", "503"),
        ("grpc", "malformed", "3"), ("grpc", "invalid", "3"), ("grpc", "unknown_model", "5"),
        ("grpc", "unavailable", "14")}


def test_an_answered_request_is_not_refused(refusing):
    before = counts(refusing)
    assert infer(refusing, GOOD) == 200
    grpc_raw.call(refusing, "ServerLive")
    assert raw_http.get(refusing, "/v2/models/absent").status == 404  # no inference
    assert more(refusing, before) == {}


@pytest.mark.parametrize("reason,document,model", [
    ("malformed", "{", "fixed"),
    ("malformed", '{"inputs": 1}', "fixed"),
    ("malformed", {"inputs": [raw_http.tensor("INPUT0", "INT32", [2], ["x", 1])]}, "fixed"),
    ("invalid", {"inputs": [raw_http.tensor("INPUT0", "INT32", [3], [1, 2, 3])]}, "fixed"),
    ("invalid", {"inputs": [raw_http.tensor("OTHER", "INT32", [2], [1, 2])]}, "fixed"),
    ("unknown_model", GOOD, "absent"),
    ("unknown_model", GOOD, "fixed/versions/7"),
    ("unknown_model", GOOD, "fixed/versions/canary")])
def test_refusals_over_http(refusing, reason, document, model):
    before = counts(refusing)
    status = infer(refusing, document, model)
    assert status >= 400
    assert more(refusing, before) == {("http", reason, str(status)): 1}


def test_refusals_of_generate(refusing):
    before = counts(refusing)
    for path, body in (("fixed/generate", "{"), ("absent/generate_stream", "{}")):
        assert raw_http.request(refusing, "POST", f"/v2/models/{path}", body).status >= 400
    assert sum(more(refusing, before).values()) == 2


def request(shape, model="fixed", raw=b"\0" * 8, name="INPUT0"):
    return grpc_raw.infer_request(model, [grpc_raw.tensor(name, "INT32", shape)], [raw])


@pytest.mark.parametrize("reason,message", [
    ("invalid", request([3], raw=b"\0" * 12)),
    ("invalid", request([2], name="OTHER")),
    ("malformed", grpc_raw.infer_request("fixed", [grpc_raw.tensor("INPUT0", "INT32", [2])],
                                         [b"\0" * 8], parameters={"priority": "high"})),
    ("unknown_model", request([2], model="absent"))],
    ids=["shape", "input", "malformed", "unknown"])
def test_refusals_over_grpc(refusing, reason, message):
    before = counts(refusing)
    with grpc_raw.channel(refusing) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        with pytest.raises(grpc.RpcError) as refused:
            stub.ModelInfer(message, timeout=60)
        code = str(refused.value.code().value[0])
        assert more(refusing, before) == {("grpc", reason, code): 1}
        # Each request of a stream counts.
        (answer,) = stub.ModelStreamInfer(iter([message]), timeout=60)
        assert answer.error_message
        assert more(refusing, before) == {("grpc", reason, code): 2}
