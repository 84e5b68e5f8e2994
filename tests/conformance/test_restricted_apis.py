# SPDX-License-Identifier: Apache-2.0
"""--http-restricted-api and --grpc-restricted-protocol: which routes belong to which category, and
what clients without the header get."""

import grpc
import grpc_raw
import models
import pytest
import raw_http
from tritonclient.grpc import service_pb2 as pb

MODEL = "fixed"
PREFIX = "triton-grpc-protocol-"
REST = "health metadata inference shared-memory model-config model-repository trace logging"

HTTP = [
    ("health", "GET", "/v2/health/live"),
    ("health", "GET", "/v2/health/ready"),
    ("health", "GET", "/v2/models/fixed/ready"),
    ("health", "GET", "/v2/models/fixed/versions/1/ready"),
    ("metadata", "GET", "/v2"),
    ("metadata", "GET", "/v2/models/fixed"),
    ("inference", "POST", "/v2/models/fixed/infer"),
    ("inference", "POST", "/v2/models/fixed/versions/1/infer"),
    ("inference", "POST", "/v2/models/fixed/generate"),
    ("inference", "POST", "/v2/models/fixed/generate_stream"),
    ("model-config", "GET", "/v2/models/fixed/config"),
    ("statistics", "GET", "/v2/models/stats"),
    ("statistics", "GET", "/v2/models/fixed/stats"),
    ("model-repository", "POST", "/v2/repository/index"),
    ("model-repository", "POST", "/v2/repository/models/absent/load"),
    ("model-repository", "POST", "/v2/repository/models/absent/unload"),
    ("shared-memory", "GET", "/v2/systemsharedmemory/status"),
    ("shared-memory", "POST", "/v2/systemsharedmemory/region/r/register"),
    ("shared-memory", "POST", "/v2/systemsharedmemory/unregister"),
    ("shared-memory", "GET", "/v2/cudasharedmemory/status"),
    ("shared-memory", "POST", "/v2/cudasharedmemory/region/r/unregister"),
    ("trace", "GET", "/v2/trace/setting"),
    ("trace", "POST", "/v2/trace/setting"),
    ("trace", "GET", "/v2/models/fixed/trace/setting"),
    ("logging", "GET", "/v2/logging"),
    ("logging", "POST", "/v2/logging"),
]

GRPC = {
    "health": ["ServerLive", "ServerReady", "ModelReady"],
    "metadata": ["ServerMetadata", "ModelMetadata"],
    "inference": ["ModelInfer"],
    "model-config": ["ModelConfig"],
    "statistics": ["ModelStatistics"],
    "model-repository": ["RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload"],
    "shared-memory": ["SystemSharedMemoryStatus", "SystemSharedMemoryRegister",
                      "SystemSharedMemoryUnregister", "CudaSharedMemoryStatus"],
    "trace": ["TraceSetting"],
    "logging": ["LogSettings"],
}


def write(root):
    models.Repository(root).identity(MODEL, [("INT32", [1])])


def flags(categories, key, value):
    return [f"--http-restricted-api={categories}:{key}={value}",
            f"--grpc-restricted-protocol={categories}:{key.lower()}={value}"]


@pytest.fixture(scope="module")
def most(start_server):
    """A server that restricts all but one category: the test waits for the server by that one. Each
    category has a key of its own."""
    return start_server("restricted", write, "--model-control-mode=explicit",
                        f"--load-model={MODEL}",
                        *[flag for name in REST.split() for flag in flags(name, f"K-{name}", "v w")],
                        wait_path="/v2/models/stats")


@pytest.fixture(scope="module")
def statistics(start_server):
    return start_server("restricted_statistics", write, *flags("statistics", "K-statistics", "v w"))


@pytest.fixture
def server_of(most, statistics):
    return lambda category: statistics if category == "statistics" else most


def text(key):
    return f"This API is restricted, expecting header '{key}'"


@pytest.mark.parametrize("category,method,path", HTTP)
def test_http_routes(server_of, category, method, path):
    server, key = server_of(category), f"K-{category}"
    body = b"{}" if method == "POST" else None
    for headers in ({}, {key: "V w"}, {key: "v"}, {key + "x": "v w"}, {"K-other": "v w"}):
        refused = raw_http.request(server, method, path, body, headers)
        assert (refused.status, refused.error) == (403, text(key)), headers
        assert refused.reason == "Forbidden"
        assert refused.headers["content-type"] == "text/plain"
    for name in (key, key.upper(), key.lower()):
        assert raw_http.request(server, method, path, body, {name: "v w"}).status != 403


