# SPDX-License-Identifier: Apache-2.0
"""The binary tensor data extension over HTTP: placement, choice of outputs, raw requests, lengths.
"""

import json
import struct

import pytest
import raw_http
from models import type_model
from raw_http import HEADER_LENGTH, elements, infer, tensor


def ints(*values) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


MIXED_BLOBS = (ints(1, 2), struct.pack("<2f", 0.5, 1.5), elements(b"x", b"yz"))


def mixed(outputs=None, **parameters):
    """Returns a request to `mixed` whose inputs are all binary."""
    inputs = [tensor("INPUT0", "INT32", [2], binary_data_size=8),
              tensor("INPUT1", "FP32", [2, 1], binary_data_size=8),
              tensor("INPUT2", "BYTES", [2], binary_data_size=11)]
    document = {"inputs": inputs}
    if outputs is not None:
        document["outputs"] = outputs
    if parameters:
        document["parameters"] = parameters
    return document


def forms(response):
    """Returns "binary" or "json" for each output, and checks the values."""
    header, binary = response.parts()
    expected = {"OUTPUT0": ([1, 2], MIXED_BLOBS[0]), "OUTPUT1": ([0.5, 1.5], MIXED_BLOBS[1]),
                "OUTPUT2": (["x", "yz"], MIXED_BLOBS[2])}
    found = {}
    for output in header["outputs"]:
        values, blob = expected[output["name"]]
        if "data" in output:
            assert output["data"] == values
            assert "parameters" not in output
            found[output["name"]] = "json"
        else:
            size = output["parameters"]["binary_data_size"]
            assert binary[:size] == blob
            binary = binary[size:]
            found[output["name"]] = "binary"
    assert binary == b""
    return found


BINARY, JSON = {"binary_data": True}, {"binary_data": False}


def named(name, parameters=None):
    return {"name": name} | ({"parameters": parameters} if parameters else {})


@pytest.mark.parametrize("outputs,request_wide,expected", [
    (None, None, "jjj"),
    (None, True, "bbb"),
    (None, False, "jjj"),
    ([], True, "bbb"),
    ([named("OUTPUT0", BINARY), named("OUTPUT1")], None, "bj"),
    ([named("OUTPUT0", BINARY), named("OUTPUT1")], False, "bj"),
    ([named("OUTPUT0"), named("OUTPUT2")], True, "b b"),
    ([named("OUTPUT0", JSON), named("OUTPUT1"), named("OUTPUT2", BINARY)], True, "jbb"),
    ([named("OUTPUT0", JSON)], True, "j"),
    ([named("OUTPUT1", JSON), named("OUTPUT2", JSON)], None, " jj"),
], ids=["default", "all", "all_false", "empty_list", "one_named", "one_named_false",
        "named_follow_request", "named_override_request", "named_false", "named_json"])
def test_output_form(server, outputs, request_wide, expected):
    parameters = {} if request_wide is None else {"binary_data_output": request_wide}
    response = infer(server, "mixed", mixed(outputs, **parameters), b"".join(MIXED_BLOBS))
    assert response.status == 200, response.body
    wanted = {f"OUTPUT{i}": {"b": "binary", "j": "json"}[c]
              for i, c in enumerate(expected) if c != " "}
    assert forms(response) == wanted
    binary = "b" in expected
    assert response.headers["content-type"] == (
        "application/octet-stream" if binary else "application/json")
    assert (HEADER_LENGTH.lower() in response.headers) is binary


def test_blobs_follow_the_order_of_the_inputs(server):
    document = mixed()
    document["inputs"].reverse()
    response = infer(server, "mixed", document, b"".join(reversed(MIXED_BLOBS)))
    assert forms(response) == {f"OUTPUT{i}": "json" for i in range(3)}


def test_json_input_between_binary_ones(server):
    document = mixed()
    document["inputs"][1] = tensor("INPUT1", "FP32", [2, 1], [[0.5], [1.5]])
    response = infer(server, "mixed", document, MIXED_BLOBS[0] + MIXED_BLOBS[2])
    assert forms(response) == {f"OUTPUT{i}": "json" for i in range(3)}


