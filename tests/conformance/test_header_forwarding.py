# SPDX-License-Identifier: Apache-2.0
"""--http-header-forward-pattern and --grpc-header-forward-pattern: headers become parameters of the
request."""

import json

import grpc_raw
import models
import pytest
import raw_http

MODEL = "echo"
DOCUMENT = {"inputs": [raw_http.tensor("INPUT0", "INT32", [1], [5])]}
MESSAGE = grpc_raw.infer_request(MODEL, [grpc_raw.tensor("INPUT0", "INT32", [1])],
                                 [b"\5\0\0\0"], parameters={"own": "1"})


def write(root):
    models.Repository(root).identity(MODEL, [("INT32", [1])], extra=(
        'parameters { key: "echo_parameters" value: { string_value: "true" } }\n'))


@pytest.fixture(scope="module")
def forwarding(start_server):
    return start_server("forwarding", write, "--http-header-forward-pattern=fwd-(a|B)|^priority$",
                        "--grpc-header-forward-pattern=FWD-(a|B)|^timeout$|^triton_x")


def over_http(server, headers, path=f"/v2/models/{MODEL}/infer"):
    """Returns the parameters that the model got."""
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    body = json.dumps({**DOCUMENT, "parameters": {"own": "1"}}).encode()
    with raw_http.Wire(server) as wire:
        wire.send(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n{head}\r\n"
                  .encode("latin-1") + body)
        answer = wire.read()
    return answer.json.get("parameters", {}) if answer.status == 200 else answer


def test_http_names_match_in_part_and_in_any_case(forwarding):
    assert over_http(forwarding, [
        ("FWD-A", "1"), ("X-fwd-b-2", "2"), ("fwd-c", "3"), ("x-own", "4"),
    ]) == {"own": "1", "FWD-A": "1", "X-fwd-b-2": "2"}


def test_http_values_are_texts(forwarding):
    assert over_http(forwarding, [("fwd-a1", "true"), ("fwd-a2", "5"), ("fwd-a3", "a  b")]) == {
        "own": "1", "fwd-a1": "true", "fwd-a2": "5", "fwd-a3": "a  b"}


def test_http_white_space_around_values(forwarding):
    assert over_http(forwarding, [("fwd-a1", ""), ("fwd-a2", "  a ")]) == {
        "own": "1", "fwd-a1": "", "fwd-a2": "a"}


def test_http_without_such_headers(forwarding):
    assert over_http(forwarding, []) == {"own": "1"}


def test_http_not_for_generate(forwarding):
    answer = raw_http.request(forwarding, "POST", f"/v2/models/{MODEL}/generate",
                              b'{"INPUT0":5,"own":"1"}', {"fwd-a": "1"})
    assert answer.status == 200
    assert "fwd-a" not in answer.json
    assert answer.json["own"] == "1"


def test_http_reserved_names(forwarding):
    answer = over_http(forwarding, [("priority", "1")])
    assert (answer.status, answer.error) == (
        400, "Header 'priority' is reserved for Triton usage and cannot be forwarded.")


def test_http_reserved_names_in_other_letters(forwarding):
    assert over_http(forwarding, [("Priority", "u=1")]) == {"own": "1", "Priority": "u=1"}


def parameters(response):
    return {name: value.string_param for name, value in response.parameters.items()
            if name != "triton_final_response"}


METADATA = [("fwd-a", "1"), ("x-fwd-b-2", "2"), ("fwd-c", "3")]
EXPECTED = {"own": "1", "fwd-a": "1", "x-fwd-b-2": "2"}


def test_grpc(forwarding):
    answer = grpc_raw.call(forwarding, "ModelInfer", MESSAGE, metadata=METADATA)
    assert parameters(answer) == EXPECTED


def test_grpc_every_request_of_a_stream(forwarding):
    answers = grpc_raw.stream(forwarding, [MESSAGE, MESSAGE], metadata=METADATA)
    assert [parameters(answer.infer_response) for answer in answers] == [EXPECTED, EXPECTED]


@pytest.mark.parametrize("name", ["timeout", "triton_x"])
def test_grpc_reserved_names(forwarding, name):
    assert grpc_raw.failure(forwarding, "ModelInfer", MESSAGE, metadata=[(name, "1")]) == (
        "INVALID_ARGUMENT",
        f"Header '{name}' is reserved for Triton usage and cannot be forwarded.")