@pytest.mark.parametrize("category,method,path", HTTP)
def test_http_wrong_methods(server_of, category, method, path, is_peer):
    """The restriction comes before the method."""
    server, key = server_of(category), f"K-{category}"
    # Nereid's DELETE cancels a load.
    cancels = path.endswith("/load") and not is_peer
    for wrong in ("PUT", "HEAD") if cancels else ("PUT", "DELETE", "HEAD"):
        assert raw_http.request(server, wrong, path).status == 403
        status = raw_http.request(server, wrong, path, headers={key: "v w"}).status
        if wrong == "HEAD" and not is_peer:  # Nereid answers it where it answers GET
            assert status != 403
        else:
            assert status == 405


def test_http_unknown_paths(most):
    assert raw_http.get(most, "/v2/nothing").status == 404


def test_http_first_of_several_headers_counts(most):
    def ask(*values):
        head = "".join(f"K-health: {value}\r\n" for value in values)
        with raw_http.Wire(most) as wire:
            wire.send("GET /v2/health/live HTTP/1.1\r\nHost: x\r\n" + head + "\r\n")
            return wire.read().status
    assert (ask("v w", "no"), ask("no", "v w")) == (200, 403)


def test_http_connection_goes_on(most):
    with raw_http.Wire(most) as wire:
        wire.send("GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert wire.read().status == 403
        wire.send("GET /v2 HTTP/1.1\r\nHost: x\r\nk-metadata: v w\r\n\r\n")
        assert wire.read().status == 200


def test_metrics_are_not_restricted(most):
    assert raw_http.get(most, "/metrics", port=most.metrics_port).status == 200


def refusal(server, method, metadata):
    try:
        grpc_raw.call(server, method, metadata=metadata)
    except grpc.RpcError as error:
        return error.code().name, error.details()
    return "OK", ""


@pytest.mark.parametrize("category,method",
                         [(name, method) for name, methods in GRPC.items() for method in methods])
def test_grpc_methods(server_of, category, method):
    server, key = server_of(category), f"{PREFIX}k-{category}"
    expected = ("UNAVAILABLE", f"This protocol is restricted, expecting header '{key}'")
    for metadata in ([], [(key, "V w")], [(key[len(PREFIX):], "v w")], [(key + "x", "v w")]):
        assert refusal(server, method, metadata) == expected, metadata
    assert refusal(server, method, [(key, "v w")]) != expected


def stream(server, metadata):
    message = grpc_raw.infer_request(MODEL, [grpc_raw.tensor("INPUT0", "INT32", [1])],
                                     [b"\1\0\0\0"])
    try:
        (answer,) = grpc_raw.stream(server, [message], metadata=metadata)
    except grpc.RpcError as error:
        return error.code().name, error.details()
    return answer.error_message, answer.infer_response.raw_output_contents[0]


def test_grpc_streams(most):
    key = PREFIX + "k-inference"
    expected = ("UNAVAILABLE", f"This protocol is restricted, expecting header '{key}'")
    assert stream(most, []) == expected
    assert stream(most, [(key, "other")]) == expected
    assert stream(most, [(key, "v w")]) == ("", b"\1\0\0\0")


def health_check(server, metadata):
    """Calls grpc.health.v1.Health/Check without its stubs: the empty message, and SERVING back."""
    with grpc_raw.channel(server) as made:
        check = made.unary_unary("/grpc.health.v1.Health/Check")
        try:
            return check(b"", metadata=metadata, timeout=60)
        except grpc.RpcError as error:
            return error.code().name, error.details()


def test_grpc_health_service(most):
    key = PREFIX + "k-health"
    assert health_check(most, []) == (
        "UNAVAILABLE", f"This protocol is restricted, expecting header '{key}'")
    assert health_check(most, [(key, "v w")]) == b"\x08\x01"


def test_a_restricted_call_is_not_carried_out(most):
    """Settings of a refused call stay as they were."""
    change = pb.LogSettingsRequest()
    change.settings["log_verbose_level"].uint32_param = 1
    assert grpc_raw.failure(most, "LogSettings", change)[0] == "UNAVAILABLE"
    settings = grpc_raw.call(most, "LogSettings", metadata=[(PREFIX + "k-logging", "v w")])
    assert settings.settings["log_verbose_level"].uint32_param == 0