def test_empty_binary_input_and_output(server):
    document = {"inputs": [tensor("INPUT0", "INT32", [0], binary_data_size=0)],
                "parameters": {"binary_data_output": True}}
    body = json.dumps(document).encode()
    response = infer(server, type_model("INT32", False), body,
                     headers={HEADER_LENGTH: str(len(body))})
    assert response.status == 200, response.body
    output = json.loads(response.body)["outputs"][0]
    assert output["shape"] == [0]
    assert output["parameters"] == {"binary_data_size": 0}
    # There are no binary bytes, so the header with their position is omitted.
    assert response.headers["content-type"] == "application/json"
    assert HEADER_LENGTH.lower() not in response.headers


@pytest.mark.parametrize("length", ["len", "absent"])
def test_json_only_with_and_without_header_length(server, length):
    body = json.dumps({"inputs": [tensor("INPUT0", "INT32", [2], [1, 2])]}).encode()
    headers = {HEADER_LENGTH: str(len(body))} if length == "len" else {}
    response = infer(server, type_model("INT32", False), body, headers=headers)
    assert response.json["outputs"][0]["data"] == [1, 2]


# --- wrong lengths -----------------------------------------------------------------------------

ONE = {"inputs": [tensor("INPUT0", "INT32", [2], binary_data_size=8)]}
MODEL = type_model("INT32", False)


def test_missing_bytes(server):
    response = infer(server, MODEL, ONE, ints(1))
    assert response.status == 400
    assert response.error == ("unexpected size for input 'INPUT0', expecting 4 additional bytes "
                              f"for model '{MODEL}'")


def test_no_bytes_and_no_header(server):
    response = infer(server, MODEL, ONE)
    assert response.status == 400
    assert response.error.startswith("unexpected size for input 'INPUT0'")


def test_surplus_bytes(server):
    response = infer(server, MODEL, ONE, ints(1, 2, 3))
    assert response.status == 400
    assert response.error == f"unexpected additional input data for model '{MODEL}'"


@pytest.mark.parametrize("size", [4, 12])
def test_size_against_shape(server, size):
    document = {"inputs": [tensor("INPUT0", "INT32", [2], binary_data_size=size)]}
    response = infer(server, MODEL, document, bytes(size))
    assert response.status == 400
    assert response.error == (
        f"[request id: <id_unknown>] input byte size mismatch for input 'INPUT0' for model "
        f"'{MODEL}'. Expected 8, got {size}")


@pytest.mark.parametrize("value", ["100000", "-1"])
def test_header_length_out_of_range(server, value):
    body = json.dumps(ONE).encode() + ints(1, 2)
    response = infer(server, MODEL, body, headers={HEADER_LENGTH: value})
    assert response.status == 400
    assert response.error == (f"inference header size should be in range (0, {len(body)}), got: "
                              f"{value}")


def test_header_length_not_a_number(server):
    body = json.dumps(ONE).encode() + ints(1, 2)
    response = infer(server, MODEL, body, headers={HEADER_LENGTH: "ten"})
    assert response.status == 400


@pytest.mark.parametrize("value", ["99999999999999999999", "18446744073709551615", "2147483648"])
def test_header_length_beyond_every_integer(server, value):
    body = json.dumps(ONE).encode() + ints(1, 2)
    response = infer(server, MODEL, body, headers={HEADER_LENGTH: value})
    assert response.status == 400


@pytest.mark.parametrize("delta", [-1, 1])
def test_header_length_off_by_one(server, delta):
    body = json.dumps(ONE).encode()
    response = infer(server, MODEL, body + b"\x01" + ints(1)[1:] + ints(2),
                     headers={HEADER_LENGTH: str(len(body) + delta)})
    assert response.status in (400, 500)
    assert response.error


