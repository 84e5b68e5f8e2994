# SPDX-License-Identifier: Apache-2.0
"""What load balancers need: the sequence id in a header or in metadata (--sequence-id-header), and the
name of the server in its answers (--replica-name)."""

import json

import grpc
import grpc_raw
import http2_client
import pytest
import raw_http
import rollout_models
from sequences import CONTROLS, batching
from tritonclient.grpc import service_pb2_grpc

MODEL = "sums"
HEADER = "X-Sequence-Id"
REPLICA = "x-nereid-replica"


def write(plugins):
    """A model that adds up a sequence and does not ask for its id, which may be a number or a text."""
    def write_model(root):
        controls = "".join(CONTROLS[name] for name in ("START", "READY", "END"))
        strategy = "oldest { max_candidate_sequences: 64 }"
        rollout_models.add(root, MODEL, "sequence",
                           rollout_models.SUMS + batching(strategy, controls=controls),
                           plugins / "libtriton_sequence.so", (1,))
    return write_model


@pytest.fixture(scope="module")
def replica(start_server, is_peer, test_plugins):
    if is_peer:
        pytest.skip("Triton reads sequence ids from the body only")
    return start_server("replicas", write(test_plugins), f"--sequence-id-header={HEADER}",
                        "--replica-name=one:8000")


@pytest.fixture(scope="module")
def plain(start_server, is_peer, test_plugins):
    if is_peer:
        pytest.skip("Triton has no such flags")
    return start_server("plain", write(test_plugins))


def step(server, value, headers=None, **parameters):
    """Sends one request of a sequence and returns the response."""
    body = {"parameters": parameters, "inputs": [raw_http.tensor("INPUT", "INT32", [1], [value])]}
    return raw_http.infer(server, MODEL, body, headers=headers)


def total(response):
    assert response.status == 200, response.body
    return response.json["outputs"][0]["data"][0]


@pytest.mark.parametrize("sequence", ["17", "user-17", "18446744073709551615"])
def test_http(replica, sequence):
    headers = {HEADER.lower(): sequence}
    assert total(step(replica, 5, headers, sequence_start=True)) == 5
    assert total(step(replica, 6, headers)) == 11
    assert total(step(replica, 7, {HEADER: sequence}, sequence_end=True)) == 18


def test_the_body_counts(replica):
    assert total(step(replica, 1, sequence_id=101, sequence_start=True)) == 1
    assert total(step(replica, 2, {HEADER: "routing-key"}, sequence_id=101)) == 3
    assert total(step(replica, 3, {HEADER: "101"}, sequence_end=True)) == 6


def test_without_a_header_or_with_a_useless_one(replica):
    for headers in (None, {HEADER: ""}, {HEADER: "0"}):
        answer = step(replica, 1, headers, sequence_start=True)
        assert answer.status == 400
        assert "must specify a non-zero or non-empty correlation ID" in answer.error


def test_a_text_that_is_too_long(replica):
    assert step(replica, 1, {HEADER: "a" * 129}, sequence_start=True).status != 200
    assert total(step(replica, 1, {HEADER: "a" * 128}, sequence_start=True, sequence_end=True)) == 1


def test_several_headers_are_refused(replica):
    body = json.dumps({"inputs": [raw_http.tensor("INPUT", "INT32", [1], [1])]}).encode()
    with raw_http.Wire(replica) as wire:
        wire.send(raw_http.head("POST", raw_http.infer_path(MODEL), f"{HEADER}: 1", f"{HEADER}: 2",
                                f"Content-Length: {len(body)}") + body)
        answer = wire.read()
    assert answer.status == 400
    assert answer.error == (f"the request has several headers '{HEADER}', which names its "
                            "sequence: send one")


def test_the_header_means_nothing_without_the_flag(plain):
    answer = step(plain, 1, {HEADER: "7"}, sequence_start=True)
    assert answer.status == 400
    assert REPLICA not in answer.headers


@pytest.fixture
def stub(replica):
    with grpc.insecure_channel(replica.grpc) as channel:
        yield service_pb2_grpc.GRPCInferenceServiceStub(channel)


def message(value, **parameters):
    return grpc_raw.infer_request(MODEL, [grpc_raw.tensor("INPUT", "INT32", [1])],
                                  [value.to_bytes(4, "little")], parameters=parameters)


def sum_of(response):
    return int.from_bytes(response.raw_output_contents[0], "little")


@pytest.mark.parametrize("sequence", ["27", "user-27"])
def test_grpc(stub, sequence):
    metadata = [(HEADER.lower(), sequence)]
    assert sum_of(stub.ModelInfer(message(5, sequence_start=True), metadata=metadata)) == 5
    assert sum_of(stub.ModelInfer(message(6), metadata=metadata)) == 11
    assert sum_of(stub.ModelInfer(message(7, sequence_end=True), metadata=metadata)) == 18


def test_grpc_streams(stub):
    requests = [message(1, sequence_start=True), message(2), message(3, sequence_end=True)]
    answers = list(stub.ModelStreamInfer(iter(requests), metadata=[(HEADER.lower(), "37")]))
    assert [a.error_message for a in answers] == [""] * 3
    assert [sum_of(a.infer_response) for a in answers] == [1, 3, 6]


def test_http_and_grpc_mean_the_same_sequence(replica, stub):
    assert total(step(replica, 5, {HEADER: "47"}, sequence_start=True)) == 5
    metadata = [(HEADER.lower(), "47")]
    assert sum_of(stub.ModelInfer(message(6, sequence_end=True), metadata=metadata)) == 11


def test_every_answer_has_the_name(replica, stub):
    for path in ("/v2", "/v2/health/ready", "/v2/models/absent", "/nowhere"):
        assert raw_http.get(replica, path).headers[REPLICA] == "one:8000", path
    assert step(replica, 1, {HEADER: "57"}, sequence_start=True,
                sequence_end=True).headers[REPLICA] == "one:8000"
    for request, metadata in ((message(1), []), (message(1, sequence_start=True, sequence_end=True),
                                                 [(HEADER.lower(), "67")])):
        call = stub.ModelInfer.future(request, metadata=metadata)
        call.exception()
        # The metadata of a failed call that has no message comes with its status.
        seen = dict([*call.initial_metadata(), *call.trailing_metadata()])
        assert seen[REPLICA] == "one:8000"


def test_every_answer_of_http2_has_the_name(replica):
    with http2_client.Http2Client(replica) as client:
        answer = client.request("GET", "/v2")
    assert dict(answer.headers)[REPLICA] == "one:8000"


def test_other_servers_are_anonymous(plain):
    assert REPLICA not in raw_http.get(plain, "/v2").headers
    with grpc.insecure_channel(plain.grpc) as channel:
        call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(
            message(1, sequence_id=1, sequence_start=True, sequence_end=True))
        call.result()
        assert REPLICA not in dict(call.initial_metadata())
