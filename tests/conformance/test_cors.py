# SPDX-License-Identifier: Apache-2.0
"""--http-cors-allow-origin: what browsers ask before a script of a web page may use the server."""

import json

import models
import pytest
import raw_http
from raw_http import request, tensor

PAGE = "https://page.example"
BODY = json.dumps({"inputs": [tensor("INPUT0", "INT32", [1], [7])]})
PREFLIGHT = {"Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": "inference-header-content-length"}


@pytest.fixture(scope="module")
def permitted(is_peer, start_server):
    if is_peer:
        pytest.skip("Triton has no CORS")
    return start_server("cors", lambda root: models.Repository(root).identity(
        "plain", [("INT32", [-1])]), f"--http-cors-allow-origin={PAGE},http://localhost:3000")


def preflight(server, origin):
    return request(server, "OPTIONS", raw_http.infer_path("plain"),
                   headers={"Origin": origin, **PREFLIGHT})


def cors_fields(answer):
    return {name for name in answer.headers if name.startswith("access-control-")}


def test_preflight_and_request(permitted):
    answer = preflight(permitted, PAGE)
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert answer.headers["access-control-allow-headers"] == "*, Authorization"
    assert answer.headers["vary"] == "Origin"
    answer = raw_http.infer(permitted, "plain", BODY, headers={"Origin": PAGE})
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == PAGE


def test_other_pages(permitted):
    answer = preflight(permitted, "https://evil.example")
    assert answer.status == 403
    assert answer.error == ("the pages of this origin may not use the server "
                            "(--http-cors-allow-origin)")
    assert not cors_fields(answer)
    answer = raw_http.infer(permitted, "plain", BODY, headers={"Origin": "https://evil.example"})
    assert not cors_fields(answer)
    assert answer.headers["vary"] == "Origin"


def test_errors_can_be_read_by_the_page(permitted):
    for path in ("/nowhere", "/v2/models/unknown"):
        answer = raw_http.get(permitted, path, headers={"Origin": PAGE})
        assert answer.status == 404
        assert answer.headers["access-control-allow-origin"] == PAGE


def test_off_by_default(server):
    assert preflight(server, PAGE).status == 405
    answer = raw_http.get(server, "/v2/health/live", headers={"Origin": PAGE})
    assert answer.status == 200
    assert not cors_fields(answer)
    assert "vary" not in answer.headers
