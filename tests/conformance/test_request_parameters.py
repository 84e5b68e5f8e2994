# SPDX-License-Identifier: Apache-2.0
"""The parameters priority and timeout with every value that a client can send: the accepted values,
and the errors for the others."""

import grpc_raw
import numpy as np
import pytest
import raw_http
from models import type_model
from tritonclient.grpc import service_pb2 as pb

MODEL = type_model("INT32", False)
KEYS = ["priority", "timeout"]


def over_http(server, key, text):
    return raw_http.infer(server, MODEL, (
        '{"parameters":{"%s":%s},"inputs":[{"name":"INPUT0","datatype":"INT32","shape":[1],'
        '"data":[5]}]}' % (key, text)))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("text", ["0", "-0", "1", "9223372036854775807", "9223372036854775808",
                                  "18446744073709551615"])
def test_taken_over_http(server, key, text):
    assert over_http(server, key, text).json["outputs"][0]["data"] == [5]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("text", ["-1", "-9223372036854775808", "18446744073709551616", "1.0",
                                  "1.5", "1e3", "true", '"5"', '""', "[1]", "{}"])
def test_refused_over_http(server, key, text):
    answer = over_http(server, key, text)
    assert (answer.status, answer.error) == (
        400, f"Unable to parse '{key}': attempt to access JSON non-unsigned-integer as "
             "unsigned-integer")


def message(key, value):
    return grpc_raw.infer_request(MODEL, [grpc_raw.tensor("INPUT0", "INT32", [1])],
                                  [b"\5\0\0\0"], parameters={key: value})


@pytest.mark.parametrize("key,value", [
    ("priority", 0), ("priority", 2**63 - 1),
    ("priority", pb.InferParameter(uint64_param=2**64 - 1)),
    ("timeout", 0), ("timeout", 2**63 - 1),
], ids=str)
def test_taken_over_grpc(server, key, value):
    answer = grpc_raw.call(server, "ModelInfer", message(key, value))
    assert answer.raw_output_contents[0] == b"\5\0\0\0"


def test_an_unsigned_timeout_over_grpc(server):
    answer = grpc_raw.call(server, "ModelInfer",
                           message("timeout", pb.InferParameter(uint64_param=2**64 - 1)))
    assert answer.raw_output_contents[0] == b"\5\0\0\0"


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["5", 1.5, True, pb.InferParameter()],
                         ids=["string", "double", "bool", "unset"])
def test_refused_over_grpc(server, key, value):
    assert grpc_raw.failure(server, "ModelInfer", message(key, value)) == (
        "INVALID_ARGUMENT",
        f"invalid value type for '{key}' parameter, expected int64_param or uint64_param.")


@pytest.mark.parametrize("key", KEYS)
def test_negative_numbers_over_grpc(server, key):
    assert grpc_raw.failure(server, "ModelInfer", message(key, -1)) == (
        "INVALID_ARGUMENT", f"invalid value for '{key}', expected value >= 0.")


@pytest.mark.parametrize("key", KEYS)
def test_refused_on_a_stream(server, key):
    refused, answered = grpc_raw.stream(server, [message(key, "5"), message(key, 5)])
    assert refused.error_message == (
        f"invalid value type for '{key}' parameter, expected int64_param or uint64_param.")
    assert answered.infer_response.raw_output_contents[0] == b"\5\0\0\0"


@pytest.mark.parametrize("values", [
    dict(priority=0), dict(priority=1), dict(priority=2**64 - 1), dict(timeout=1),
    dict(timeout=2**62), dict(priority=3, timeout=1000000),
], ids=str)
def test_from_the_clients(client, values):
    """A model without a queue policy accepts all values and ignores them."""
    array = np.array([1, 2], np.int32)
    answer = client.infer(MODEL, [client.input("INPUT0", array)], **values)
    assert answer.array("OUTPUT0").tolist() == [1, 2]
