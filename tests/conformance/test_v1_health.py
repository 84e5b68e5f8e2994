# SPDX-License-Identifier: Apache-2.0
"""The health paths of KServe's older protocol, which probes and load balancers still ask."""

import pytest
import raw_http
from raw_http import request


def test_alive(server):
    answer = raw_http.get(server, "/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {"status": "alive"}


def test_ready_model(server):
    answer = raw_http.get(server, "/v1/models/fixed")
    assert answer.status == 200
    assert answer.json == {"name": "fixed", "ready": True}


def test_unknown_model(server):
    answer = raw_http.get(server, "/v1/models/unknown")
    assert answer.status == 404
    assert answer.error == "Model with name unknown does not exist."


def test_broken_model(second):
    """A model that could not be loaded is not served, whatever the reason."""
    answer = raw_http.get(second, "/v1/models/broken")
    assert answer.status in (404, 503)
    assert "broken" in answer.error


@pytest.mark.parametrize("path", ["/", "/v1/models/fixed"], ids=["server", "model"])
def test_wrong_method(server, path):
    answer = request(server, "POST", path, b"")
    assert answer.status == 405
    assert answer.error == "Method Not Allowed"
