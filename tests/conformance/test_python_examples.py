# SPDX-License-Identifier: Apache-2.0
"""Models that do what the examples of Triton's documentation of Python models do."""

import grpc_raw
import numpy as np
import pytest
from python_server import metrics, texts, wait_for_log

MODELS = ["example_add_sub", "example_bls_sync", "example_bls_async", "example_square",
          "example_repeat", "example_bls_decoupled", "example_strings", "example_parameters",
          "example_generate", "completed", "meter"]

A = np.array([1, 2.5, 3, 4], np.float32)
B = np.array([10, 20, 30, 40], np.float32)


def two(client):
    return [client.input("A", A), client.input("B", B)]


def responses(server, model, **tensors):
    """Returns the outputs of each response of a stream that has outputs."""
    datatypes = {"int32": "INT32", "uint32": "UINT32"}
    request = grpc_raw.infer_request(
        model, [grpc_raw.tensor(name, datatypes[array.dtype.name], array.shape)
                for name, array in tensors.items()],
        [array.tobytes() for array in tensors.values()])
    replies = grpc_raw.stream(server, [request], timeout=60)
    assert [r.error_message for r in replies if r.error_message] == []
    return [{o.name: int(np.frombuffer(raw, np.int32)[0]) for o, raw in zip(
        r.infer_response.outputs, r.infer_response.raw_output_contents)}
        for r in replies if r.infer_response.outputs]


def test_add_sub(python_client, python):
    answer = python_client.infer("example_add_sub", two(python_client))
    assert answer.array("SUM").tolist() == (A + B).tolist()
    assert answer.array("SUM").dtype == np.float32
    assert answer.array("DIFFERENCE").tolist() == (A - B).astype(np.int32).tolist()
    assert answer.array("DIFFERENCE").dtype == np.int32
    wait_for_log(python, "add_sub is initialized")


def test_auto_complete(python_client):
    answer = python_client.infer("completed", [python_client.input(
        "IN", np.array([[1, 2, 3], [4, 5, 6]], np.int32))])
    assert answer.array("SUM").tolist() == [[6], [15]]


def test_bls_sync(python_client):
    answer = python_client.infer("example_bls_sync", [
        *two(python_client), python_client.input("MODEL", texts("example_add_sub"))])
    assert answer.array("SUM").tolist() == (A + B).tolist()
    status, text = python_client.error(python_client.infer, "example_bls_sync", [
        *two(python_client), python_client.input("MODEL", texts("absent"))])
    assert status in (500, "INTERNAL") and "Model 'absent' is not ready" in text


def test_bls_async(python_client):
    answer = python_client.infer("example_bls_async", two(python_client))
    assert answer.array("SUM").tolist() == (A + B).tolist()
    assert answer.array("DIFFERENCE").tolist() == (B - A).astype(np.int32).tolist()


@pytest.mark.parametrize("n", [0, 1, 4, 8])
def test_square(python, n):
    assert responses(python, "example_square", IN=np.array([n], np.int32)) == [{"OUT": n}] * n


def test_repeat(python):
    assert responses(python, "example_repeat", IN=np.array([4, 2, 0, 1], np.int32),
                     DELAY=np.array([1, 2, 3, 4], np.uint32)) == [
        {"OUT": 4, "INDEX": 0}, {"OUT": 2, "INDEX": 1}, {"OUT": 0, "INDEX": 2},
        {"OUT": 1, "INDEX": 3}]


@pytest.mark.parametrize("n", [0, 1, 8])
def test_bls_decoupled(python_client, n):
    answer = python_client.infer("example_bls_decoupled", [python_client.input(
        "IN", np.array([n], np.int32))])
    assert answer.array("SUM").tolist() == [n * n]


def test_strings(python_client):
    answer = python_client.infer("example_strings", [python_client.input(
        "TEXT", texts("Grüße an die Welt", "die große Welt", "x").reshape(3, 1))])
    assert answer.array("IDS").tolist() == [[2, 3, 4, 5], [4, 1, 5, 0], [1, 0, 0, 0]]
    assert answer.array("UPPER")[0, 0].decode() == "GRÜSSE AN DIE WELT"


def test_response_parameters(python_client):
    answer = python_client.infer("example_parameters", [python_client.input(
        "PARAMETERS", texts('{"string": "this", "number": 0, "flag": true}'))])
    assert answer.array("OUT")[0].startswith(b'{"string"')
    if python_client.protocol == "http":
        told = answer.header["parameters"]
        assert (told["string"], told["number"], told["flag"]) == ("this", 0, True)


@pytest.mark.parametrize("n", [1, 5])
def test_generate(python, n):
    """Rescheduling: one response for each execution."""
    assert responses(python, "example_generate", IN=np.array([[n]], np.int32)) == [
        {"OUT": i} for i in reversed(range(n))]


def test_custom_metrics(python_client, python):
    labels = '{model="meter",place="küche"}'
    before = metrics(python).get(f"meter_total{labels}", 0)
    python_client.infer("meter", [python_client.input("IN", np.array([2.5]))])
    assert metrics(python)[f"meter_total{labels}"] == before + 2.5
