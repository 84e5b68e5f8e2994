# SPDX-License-Identifier: Apache-2.0
"""Liveness and readiness of the server and of its models."""

import raw_http
import pytest


def test_server_live(client):
    assert client.call("is_server_live") is True


def test_server_ready(client):
    assert client.call("is_server_ready") is True


def test_model_ready(client):
    assert client.call("is_model_ready", "fixed") is True


@pytest.mark.parametrize("version,ready", [("1", True), ("3", True), ("2", False), ("4", False)])
def test_model_version_ready(client, version, ready):
    assert client.call("is_model_ready", "versions", version) is ready


def test_unknown_model_is_not_ready(client):
    assert client.call("is_model_ready", "no_such_model") is False


@pytest.mark.parametrize("path", ["/v2/health/live", "/v2/health/ready", "/v2/models/fixed/ready",
                                  "/v2/models/versions/versions/3/ready"])
def test_health_answers_200_and_nothing(server, path):
    response = raw_http.get(server, path)
    assert (response.status, response.body) == (200, b"")
    assert response.headers["content-length"] == "0"


@pytest.mark.parametrize("path", ["/v2/models/no_such_model/ready",
                                  "/v2/models/versions/versions/2/ready"])
def test_not_ready_model_answers_400(server, path):
    response = raw_http.get(server, path)
    assert response.status == 400
    assert response.error == "Model version not ready"


def test_server_with_a_broken_model_lives_but_is_not_ready(second):
    assert raw_http.get(second, "/v2/health/live").status == 200
    response = raw_http.get(second, "/v2/health/ready")
    assert (response.status, response.body) == (400, b"")
    assert raw_http.get(second, "/v2/models/good/ready").status == 200
    assert raw_http.get(second, "/v2/models/broken/ready").status == 400


def test_good_model_beside_a_broken_one_answers(second):
    document = {"inputs": [raw_http.tensor("INPUT0", "INT32", [4], [1, 2, 3, 4])]}
    response = raw_http.infer(second, "good", document)
    assert response.json["outputs"][0]["data"] == [1, 2, 3, 4]


def test_broken_model_is_refused(second):
    document = {"inputs": [raw_http.tensor("INPUT0", "FP32", [1], [1.0])]}
    response = raw_http.infer(second, "broken", document)
    assert response.status == 404
    assert response.error == "Request for unknown model: 'broken' has no available versions"


# Reasons, which only Nereid gives.


@pytest.fixture
def only_nereid(is_peer):
    if is_peer:
        pytest.skip("Triton gives no reasons")


def reasons(server, path, status):
    response = raw_http.get(server, path + "?reason=true")
    assert response.status == status == raw_http.get(server, path).status
    assert response.headers["content-type"] == "application/json"
    assert response.json["ready"] is (status == 200)
    assert response.json["omitted"] == 0
    return response.json["reasons"]


@pytest.mark.parametrize("path", ["/v2/health/ready", "/v2/models/fixed/ready",
                                  "/v2/models/versions/versions/3/ready"])
def test_what_is_ready_has_no_reasons(only_nereid, server, path):
    assert reasons(server, path, 200) == []


def test_why_a_server_is_not_ready(only_nereid, second):
    (reason,) = reasons(second, "/v2/health/ready", 400)
    assert (reason["cause"], reason["model"], reason["state"]) == ("model", "broken", "UNAVAILABLE")
    assert reason["text"]
    assert reasons(second, "/v2/models/good/ready", 200) == []
    assert reasons(second, "/v2/models/broken/ready", 400) == [reason]


def test_why_a_model_is_not_ready(only_nereid, server):
    (reason,) = reasons(server, "/v2/models/no_such_model/ready", 400)
    assert reason == {"cause": "model", "model": "no_such_model",
                      "text": "Request for unknown model: 'no_such_model' is not found"}
    (reason,) = reasons(server, "/v2/models/versions/versions/2/ready", 400)
    assert "version 2 is not found" in reason["text"]


@pytest.mark.parametrize("headers", [{"Accept": "application/json"}, {"Accept": "*/*"}])
def test_the_query_alone_asks_for_reasons(server, second, headers):
    """Clients and browsers send Accept without a thought; they see what Triton sends."""
    for asked, status in ((server, 200), (second, 400)):
        response = raw_http.request(asked, "GET", "/v2/health/ready", headers=headers)
        assert (response.status, response.body) == (status, b"")
