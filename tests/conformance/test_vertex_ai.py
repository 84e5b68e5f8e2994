# SPDX-License-Identifier: Apache-2.0
"""The front end for Vertex AI: health, predictions, and predictions that are redirected."""

import http.client
import json
import socket

import clouds
import models
import pytest
import raw_http
from clouds import REDIRECT, ask
from server_process import ServerFailed, ServerProcess, free_ports

MODEL = "fixed"
OTHER = "other"
PREDICT = "/v1/endpoints/1/deployedModels/2:predict"
HEALTH = "/v1/endpoints/1/deployedModels/2"
ROUTES = {"AIP_PREDICT_ROUTE": PREDICT, "AIP_HEALTH_ROUTE": HEALTH}


def write(root):
    repository = models.Repository(root)
    repository.identity(MODEL, [("INT32", [2])])
    repository.identity(OTHER, [("INT32", [2])])


@pytest.fixture(scope="module")
def start(start_server):
    """Starts a server with the front end, beside HTTP; returns its port and the server."""
    def start(name, *flags, wait_path="/v2/health/ready", **environment):
        (port,) = free_ports(1)
        server = start_server(
            name, write, "--allow-http=true", "--allow-grpc=true", *flags, wait_path=wait_path,
            environment={"AIP_MODE": "PREDICTION", "AIP_HTTP_PORT": str(port), **ROUTES,
                         **environment})
        clouds.wait(server, port)
        return port, server
    return start


@pytest.fixture(scope="module")
def vertex(start):
    return start("vertex", f"--vertex-ai-default-model={MODEL}", "--model-control-mode=explicit",
                 "--load-model=*")


@pytest.fixture(scope="module")
def port(vertex):
    return vertex[0]


def redirect(port, to, body=b"", method="POST", **headers):
    return raw_http.request(None, method, PREDICT, body, {REDIRECT: to, **headers}, port=port)


def test_health(port):
    reply = ask(port, "GET", HEALTH)
    assert (reply.status, reply.body) == (200, b"")
    assert ask(port, "POST", HEALTH).status == 405


def test_predictions(port):
    assert clouds.values(ask(port, "POST", PREDICT, clouds.JSON)) == [1, -2]
    assert ask(port, "GET", PREDICT).status == 405


@pytest.mark.parametrize("to", [None, f"v2/models/{MODEL}/infer"], ids=["model", "redirection"])
def test_binary_tensors(port, to):
    headers = {"Content-Type": f"{clouds.VERTEX_TYPE}{len(clouds.BINARY_HEAD)}"}
    if to:
        headers[REDIRECT] = to
    reply = raw_http.request(None, "POST", PREDICT, clouds.BINARY_HEAD + clouds.DATA, headers,
                             port=port)
    assert reply.headers["content-type"] == "application/octet-stream"
    head, data = reply.parts()
    assert data == clouds.DATA
    assert head["outputs"][0]["parameters"] == {"binary_data_size": 8}


@pytest.mark.parametrize("size", ["-1", "9999"])
def test_sizes_outside_of_the_body(port, size):
    reply = ask(port, "POST", PREDICT, clouds.BINARY_HEAD + clouds.DATA,
                Content_Type=clouds.VERTEX_TYPE + size)
    length = len(clouds.BINARY_HEAD + clouds.DATA)
    assert (reply.status, reply.error) == (
        400, f"inference header size should be in range (0, {length}), got: {size}")


@pytest.mark.parametrize("size", ["", "x", "5x", "99999999999999999999"])
def test_sizes_that_are_no_numbers(port, size):
    reply = ask(port, "POST", PREDICT, clouds.BINARY_HEAD + clouds.DATA,
                Content_Type=clouds.VERTEX_TYPE + size)
    assert (reply.status, reply.error) == (
        400, f"Unable to parse inference header size, got: {size}")


