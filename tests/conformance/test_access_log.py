# SPDX-License-Identifier: Apache-2.0
"""The access log (--access-log): one line for each finished request, in each format of the log."""

import json
import re
import socket
import time

import models
import numpy as np
import pytest
import raw_http
import tritonclient.grpc as grpc_client
from clients import TRANSPORTS

HOSTILE = 'x\nE1121 10:56:01.000000 1 a.cc:1] "forged" \x1b[2K\u2028\u202e"} status=200'
TENSOR = np.arange(4, dtype=np.float32)
RPC = "/inference.GRPCInferenceService/"


def write_models(root):
    repo = models.Repository(root)
    repo.identity("plain", [("FP32", [4])], extra=models.ONE_CPU_INSTANCE)
    repo.identity("slow", [("FP32", [4])], extra=models.ONE_CPU_INSTANCE +
                  'parameters { key: "execute_delay_ms" value: { string_value: "2000" } }\n')


class Reader:
    """Reads the lines that come into a server's log after its construction or its last call.

    A line is written after its response, so the next request of another connection can be faster:
    only lines of one connection have an order.
    """

    def __init__(self, server, parse):
        self.server, self.parse = server, parse
        self.offset = len(server.log.read_bytes())

    def requests(self, count, wanted=lambda line: True):
        """Waits for `count` lines about requests and returns them, parsed."""
        end = time.monotonic() + 20
        while True:
            data = self.server.log.read_bytes()[self.offset:]
            text = data[:data.rfind(b"\n") + 1].decode()
            found = [r for r in map(self.parse, text.split("\n")[:-1]) if r and wanted(r)]
            if len(found) >= count or time.monotonic() > end:
                assert len(found) == count, text
                self.offset += len(text.encode())
                return found
            time.sleep(0.01)  # between two looks at the file


def parse_json(line):
    entry = json.loads(line)
    return entry if entry["file"] == "access_log" else None


def parse_text(line):
    """Returns the properties of a line in the default or the ISO8601 format, as text."""
    found = re.fullmatch(r'(?:I\d{4} [\d:.]+|[\dT:-]+Z I) \d+ access_log:0\] (".*")', line)
    if not found:
        return None
    pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|[^ "]*)', json.loads(found[1]))
    return {name: json.loads(value) if value.startswith('"') else value for name, value in pairs}


@pytest.fixture(scope="module")
def json_server(start_server):
    return start_server("access_json", write_models, "--access-log=true", "--log-format=json")


@pytest.fixture(scope="module", params=["default", "ISO8601", "json"])
def any_format(request, start_server):
    server = start_server("access_" + request.param, write_models, "--access-log=1",
                          f"--log-format={request.param}", "--log-info=false")
    return server, parse_json if request.param == "json" else parse_text


def infer(client, model="plain", **options):
    return client.infer(model, [client.input("INPUT0", TENSOR)], **options)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_inference_has_one_line(transport, json_server, connect):
    client = connect(transport, json_server)
    infer(client)  # connections and metadata, which clients may ask for
    log = Reader(json_server, parse_json)
    infer(client, request_id="id-1")
    (line,) = log.requests(1, lambda r: r.get("request_id") == "id-1")
    assert line["level"] == "INFO" and line["message"] == "request"
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line["time"])
    assert line["model"] == "plain"
    assert line["bytes_in"] > TENSOR.nbytes and line["bytes_out"] > TENSOR.nbytes
    assert 0 < line["ms"] < 20_000
    assert re.fullmatch(r"127\.0\.0\.1:\d+", line["peer"])
    if line["protocol"] == "http":
        assert (line["method"], line["path"], line["status"]) == (
            "POST", "/v2/models/plain/infer", 200)
    else:
        assert "method" not in line
        assert line["path"] in (RPC + "ModelInfer", RPC + "ModelStreamInfer")
        assert line["status"] == 0


def test_refusals_have_their_status(json_server):
    log = Reader(json_server, parse_json)
    raw_http.get(json_server, "/v2/models/nope/config?secret=1")
    raw_http.request(json_server, "POST", "/v2/models/plain/infer", "{")
    raw_http.get(json_server, "/nowhere")
    raw_http.get(json_server, "/metrics", port=json_server.metrics_port)
    lines = log.requests(4)
    assert {(r["path"], r["status"], r.get("model")) for r in lines} == {
        ("/v2/models/nope/config", 404, "nope"), ("/v2/models/plain/infer", 400, "plain"),
        ("/nowhere", 404, None), ("/metrics", 200, None)}


