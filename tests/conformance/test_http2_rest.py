# SPDX-License-Identifier: Apache-2.0
"""REST over HTTP/2: with prior knowledge in the clear, by ALPN in TLS, and what stays HTTP/1.1. The
wrong requests are in test_http_matrix.py."""

import concurrent.futures
import gzip
import json
import shutil
import subprocess
import zlib

import models
import numpy as np
import pytest
from certificates import Certificates
from http2_client import Http2Client, Reset
from raw_http import HEADER_LENGTH, infer_path, tensor
from server_process import free_ports
from test_access_log import Reader, parse_json

SMALL = {"inputs": [tensor("INPUT0", "INT32", [2], [5, 6])]}


@pytest.fixture(scope="module", autouse=True)
def only_nereid(is_peer):
    if is_peer:
        pytest.skip("Triton's HTTP port speaks HTTP/1.1 only")


def write(root):
    repository = models.Repository(root)
    repository.identity("plain", [("INT32", [-1])])
    repository.identity("echo", [("INT32", [-1])], extra=(
        'parameters { key: "echo_parameters" value: { string_value: "true" } }\n'))
    repository.identity("slow", [("INT32", [-1])], extra=models.ONE_CPU_INSTANCE + (
        'parameters { key: "execute_delay_ms" value: { string_value: "400" } }\n'))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("no program openssl")
    return Certificates(tmp_path_factory.mktemp("certificates")).issue("server").issue("client")


@pytest.fixture(scope="module")
def clear(start_server):
    (admin,) = free_ports(1)
    server = start_server("h2", write, "--access-log=true", "--log-format=json",
                          "--http-header-forward-pattern=fwd-",
                          "--http-cors-allow-origin=https://page.example",
                          f"--admin-port={admin}", "--admin-address=127.0.0.1")
    server.admin_port = admin
    return server


@pytest.fixture(scope="module")
def secured(start_server, certificates):
    return start_server("h2tls", write, *certificates.flags("http"),
                        *certificates.flags("metrics"), tls=certificates.context())


@pytest.fixture(scope="module", params=["clear", "tls"])
def serving(request):
    server = request.getfixturevalue("clear" if request.param == "clear" else "secured")
    server.h2_context = None
    if request.param == "tls":
        server.h2_context = request.getfixturevalue("certificates").context("h2")
    return server


@pytest.fixture
def client(serving):
    with Http2Client(serving, tls=serving.h2_context) as client:
        yield client
        assert client.goaway is None


# ---- Inference ----


def test_json(client):
    answer = client.request("POST", infer_path("plain"), json.dumps(SMALL))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert answer.json["outputs"][0]["data"] == [5, 6]
    assert "connection" not in answer.headers and "transfer-encoding" not in answer.headers


