# SPDX-License-Identifier: Apache-2.0
"""Percent-encoded paths: names that a URL must encode, and paths that are malformed."""

import json

import models
import numpy as np
import pytest
import raw_http
import tritonclient.http as http_client
from raw_http import Wire, head, tensor

NAME = "two words, 50% né"
ENCODED = "two%20words,%2050%25%20n%C3%A9"
BODY = json.dumps({"inputs": [tensor("INPUT0", "INT32", [2], [1, 2])]}).encode()


def write(root):
    models.Repository(root).identity(NAME, [("INT32", [-1])])


@pytest.fixture(scope="module")
def escaped(start_server):
    return start_server("escaped", write, "--allow-client-shm=true", "--access-log=true",
                        "--http-restricted-api=logging:key=value")


@pytest.mark.parametrize("path", ["", "/versions/1", "/ready", "/config", "/stats",
                                  "/trace/setting"])
def test_names_of_models(escaped, path):
    response = raw_http.get(escaped, f"/v2/models/{ENCODED}{path}")
    assert response.status == 200, response.body


def test_inference(escaped):
    response = raw_http.request(escaped, "POST", f"/v2/models/{ENCODED}/infer", BODY)
    assert response.json["model_name"] == NAME
    assert response.json["outputs"][0]["data"] == [1, 2]
    client = http_client.InferenceServerClient(escaped.http)  # encodes names itself
    given = http_client.InferInput("INPUT0", [2], "INT32")
    given.set_data_from_numpy(np.array([3, 4], np.int32))
    assert client.infer(NAME, [given]).as_numpy("OUTPUT0").tolist() == [3, 4]


def test_an_error_has_the_name(escaped):
    response = raw_http.request(escaped, "POST", "/v2/models/no%20such/infer", BODY)
    assert "'no such'" in response.error


def test_the_access_log_has_the_name(escaped):
    raw_http.get(escaped, f"/v2/models/{ENCODED}/config")
    assert "two words, 50% n" in escaped.log.read_text()


def test_words_of_the_protocol(escaped):
    assert raw_http.get(escaped, "/%76%32").json["name"] == "triton"
    assert raw_http.get(escaped, "/v2/h%65alth/live").status == 200


def test_the_gate_sees_the_decoded_path(escaped):
    for path in ("/v2/logging", "/v2/l%6fgging", "/%76%32/%6cogging"):
        assert raw_http.get(escaped, path).status == 403, path


@pytest.mark.parametrize("path", [
    f"/v2/models/{ENCODED}%2Fconfig", f"/v2/models%2F{ENCODED}", "/v2%2Fhealth/live",
    "%2Fv2/health/live"])
def test_an_encoded_slash_makes_no_segment(escaped, path):
    assert raw_http.get(escaped, path).status in (400, 404)


def test_a_region_may_have_a_slash(escaped):
    path = "/v2/systemsharedmemory/region/a%2Fb%20c"
    assert "'a/b c'" in raw_http.get(escaped, path + "/status").error


@pytest.mark.parametrize("name", ["%", "%2", "%zz", "a%0Ab", "%00", "%1f", "%7F"])
def test_malformed(escaped, name):
    with Wire(escaped) as wire:
        wire.send(head("GET", f"/v2/models/{name}"))
        assert wire.read().status == 400


@pytest.mark.parametrize("target,status", [
    ("http://x?/v2/health/live", 404), ("http://x", 404), ("http://x/v2/health/live", 200),
    ("http://x/v2/health/live?a=http://y/v2", 200), ("/?a=http://x/v2/health/live", 404)])
def test_absolute_form(escaped, target, status):
    with Wire(escaped) as wire:
        wire.send(head("GET", target))
        answer = wire.read()
        # "/" is the liveness of KServe's older protocol.
        assert answer.status == (200 if status == 404 else status)
        assert (b"alive" in answer.body) == (status == 404)