@pytest.mark.parametrize("body", clouds.WRONG_BODIES.values(), ids=clouds.WRONG_BODIES)
def test_wrong_bodies(port, body):
    reply = ask(port, "POST", PREDICT, body)
    assert reply.status in (400, 500)
    assert reply.error
    assert clouds.values(ask(port, "POST", PREDICT, clouds.JSON)) == [1, -2]


@pytest.mark.parametrize("path", clouds.named(
    "/", "/v2", "/v2/health/ready", PREDICT + "/", HEALTH + "/", HEALTH[:-1] + "x", "/metrics",
    f"/v2/models/{MODEL}/infer"))
def test_other_paths(port, path):
    for method in ("GET", "POST"):
        reply = ask(port, method, path)
        assert (reply.status, reply.body) == (400, b"")


READING = ["v2", f"v2/models/{MODEL}", f"v2/models/{MODEL}/versions/1", f"v2/models/{MODEL}/config",
           "v2/systemsharedmemory/status", "v2/cudasharedmemory/status"]
OTHERS = ["v2/models/stats", f"v2/models/{MODEL}/stats", "v2/health/live", "v2/health/ready",
          f"v2/models/{MODEL}/ready"]


@pytest.mark.parametrize("to", clouds.named(*READING))
def test_redirected_documents(vertex, to):
    """Vertex AI sends nothing but POST, also for what is read with GET."""
    port, server = vertex
    assert redirect(port, to).json == raw_http.get(server, "/" + to).json


@pytest.mark.parametrize("to", clouds.named(*OTHERS))
def test_redirected_checks(port, to):
    assert redirect(port, to).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_redirections_are_posted(port, method):
    assert redirect(port, "v2", None, method).status == 405


def test_redirected_inference(port):
    reply = redirect(port, f"v2/models/{OTHER}/infer", clouds.JSON)
    assert reply.json["model_name"] == OTHER
    assert redirect(port, "v2/models/absent/infer", clouds.JSON).status == 404


def test_redirected_generate(port):
    reply = redirect(port, f"v2/models/{OTHER}/generate", b'{"INPUT0":[1,-2]}')
    assert reply.json["OUTPUT0"] == [1, -2]
    reply = redirect(port, f"v2/models/{OTHER}/generate_stream", b'{"INPUT0":[1,-2]}')
    assert json.loads(reply.body.removeprefix(b"data: "))["OUTPUT0"] == [1, -2]


def test_redirected_index(port):
    names = {entry["name"] for entry in redirect(port, "v2/repository/index").json}
    assert names == {MODEL, OTHER}


def test_redirected_metrics(port):
    reply = redirect(port, "metrics")
    assert reply.status == 200
    assert b"nv_inference_request_success" in reply.body


@pytest.mark.parametrize("to", clouds.named(
    "", "x", "v2x", "v2/", "/v2", "v2?x=1", "v2/nothing", "v1/models/m", "health", "predict",
    "metrics/", "http://elsewhere/v2", "../v2"))
def test_redirections_to_nowhere(port, to):
    reply = redirect(port, to)
    assert (reply.status, reply.body) == (400, b"")


@pytest.mark.parametrize("to", clouds.named(
    f"v2/repository/models/{OTHER}/load", f"v2/repository/models/{OTHER}/unload",
    f"v2/repository/r/models/{OTHER}/unload", "v2/systemsharedmemory/region/r/register",
    "v2/systemsharedmemory/unregister", "v2/systemsharedmemory/region/r/unregister",
    "v2/cudasharedmemory/region/r/register", "v2/logging", "v2/trace/setting",
    f"v2/models/{MODEL}/trace/setting"))
def test_redirections_do_not_manage(port, to):
    reply = redirect(port, to, b"{}")
    assert reply.status == 403
    assert f"cannot be reached through {REDIRECT}" in reply.error
    assert redirect(port, f"v2/models/{OTHER}/ready").status == 200