@pytest.mark.parametrize("has_length", [True, False])
@pytest.mark.parametrize("count", [1, 3 << 20])
def test_binary(client, count, has_length):
    values = np.arange(count, dtype=np.int32)
    document = json.dumps({
        "inputs": [tensor("INPUT0", "INT32", [count], binary_data_size=values.nbytes)],
        "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}]}).encode()
    answer = client.request("POST", infer_path("plain"), document + values.tobytes(),
                            {HEADER_LENGTH: len(document)}, length=has_length)
    assert answer.status == 200, answer.body[:300]
    found, binary = answer.parts()
    assert found["outputs"][0]["parameters"]["binary_data_size"] == values.nbytes
    assert binary == values.tobytes()


def test_many_requests_at_once(client):
    """More than the server serves at a time; the client waits as its settings say."""
    expected = {}
    for number in range(500):
        while client.h2.open_outbound_streams >= client.h2.remote_settings.max_concurrent_streams:
            client.receive()
        document = {"inputs": [tensor("INPUT0", "INT32", [1], [number])]}
        stream = client.open("POST", infer_path("plain"))
        client.send(stream, json.dumps(document))
        expected[stream] = number
    for stream, number in reversed(expected.items()):
        assert client.finish(stream).json["outputs"][0]["data"] == [number]


def test_a_slow_request_holds_up_no_other(client):
    slow = client.open("POST", infer_path("slow"))
    client.send(slow, json.dumps(SMALL))
    for _ in range(5):
        assert client.request("POST", infer_path("plain"), json.dumps(SMALL)).status == 200
    assert slow not in client.ended
    assert client.finish(slow).json["outputs"][0]["data"] == [5, 6]


def test_both_protocols_at_once(serving):
    """Clients of both share the loops."""
    def over_http2(_):
        with Http2Client(serving, tls=serving.h2_context) as client:
            return [client.request("POST", infer_path("plain"), json.dumps(SMALL)).status
                    for _ in range(50)]

    def over_http1(_):
        found = []
        connection = serving.http_connection(timeout=60)
        for _ in range(50):
            connection.request("POST", infer_path("plain"), json.dumps(SMALL))
            answer = connection.getresponse()
            answer.read()
            found.append(answer.status)
        connection.close()
        return found

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        work = [pool.submit(kind, 0) for kind in (over_http2, over_http1) for _ in range(3)]
        assert [done.result() for done in work] == [[200] * 50] * 6


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_compression(client, encoding):
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    body = json.dumps({"inputs": [tensor("INPUT0", "INT32", [2000], [7] * 2000)]}).encode()
    answer = client.request("POST", infer_path("plain"), pack(body),
                            {"content-encoding": encoding, "accept-encoding": encoding})
    assert (answer.status, answer.headers["content-encoding"]) == (200, encoding)
    unpack = gzip.decompress if encoding == "gzip" else zlib.decompress
    assert json.loads(unpack(answer.body))["outputs"][0]["data"] == [7] * 2000


def test_a_deadline(client):
    answer = client.request("POST", infer_path("slow"), json.dumps(SMALL),
                            {"grpc-timeout": "50m"})
    assert (answer.status, answer.error) == (504, "the deadline of the request has passed")


def test_server_timing(client):
    answer = client.request("POST", infer_path("plain"), json.dumps(SMALL),
                            {"prefer": "server-timing"})
    assert answer.headers["server-timing"].startswith("total;dur=")


def test_expect_continue(client):
    stream = client.open("POST", infer_path("plain"), {"expect": "100-continue"})
    while stream not in client.informed:
        client.receive()
    client.send(stream, json.dumps(SMALL))
    assert client.finish(stream).status == 200
    assert client.informed[stream] == ["100"]


# ---- Streams of events ----


def test_events(client):
    answer = client.request("POST", "/v2/models/plain/generate_stream", '{"INPUT0":[1,2]}')
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.body.startswith(b"data: {") and answer.body.endswith(b"}\n\n")
    assert json.loads(answer.body[6:])["OUTPUT0"] == [1, 2]


def test_windows_are_respected(serving):
    """The server sends no byte beyond the window: the package h2 would refuse it."""
    with Http2Client(serving, tls=serving.h2_context, window=1000) as client:
        count = 5000
        stream = client.open("POST", infer_path("plain"))
        client.send(stream, json.dumps({"inputs": [tensor("INPUT0", "INT32", [count],
                                                          [1] * count)]}))
        assert len(client.wait_for(stream, 1000)) == 1000
        client.h2.ping(b"12345678")
        client._flush()
        client.receive()
        assert len(client.responses[stream].body) == 1000
        client.h2.increment_flow_control_window(1 << 20, stream)
        client._flush()
        assert client.finish(stream).json["outputs"][0]["data"] == [1] * count


# ---- The other routes and rules ----


def test_routes(client):
    assert client.request("GET", "/v2/health/ready").status == 200
    assert client.request("GET", "/v2").json["name"]
    assert client.request("GET", "/v2/models/plain/config").json["name"] == "plain"
    assert client.request("GET", "/v2/models/plain/stats").json["model_stats"]
    assert client.request("GET", "/nowhere").status == 404
    head = client.request("HEAD", "/v2")
    assert (head.status, head.body) == (200, b"") and int(head.headers["content-length"]) > 0


def test_restricted_apis(start_server):
    server = start_server("h2restricted", write,
                          "--http-restricted-api=shared-memory:x-secret=open")
    with Http2Client(server) as client:
        path = "/v2/systemsharedmemory/status"
        refused = client.request("GET", path)
        assert (refused.status, refused.headers["content-type"]) == (403, "text/plain")
        assert client.request("GET", path, headers={"x-secret": "open"}).status == 200


def test_management_on_the_admin_port(clear):
    with Http2Client(clear, port=clear.admin_port) as client:
        index = client.request("POST", "/v2/repository/index", "{}").json
        assert {entry["name"] for entry in index} == {"plain", "echo", "slow"}


def test_metrics_page(serving):
    with Http2Client(serving, tls=serving.h2_context, port=serving.metrics_port) as client:
        answer = client.request("GET", "/metrics")
        assert answer.status == 200 and b"nv_inference_request_success" in answer.body


def test_forwarded_headers(clear):
    with Http2Client(clear) as client:
        answer = client.request("POST", infer_path("echo"), json.dumps(SMALL),
                                {"fwd-a": "1", "other": "2"})
        assert answer.json["parameters"]["fwd-a"] == "1"
        assert "other" not in answer.json["parameters"]


def test_pages(clear):
    with Http2Client(clear) as client:
        asks = {"origin": "https://page.example", "access-control-request-method": "POST"}
        answer = client.request("OPTIONS", infer_path("plain"), headers=asks)
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == "https://page.example"


def test_access_log(clear):
    log = Reader(clear, parse_json)
    with Http2Client(clear) as client:
        body = json.dumps({**SMALL, "id": "id-h2"})
        answer = client.request("POST", infer_path("plain"), body)
        stream = client.open("POST", infer_path("slow"))
        client.send(stream, json.dumps({**SMALL, "id": "id-gone"}))
        client.request("GET", "/v2/health/live")
        client.h2.reset_stream(stream)
        client._flush()
        line, gone = sorted(log.requests(2, lambda r: "request_id" in r),
                            key=lambda r: r["request_id"], reverse=True)
    assert (line["protocol"], line["method"], line["path"], line["status"], line["model"]) == (
        "http", "POST", infer_path("plain"), 200, "plain")
    assert (line["bytes_in"], line["bytes_out"]) == (len(body), len(answer.body))
    assert gone["status"] == 499


def test_roles(start_server, certificates, tmp_path):
    """A token, and the subject of a client's certificate."""
    access = tmp_path / "access"
    access.write_text("subject observe CN=client,O=test\n")
    server = start_server("h2roles", write, f"--auth-file={access}",
                          *certificates.flags("http", mutual=True), wait_path="/v2/models/stats",
                          tls=certificates.context(certificate="client"))
    with Http2Client(server, tls=certificates.context("h2", certificate="client")) as client:
        assert client.request("GET", "/v2/models/stats").status == 200
        refused = client.request("POST", infer_path("plain"), json.dumps(SMALL))
        assert refused.status == 403
        # A large body is refused before it is sent.
        stream = client.open("POST", infer_path("plain"), {"content-length": 1 << 24})
        assert client.finish(stream).status == 403


def test_malformed_requests_are_errors_of_their_stream(client):
    for headers in ({"connection": "close"}, {"transfer-encoding": "chunked"},
                    {"upgrade": "h2c"}, {"te": "gzip"}, {"content-length": "3"},
                    {"content-length": "5000"}):
        with pytest.raises(Reset) as reset:
            client.request("POST", infer_path("plain"), json.dumps(SMALL), headers,
                           length="content-length" not in headers)
        assert reset.value.code == 1, headers
    assert client.request("GET", "/v2/health/live").status == 200


# ---- curl ----


def curl(server, *words, scheme="http", path="/v2/health/ready", data=None):
    if shutil.which("curl") is None:
        pytest.skip("no program curl")
    done = subprocess.run(
        ["curl", "-sS", "--max-time", "20", "-w", "\n%{http_code} %{http_version}", *words,
         f"{scheme}://localhost:{server.http_port}{path}",
         *(["-d", data] if data is not None else [])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    body, _, result = done.stdout.rpartition("\n")
    return (*result.split(), body)


@pytest.mark.parametrize("words,version", [
    (("--http2-prior-knowledge",), "2"), (("--http2",), "1.1"), (("--http1.1",), "1.1")])
def test_curl(clear, words, version):
    assert curl(clear, *words) == ("200", version, "")
    code, used, body = curl(clear, *words, path=infer_path("plain"), data=json.dumps(SMALL))
    assert (code, used) == ("200", version)
    assert json.loads(body)["outputs"][0]["data"] == [5, 6]


@pytest.mark.parametrize("words,version", [((), "2"), (("--http2",), "2"), (("--http1.1",), "1.1"),
                                           (("--no-alpn", "--http1.1"), "1.1")])
def test_curl_with_tls(secured, certificates, words, version):
    words = ("--cacert", str(certificates.ca), *words)
    code, used, body = curl(secured, *words, scheme="https", path=infer_path("plain"),
                            data=json.dumps(SMALL))
    assert (code, used) == ("200", version)
    assert json.loads(body)["outputs"][0]["data"] == [5, 6]


def test_large_uploads_of_curl(clear, tmp_path):
    """Larger than all windows together."""
    count = 10 << 20
    document = json.dumps({
        "inputs": [tensor("INPUT0", "INT32", [count], binary_data_size=4 * count)],
        "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}]}).encode()
    body = tmp_path / "body"
    body.write_bytes(document + bytes(4 * count))
    out = tmp_path / "out"
    code, used, _ = curl(clear, "--http2-prior-knowledge", "-H", f"{HEADER_LENGTH}: {len(document)}",
                         "--data-binary", f"@{body}", "-o", str(out), path=infer_path("plain"))
    assert (code, used) == ("200", "2")
    assert out.read_bytes().endswith(bytes(4 * count))


def test_unix_sockets(start_server, tmp_path):
    server = start_server("h2unix", write, f"--http-address=unix:{tmp_path}/http")
    with Http2Client(server) as client:
        assert client.request("POST", infer_path("plain"), json.dumps(SMALL)).status == 200


def test_a_stop_finishes_requests(start_server):
    server = start_server("h2stop", write)
    with Http2Client(server) as client:
        stream = client.open("POST", infer_path("slow"))
        client.send(stream, json.dumps(SMALL))
        client.request("GET", "/v2/health/live")  # the other request was received before
        server.process.terminate()
        assert client.finish(stream).status == 200
        with pytest.raises(EOFError):
            while True:
                client.receive()
        assert client.goaway == 0
    server.restart()  # servers are ended with the session