def test_refusals_of_grpc_have_their_code(json_server):
    log = Reader(json_server, parse_json)
    with grpc_client.InferenceServerClient(json_server.grpc) as client:
        with pytest.raises(Exception, match="nope"):
            client.infer("nope", [])
        with pytest.raises(Exception, match="shared memory"):
            client.unregister_cuda_shared_memory()
    lines = log.requests(2)
    assert [r["path"] for r in lines] == [RPC + "ModelInfer", RPC + "CudaSharedMemoryUnregister"]
    assert lines[0]["status"] == 5 and lines[1]["status"] != 0


def test_a_client_that_leaves_is_told(json_server):
    log = Reader(json_server, parse_json)
    body = json.dumps({"id": "left", "inputs": [
        {"name": "INPUT0", "datatype": "FP32", "shape": [4], "data": [1, 2, 3, 4]}]})
    with socket.create_connection(("127.0.0.1", json_server.http_port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.sendall(f"POST /v2/models/slow/infer HTTP/1.1\r\nHost: x\r\n"
                       f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        time.sleep(0.2)  # so that the reset does not overtake the request
    (line,) = log.requests(1)
    assert (line["status"], line["model"], line["request_id"]) == (499, "slow", "left")
    with grpc_client.InferenceServerClient(json_server.grpc) as client:
        with pytest.raises(Exception, match="Deadline"):
            tensor = grpc_client.InferInput("INPUT0", [4], "FP32")
            tensor.set_data_from_numpy(TENSOR)
            client.infer("slow", [tensor], request_id="late", client_timeout=0.2)
    (line,) = log.requests(1)
    assert line["status"] in (1, 4)  # whichever of the client's reset and the deadline came first


def test_each_request_of_a_stream_has_a_line(json_server):
    log = Reader(json_server, parse_json)
    answers = []
    with grpc_client.InferenceServerClient(json_server.grpc) as client:
        client.start_stream(lambda result, error: answers.append((result, error)))
        for model, request_id in (("plain", "s1"), ("nope", "s2"), ("plain", "s3")):
            tensor = grpc_client.InferInput("INPUT0", [4], "FP32")
            tensor.set_data_from_numpy(TENSOR)
            client.async_stream_infer(model, [tensor], request_id=request_id)
        end = time.monotonic() + 20
        while len(answers) < 3 and time.monotonic() < end:
            time.sleep(0.01)
        client.stop_stream()
    *requests, stream = log.requests(4)
    assert {r["path"] for r in [*requests, stream]} == {RPC + "ModelStreamInfer"}
    assert {(r["model"], r["request_id"], r["status"]) for r in requests} == {
        ("plain", "s1", 0), ("nope", "s2", 5), ("plain", "s3", 0)}
    assert "model" not in stream and stream["status"] == 0
    assert all(r["bytes_in"] > 0 and r["bytes_out"] > 0 for r in requests)
    assert stream["bytes_in"] == sum(r["bytes_in"] for r in requests)
    assert stream["bytes_out"] == sum(r["bytes_out"] for r in requests)


def test_no_name_or_id_forges_a_line(any_format):
    server, parse = any_format
    log = Reader(server, parse)
    body = json.dumps({"id": HOSTILE, "inputs": [
        {"name": "INPUT0", "datatype": "FP32", "shape": [4], "data": [1, 2, 3, 4]}]})
    assert raw_http.request(server, "POST", "/v2/models/plain/infer", body).status == 200
    with grpc_client.InferenceServerClient(server.grpc) as client:
        with pytest.raises(Exception):
            client.infer(HOSTILE, [], request_id=HOSTILE)
    with socket.create_connection(("127.0.0.1", server.http_port)) as client:
        client.sendall(b"GET /v2/\xff\xfe\x7f\x1b%0A?x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        while client.recv(4096):
            pass
    lines = log.requests(
        3, lambda record: record.get("path") != "/v2/health/ready")  # the start of the test asks
    (over_grpc,) = [line for line in lines if line.get("path") == RPC + "ModelInfer"]
    (over_http,) = [line for line in lines if line.get("model") == "plain"]
    (odd,) = [line for line in lines if line is not over_grpc and line is not over_http]
    assert over_http["request_id"] == HOSTILE
    assert over_grpc["model"] == HOSTILE
    assert str(odd["status"]) in ("400", "404")
    data = server.log.read_bytes()
    for hidden in (b"\x1b", b"\x7f", b"\xff", "\u2028".encode(), "\u202e".encode()):
        assert hidden not in data
    assert not any(line.startswith(b'E1121 10:56:01') for line in data.split(b"\n"))


def test_there_is_none_unless_asked(start_server, connect):
    server = start_server("access_off", write_models)
    infer(connect("http", server))
    assert "access_log" not in server.log.read_text()
