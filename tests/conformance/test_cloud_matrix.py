# SPDX-License-Identifier: Apache-2.0
"""Every route of SageMaker and Vertex AI with every kind of wrong request. A wrong request gets an
error, never a success and never silence, and the server answers the next one."""

import gzip
import json
import socket

import clouds
import models
import pytest
import raw_http
from server_process import free_ports

MAX_INPUT = 20_000
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NONSENSE")
REFUSED = (400, 404, 405, 413, 415, 500, 501, 503)
# (front end, path, methods, headers); the bodies of those with POST are JSON.
ROUTES = {
    "ping": ("sagemaker", "/ping", ("GET",), {}),
    "invocations": ("sagemaker", "/invocations", ("POST",), {}),
    "models": ("sagemaker", "/models", ("GET", "POST"), {}),
    "model": ("sagemaker", "/models/m", ("GET", "DELETE"), {}),
    "invoke": ("sagemaker", "/models/m/invoke", ("POST",), {}),
    "health": ("vertex", "/health", ("GET",), {}),
    "predict": ("vertex", "/predict", ("POST",), {}),
    "redirected": ("vertex", "/predict", ("POST",), {clouds.REDIRECT: "v2/models/fixed/infer"}),
    "generate": ("vertex", "/predict", ("POST",), {clouds.REDIRECT: "v2/models/fixed/generate"}),
}
WITH_BODY = [name for name, route in ROUTES.items() if "POST" in route[2]]
BODIES = {
    "binary": b"\0\xff" * 50,
    "truncated": clouds.JSON[:-3],
    "another_value": b"[]",
    "deep": b"[" * 200_000,
    "not_utf8": b'{"\xff":1}',
    "two_documents": clouds.JSON + clouds.JSON,
    "too_large": json.dumps({"inputs": [raw_http.tensor("INPUT0", "INT32", [2], [1] * MAX_INPUT)]}
                            ).encode(),
    "inflates": gzip.compress(b" " * 10_000_000),
}
ENCODINGS = {"unknown": "br", "broken": "gzip", "long": "gzip, " * 500 + "br"}


@pytest.fixture(scope="module")
def ports(is_peer, start_server):
    if is_peer:
        pytest.skip("the differences from Triton are listed case by case elsewhere")
    sagemaker, vertex = free_ports(2)
    server = start_server(
        "clouds", lambda root: models.Repository(root).identity("fixed", [("INT32", [2])]),
        "--model-control-mode=explicit", "--load-model=fixed", f"--http-max-input-size={MAX_INPUT}",
        "--allow-sagemaker=true", f"--sagemaker-port={sagemaker}",
        "--allow-vertex-ai=true", f"--vertex-ai-port={vertex}",
        environment={"SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "fixed",
                     "AIP_HEALTH_ROUTE": "/health", "AIP_PREDICT_ROUTE": "/predict"})
    yield {"sagemaker": sagemaker, "vertex": vertex}
    assert server.alive()


@pytest.fixture
def ask(ports):
    """Sends a request to a route; afterwards both front ends still answer."""
    def ask(name, method, body=None, headers=None):
        front_end, path, _, own = ROUTES[name]
        return raw_http.request(None, method, path, body, {**own, **(headers or {})},
                                port=ports[front_end])
    yield ask
    assert clouds.values(ask("invocations", "POST", clouds.JSON)) == [1, -2]
    assert clouds.values(ask("redirected", "POST", clouds.JSON)) == [1, -2]


@pytest.mark.parametrize("name", ROUTES)
def test_wrong_methods(ask, name):
    for method in METHODS:
        if method in ROUTES[name][2] or (method == "HEAD" and "GET" in ROUTES[name][2]):
            continue
        reply = ask(name, method)
        assert reply.status == 405, method
        assert method == "HEAD" or reply.error == "Method Not Allowed"


@pytest.mark.parametrize("name", WITH_BODY)
@pytest.mark.parametrize("body", BODIES)
def test_wrong_bodies(ask, name, body):
    reply = ask(name, "POST", BODIES[body])
    assert reply.status in REFUSED
    assert reply.error


@pytest.mark.parametrize("name", WITH_BODY)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_wrong_encodings(ask, name, encoding):
    reply = ask(name, "POST", b"\x1f\x8bno gzip", {"Content-Encoding": ENCODINGS[encoding]})
    assert reply.status in REFUSED
    assert reply.error


@pytest.mark.parametrize("name", ["invocations", "redirected"])
def test_bodies_that_inflate(ask, name):
    reply = ask(name, "POST", BODIES["inflates"], {"Content-Encoding": "gzip"})
    assert reply.status == 400
    assert reply.error


@pytest.mark.parametrize("name", WITH_BODY)
def test_bodies_that_do_not_come(ask, ports, name):
    front_end, path, _, headers = ROUTES[name]
    fields = "".join(f"{field}: {value}\r\n" for field, value in headers.items())
    for size in ("100", "1000000000", "99999999999999999999"):
        with socket.create_connection(("127.0.0.1", ports[front_end]), timeout=30) as client:
            client.sendall((f"POST {path} HTTP/1.1\r\nHost: x\r\n{fields}"
                            f"Content-Length: {size}\r\n\r\n{{").encode())
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass


@pytest.mark.parametrize("name", ROUTES)
def test_long_targets(ask, ports, name):
    front_end, path, methods, _ = ROUTES[name]
    for target in (path + "/" + "x" * 10_000, path + "%00", path + "/..", "/." + path, path + ";x"):
        reply = raw_http.request(None, methods[0], target, port=ports[front_end])
        assert reply.status in REFUSED, target[:100]
    reply = raw_http.request(None, methods[0], path + "?" + "x" * 20_000, port=ports[front_end])
    assert reply.status == 431