def test_several_redirections(port):
    """The first one counts, for the decision and for what is done."""
    body = b"{}"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall((f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
                        f"{REDIRECT}: v2/repository/models/{OTHER}/unload\r\n"
                        f"{REDIRECT}: v2/health/live\r\nConnection: close\r\n\r\n").encode() + body)
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    assert b" 403 " in answer.split(b"\r\n")[0]
    assert redirect(port, f"v2/models/{OTHER}/ready").status == 200


def test_restricted_apis(start):
    port, _ = start("restricted", f"--vertex-ai-default-model={MODEL}",
                    "--http-restricted-api=inference,metadata:key=value")
    assert ask(port, "GET", HEALTH).status == 200
    for to, body in [(None, clouds.JSON), (f"v2/models/{MODEL}/infer", clouds.JSON), ("v2", b"")]:
        headers = {REDIRECT: to} if to else {}
        reply = raw_http.request(None, "POST", PREDICT, body, headers, port=port)
        assert (reply.status, reply.error) == (
            403, "This API is restricted, expecting header 'key'")
        headers["Key"] = "value"
        assert raw_http.request(None, "POST", PREDICT, body, headers, port=port).status == 200
    assert redirect(port, "v2/models/stats").status == 200


def test_the_only_model_is_the_default(start):
    port, _ = start("only", "--model-control-mode=explicit", f"--load-model={OTHER}")
    assert ask(port, "POST", PREDICT, clouds.JSON).json["model_name"] == OTHER


def test_a_default_model_must_be_clear(start):
    text = "failed to start Vertex AI service: Invalid argument - Expect the "
    with pytest.raises(ServerFailed, match=text + "model repository contains only a single model"):
        start("two")
    with pytest.raises(ServerFailed, match=text + "model repository contains only a single model"):
        start("none", "--model-control-mode=explicit")
    with pytest.raises(ServerFailed, match=text + "default model 'absent' is loaded"):
        start("absent", "--vertex-ai-default-model=absent")


@pytest.mark.parametrize("name", ROUTES)
def test_routes_must_be_named(start, name):
    with pytest.raises(ServerFailed, match="_ROUTE is not defined for Vertex AI endpoint"):
        start("routes", f"--vertex-ai-default-model={MODEL}", **{name: ""})


@pytest.mark.parametrize("route", clouds.named("predict", HEALTH))
def test_routes_are_different_paths(start, route):
    with pytest.raises(ServerFailed, match="AIP_PREDICT_ROUTE"):
        start("routes", f"--vertex-ai-default-model={MODEL}", AIP_PREDICT_ROUTE=route)


class Container(ServerProcess):
    """A server in a container of Vertex AI, which waits for its health there."""

    def http_connection(self, timeout):
        return http.client.HTTPConnection("127.0.0.1", self.vertex_port, timeout=timeout)


def test_containers(vertex, tmp_path):
    """AIP_MODE alone switches the front end on, and HTTP and gRPC off."""
    other = vertex[1]
    backends = [flag for flag in other.flags if flag.startswith("--backend")]
    (port,) = free_ports(1)
    server = Container(other.command, other.repository, tmp_path / "log",
                       [*backends, f"--vertex-ai-default-model={MODEL}"], other.peer,
                       {"AIP_MODE": "PREDICTION", "AIP_HTTP_PORT": str(port), **ROUTES})
    server.vertex_port = port
    server.start(wait_path=HEALTH)
    try:
        assert clouds.values(ask(port, "POST", PREDICT, clouds.JSON)) == [1, -2]
        for closed in (server.http_port, server.grpc_port):
            with pytest.raises(ConnectionRefusedError):
                ask(closed, "GET", "/v2")
        assert raw_http.get(server, "/metrics", port=server.metrics_port).status == 200
    finally:
        server.stop()


def test_off_by_default(start_server):
    (port,) = free_ports(1)
    start_server("no_vertex", write, f"--vertex-ai-port={port}", environment=ROUTES)
    with pytest.raises(ConnectionRefusedError):
        ask(port, "GET", HEALTH)
