# SPDX-License-Identifier: Apache-2.0
"""Requests to the front ends of SageMaker and Vertex AI."""

import json
import socket
import time

import pytest
import raw_http
from server_process import ServerFailed

SAGEMAKER_TYPE = "application/vnd.sagemaker-triton.binary+json;json-header-size="
VERTEX_TYPE = "application/vnd.vertex-ai-triton.binary+json;json-header-size="
REDIRECT = "X-Vertex-Ai-Triton-Redirect"

JSON = json.dumps({"inputs": [raw_http.tensor("INPUT0", "INT32", [2], [1, -2])]}).encode()
# The same with its tensors behind the JSON part.
BINARY_HEAD = json.dumps({
    "inputs": [raw_http.tensor("INPUT0", "INT32", [2], binary_data_size=8)],
    "parameters": {"binary_data_output": True}}).encode()
DATA = b"\1\0\0\0\xfe\xff\xff\xff"

# What is wrong with a body of inference, and the status for it.
WRONG_BODIES = {
    "truncated": JSON[:-2],
    "no_json": b"inputs",
    "no_object": b"[1]",
    "no_inputs": b"{}",
    "inputs_is_a_number": b'{"inputs":1}',
    "no_shape": b'{"inputs":[{"name":"INPUT0","datatype":"INT32","data":[1,-2]}]}',
    "wrong_name": JSON.replace(b"INPUT0", b"OTHER"),
    "wrong_datatype": JSON.replace(b"INT32", b"FP32"),
    "wrong_data": JSON.replace(b"-2", b'"x"'),
    "too_little_data": JSON.replace(b", -2", b""),
}


def ask(port, method, path, body=None, **headers):
    """Sends a request; underscores in the names of headers stand for hyphens."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return raw_http.request(None, method, path, body, fields, port=port)


def wait(server, port):
    """Waits until the port is open: Triton opens it after that of HTTP."""
    end = time.monotonic() + 30
    while server.alive() and time.monotonic() < end:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=30).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise ServerFailed(server.log_tail())


def named(*values):
    """Returns test cases. Their names have no slash, which would end them in the list of intended
    differences."""
    return [pytest.param(value, id=value.replace("/", "_") or "empty") for value in values]


def values(reply):
    """Returns the elements of the only output of a reply in JSON."""
    assert reply.status == 200, reply.body
    (output,) = reply.json["outputs"]
    return output["data"]


def binary(reply):
    """Returns the JSON part and the binary part of a reply of SageMaker."""
    assert reply.status == 200, reply.body
    assert reply.headers["content-type"].startswith(SAGEMAKER_TYPE), reply.headers
    size = int(reply.headers["content-type"].removeprefix(SAGEMAKER_TYPE))
    return json.loads(reply.body[:size]), reply.body[size:]
