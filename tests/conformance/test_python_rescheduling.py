# SPDX-License-Identifier: Apache-2.0
"""Python models that execute a request again and again (iterative sequences)."""

import concurrent.futures

import grpc_raw
import numpy as np
import pytest
from python_server import texts

MODELS = ["again", "again_decoupled", "returns"]


def count(client, model, rounds):
    return client.infer(model, [client.input("ROUNDS", np.array([[rounds]], np.int32))])


@pytest.mark.parametrize("rounds", [1, 2, 10])
def test_a_request_is_executed_again(python_client, rounds):
    assert count(python_client, "again", rounds).array("OUT").tolist() == [[rounds]]


def test_many_requests_are_executed_again(python_grpc):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda n: count(python_grpc, "again", n).array("OUT")[0, 0],
                           range(1, 17))
        assert list(answers) == list(range(1, 17))


def test_a_response_in_each_round(python):
    replies = grpc_raw.stream(python, [grpc_raw.infer_request(
        "again_decoupled", [grpc_raw.tensor("ROUNDS", "INT32", [1, 1])],
        [np.array([[4]], np.int32).tobytes()])], timeout=30)
    assert [int(np.frombuffer(raw, np.int32)[0]) for r in replies
            for raw in r.infer_response.raw_output_contents] == [1, 2, 3, 4]


def test_a_rescheduled_request_has_no_response(python_client):
    status, text = python_client.error(count, python_client, "again", -1)
    assert status in (500, "INTERNAL")
    assert ("Expected a None object in the execute function return list for reschduled request, "
            "found type '") in text
    assert count(python_client, "again", 2).array("OUT").tolist() == [[2]]


def test_a_model_without_sequences(python_client):
    """A model without iterative sequences cannot have a request again; the client hears so."""
    status, text = python_client.error(
        python_client.infer, "returns", [python_client.input("CODE", texts("""
request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
return [None]"""))])
    assert status in (500, 400, 501, "INTERNAL", "INVALID_ARGUMENT", "UNIMPLEMENTED"), text
    answer = python_client.infer("returns", [python_client.input(
        "CODE", texts("return [answer(1)]"))])
    assert answer.array("OUT").tolist() == [1]