@pytest.mark.parametrize("size", [2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -8, 1.5, "8", None])
def test_hostile_binary_data_size(server, size):
    document = {"inputs": [tensor("INPUT0", "INT32", [2], binary_data_size=size)]}
    response = infer(server, MODEL, document, ints(1, 2))
    assert response.status in (400, 500)
    assert response.error


# --- BYTES --------------------------------------------------------------------------------------

STRINGS = type_model("BYTES", False)


@pytest.mark.parametrize("shape,blob,text", [
    ([1], struct.pack("<I", 10) + b"abc",
     "expecting string of length 10 but only 3 bytes available"),
    ([2], elements(b"abc") + b"\x01\x00",
     "incomplete string length indicator for inference input 'INPUT0' for model 'identity_bytes', "
     "expecting 4 bytes but only 2 bytes available."),
    ([3], elements(b"abc", b"d"),
     "expected 3 string elements for inference input 'INPUT0' for model 'identity_bytes', got 2"),
    ([1], elements(b"abc", b"d"),
     "unexpected number of string elements 2 for inference input 'INPUT0' for model "
     "'identity_bytes', expecting 1"),
    ([1], struct.pack("<I", 2**32 - 1) + b"a",
     "expecting string of length 4294967295 but only 1 bytes available"),
    ([2**62], elements(b"a"), "expected 4611686018427387904 string elements"),
], ids=["data_short", "length_short", "too_few", "too_many", "length_4g", "count_2_62"])
def test_bytes_that_do_not_fit(server, shape, blob, text):
    document = {"inputs": [tensor("INPUT0", "BYTES", shape, binary_data_size=len(blob))]}
    response = infer(server, STRINGS, document, blob)
    assert response.status == 400
    assert text in response.error


# --- raw requests -------------------------------------------------------------------------------

def raw(server, model, body):
    return raw_http.request(server, "POST", raw_http.infer_path(model), body,
                            {HEADER_LENGTH: "0", "Content-Type": "application/octet-stream"})


@pytest.mark.parametrize("model,body,shape,blob", [
    ("fixed", struct.pack("<4f", 1, 2, 3, 4), [1, 4], None),
    (MODEL, ints(1, 2, 3), [3], None),
    (MODEL, b"", [0], None),
    ("matrix", ints(1, 2, 3, 4), [2, 2], None),
    (type_model("INT32", True), ints(5, 6), [1, 2], None),
    ("single_bytes", b"hello", [1], elements(b"hello")),
    (type_model("BOOL", False), b"\x01\x00", [2], None),
    ("scalar", struct.pack("<f", 1), [1, 1], None),
], ids=["fixed", "variable", "nothing", "matrix", "batch", "bytes", "bool", "scalar"])
def test_raw_request(server, model, body, shape, blob):
    response = raw(server, model, body)
    assert response.status == 200, response.body
    header, binary = response.parts()
    assert header["outputs"][0]["shape"] == shape
    assert header["outputs"][0]["parameters"] == {"binary_data_size": len(blob or body)}
    assert binary == (blob or body)


@pytest.mark.parametrize("model,body,text", [
    ("pair", ints(*range(8)), "Raw request must only have 1 input (found 1) to be deduced but got "
                              "2 inputs in 'pair' model configuration"),
    ("free_matrix", ints(1, 2), "The shape of the raw input 'INPUT0' can not be deduced because "
                                "there are more than one variable-sized dimension"),
    ("fixed_bytes", b"ab", "For BYTE datatype raw input 'INPUT0', the model must have input "
                           "shape [1]"),
    ("fixed", ints(1, 2), "for model 'fixed'. Expected 16, got 8"),
], ids=["two_inputs", "two_variable", "bytes_not_one", "size"])
def test_raw_request_refused(server, model, body, text):
    response = raw(server, model, body)
    assert response.status == 400
    assert text in response.error


@pytest.mark.parametrize("body", [ints(1) + b"\x00", ints(1, 2, 3)], ids=["element", "row"])
def test_raw_body_that_divides_badly(server, body):
    response = raw(server, "matrix", body)
    assert response.status == 400
    assert "for model 'matrix'" in response.error
