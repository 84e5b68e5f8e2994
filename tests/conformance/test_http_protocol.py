# SPDX-License-Identifier: Apache-2.0
"""HTTP itself: paths, methods, framing of bodies, keep-alive, pipelining, compression."""

import contextlib
import email.utils
import gzip
import http.client
import json
import time
import zlib

import numpy as np
import pytest
import raw_http
from models import type_model
from raw_http import HEADER_LENGTH, Wire, head, infer, request, tensor

MODEL = type_model("INT32", False)
PATH = raw_http.infer_path(MODEL)
GOOD = {"inputs": [tensor("INPUT0", "INT32", [2], [1, 2])]}
BODY = json.dumps(GOOD).encode()
ANSWER = [1, 2]


def post(body=BODY, *headers, path=PATH) -> bytes:
    return head("POST", path, f"Content-Length: {len(body)}", *headers) + body


def is_answer(response, data=ANSWER):
    assert response.status == 200, response.body
    assert response.json["outputs"][0]["data"] == data


# --- paths and methods --------------------------------------------------------------------------

@pytest.mark.parametrize("path", [
    "/v2/", "/v1", "/v1/models", "/V2", "/v2/health", "/v2/health/alive", "/v2/health/live/",
    "/v2//health/live", "/v2/models", "/v2/models/", "/v2/models/fixed/",
    "/v2/models/fixed/unknown", "/v2/models/fixed/versions/one",
    "/v2/models/fixed/versions/-1", "/v2/models/fixed/versions/", "/v2/models/fixed/versions/1/",
    "/v2/models/fixed/infer/extra", "/v2/repository/unknown"])
def test_unknown_path(server, path):
    response = raw_http.get(server, path)
    assert response.status == 404
    assert response.error == "Not Found"


@pytest.mark.parametrize("method,path", [
    ("POST", "/v2"), ("POST", "/v2/health/live"), ("PUT", "/v2/health/ready"),
    ("POST", "/v2/models/fixed"), ("DELETE", "/v2/models/fixed"), ("GET", "/v2/models/fixed/infer"),
    ("PUT", "/v2/models/fixed/infer"), ("POST", "/v2/models/fixed/config"),
    ("POST", "/v2/models/stats"), ("POST", "/v2/models/fixed/stats"),
    ("GET", "/v2/repository/index"), ("POST", "/v2/models/fixed/ready"),
    ("OPTIONS", "/v2"), ("PATCH", "/v2/models/fixed/infer")])
def test_wrong_method(server, method, path):
    response = request(server, method, path, b"")
    assert response.status == 405
    assert response.error == "Method Not Allowed"


@pytest.mark.parametrize("path", ["/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/fixed",
                                  "/v2/models/fixed/ready", "/v2/models/stats", "/v2/logging",
                                  "/v2/models/unknown"])
def test_head_has_the_fields_of_get(server, path):
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)
    with contextlib.closing(connection):
        connection.request("HEAD", path)
        answer = connection.getresponse()
        assert answer.read() == b""
        connection.request("GET", path)  # would read a body that had followed
        plain = connection.getresponse()
        body = plain.read()
    assert answer.status == plain.status
    assert answer.headers["content-type"] == plain.headers["content-type"]
    if not path.endswith("stats"):  # whose numbers change
        assert int(answer.headers["content-length"]) == len(body)


def test_a_wrong_method_names_those_that_are_allowed(server):
    assert request(server, "POST", "/v2").headers["allow"] == "GET, HEAD"
    assert raw_http.get(server, PATH).headers["allow"] == "POST"
    assert request(server, "HEAD", PATH).status == 405


def test_replies_have_a_date(server):
    for response in (raw_http.get(server, "/v2"), raw_http.get(server, "/v1"),
                     infer(server, MODEL, BODY)):
        sent = email.utils.parsedate_to_datetime(response.headers["date"])
        assert abs(sent.timestamp() - time.time()) < 300


@pytest.mark.parametrize("fields", [
    [], ["Host: a", "Host: a"], ["Host: a b"], ["Host: a/b"], ["Host: u@a"], ["Host: a:x"]],
    ids=["missing", "twice", "blank", "slash", "user", "port"])
def test_the_host_is_there_once(server, fields):
    with Wire(server) as wire:
        wire.send(("\r\n".join(["GET /v2 HTTP/1.1", *fields, "", ""])).encode())
        assert wire.read().status == 400


def test_query_is_ignored(server):
    assert raw_http.get(server, "/v2/health/live?x=1&y=%20").status == 200
    assert raw_http.get(server, "/v2/models/fixed?x").json["name"] == "fixed"


@pytest.mark.parametrize("path,content_type", [
    ("/v2", "application/json"), ("/v2/models/fixed", "application/json"),
    ("/v2/models/fixed/config", "application/json"), ("/v2/models/stats", "application/json")])
def test_content_type_of_documents(server, path, content_type):
    assert raw_http.get(server, path).headers["content-type"] == content_type


def test_metadata_text(server):
    assert raw_http.get(server, "/v2/models/fixed").body == (
        b'{"name":"fixed","versions":["1"],"platform":"identity","inputs":[{"name":"INPUT0",'
        b'"datatype":"FP32","shape":[-1,4]}],"outputs":[{"name":"OUTPUT0","datatype":"FP32",'
        b'"shape":[-1,4]}]}')


# --- framing ------------------------------------------------------------------------------------

def test_keep_alive(server):
    with Wire(server) as wire:
        for _ in range(20):
            wire.send(post())
            is_answer(wire.read())


def test_errors_keep_the_connection(server):
    with Wire(server) as wire:
        for body in (b"{", b"{}", b""):
            wire.send(post(body, f"{HEADER_LENGTH}: {len(body)}") if body else post(b"{"))
            assert wire.read().status in (400, 500)
        wire.send(head("GET", "/nowhere"))
        assert wire.read().status == 404
        wire.send(post())
        is_answer(wire.read())


def test_connection_close_is_obeyed(server):
    with Wire(server) as wire:
        wire.send(post(BODY, "Connection: close"))
        is_answer(wire.read())
        assert wire.closed_by_peer()


def test_http_1_0_closes(server):
    with Wire(server) as wire:
        wire.send(b"GET /v2/health/live HTTP/1.0\r\n\r\n")
        assert wire.read().status == 200
        assert wire.closed_by_peer()


def test_pipelining(server):
    """Answers arrive in the order of the requests."""
    with Wire(server) as wire:
        bodies = [json.dumps({"id": str(i), "inputs": [tensor("INPUT0", "INT32", [1], [i])]})
                  .encode() for i in range(30)]
        data = b""
        for i, body in enumerate(bodies):
            data += post(body)
            if i % 3 == 0:
                data += head("GET", "/v2/health/live")
        wire.send(data)
        for i in range(30):
            response = wire.read()
            assert response.json["id"] == str(i)
            is_answer(response, [i])
            if i % 3 == 0:
                assert wire.read().body == b""


def test_pipelined_slow_and_quick(server):
    slow = json.dumps({"id": "slow", "inputs": [tensor("INPUT0", "INT32", [4], [0] * 4)]}).encode()
    with Wire(server) as wire:
        wire.send(post(slow, path=raw_http.infer_path("slow")) + post())
        assert wire.read().json["id"] == "slow"
        is_answer(wire.read())


def chunked(*parts) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunked_request(server, size):
    parts = [BODY[i:i + size] for i in range(0, len(BODY), size)]
    with Wire(server) as wire:
        wire.send(head("POST", PATH, "Transfer-Encoding: chunked") + chunked(*parts))
        is_answer(wire.read())
        wire.send(post())
        is_answer(wire.read())


def test_chunked_with_extensions_and_trailer(server):
    with Wire(server) as wire:
        wire.send(head("POST", PATH, "Transfer-Encoding: chunked")
                  + b"%X;name=value\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (len(BODY), BODY))
        is_answer(wire.read())


def test_chunked_binary_request(server):
    document = json.dumps({"inputs": [tensor("INPUT0", "INT32", [2], binary_data_size=8)],
                           "parameters": {"binary_data_output": True}}).encode()
    blob = np.array([5, 6], np.int32).tobytes()
    with Wire(server) as wire:
        wire.send(head("POST", PATH, "Transfer-Encoding: chunked",
                       f"{HEADER_LENGTH}: {len(document)}")
                  + chunked(document[:5], document[5:] + blob[:3], blob[3:]))
        response = wire.read()
    assert response.status == 200, response.body
    assert response.parts()[1] == blob


def test_broken_chunk_size(server):
    with Wire(server) as wire:
        wire.send(head("POST", PATH, "Transfer-Encoding: chunked") + b"zz\r\nxx\r\n")
        wire.socket.shutdown(1)
        assert wire.closed_by_peer() or b"400" in wire.buffer.split(b"\r\n")[0]


CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"


@pytest.mark.parametrize("fields,body,status", [
    pytest.param([f"Content-Length: {len(CHUNKS)}", "Transfer-Encoding: chunked"], CHUNKS, 400,
                 id="length-and-chunked"),
    pytest.param(["Transfer-Encoding: chunked", f"Content-Length: {len(CHUNKS)}"], CHUNKS, 400,
                 id="chunked-and-length"),
    pytest.param(["Transfer-Encoding: identity"], b"", 400, id="identity"),
    pytest.param(["Transfer-Encoding: xchunked"], b"", 400, id="xchunked"),
    pytest.param(["Transfer-Encoding: gzip"], b"", 400, id="gzip"),
    pytest.param(["Transfer-Encoding: chunked, identity"], CHUNKS, 400, id="chunked-identity"),
    pytest.param(["Transfer-Encoding: gzip, chunked"], CHUNKS, 501, id="gzip-chunked"),
    pytest.param(["Content-Length: 5", "Content-Length: 6"], b"hello", 400, id="two-lengths"),
    pytest.param(["Content-Length: +5"], b"hello", 400, id="signed-length"),
    pytest.param(["Content-Length : 5"], b"hello", 400, id="space-before-colon"),
    pytest.param(["X: a\0b"], b"", 400, id="nul"),
])
def test_where_a_body_ends_must_be_clear(server, fields, body, status):
    """There is one answer, and the following bytes are not read as a request."""
    with Wire(server) as wire:
        wire.send(head("POST", PATH, *fields) + body + head("GET", "/v2/health/live"))
        assert wire.read().status == status
        assert wire.closed_by_peer()


def test_expect_100_continue(server):
    with Wire(server) as wire:
        wire.send(head("POST", PATH, f"Content-Length: {len(BODY)}", "Expect: 100-continue"))
        assert wire.read().status == 100
        wire.send(BODY)
        is_answer(wire.read())


def test_body_in_pieces(server):
    with Wire(server) as wire:
        wire.socket.setsockopt(6, 1, 1)  # TCP_NODELAY: each piece a segment
        wire.send(head("POST", PATH, f"Content-Length: {len(BODY)}"))
        for i in range(0, len(BODY), 11):
            wire.send(BODY[i:i + 11])
        is_answer(wire.read())


def test_header_names_in_any_case(server):
    document = json.dumps({"inputs": [tensor("INPUT0", "INT32", [2], binary_data_size=8)]}).encode()
    blob = np.array([1, 2], np.int32).tobytes()
    with Wire(server) as wire:
        wire.send(head("POST", PATH, f"content-LENGTH:{len(document) + 8}",
                       f"INFERENCE-header-content-length:   {len(document)}") + document + blob)
        is_answer(wire.read())


def test_large_headers_are_taken(server):
    with Wire(server) as wire:
        wire.send(post(BODY, *[f"X-Header-{i}: {'v' * 100}" for i in range(20)]))
        is_answer(wire.read())


@pytest.mark.parametrize("data", [
    b"\x00\x01\x02\x03\r\n\r\n", b"GET\r\n\r\n", b"GET /v2 HTTP/9.9\r\n\r\n",
    b"GET /v2 HTTP/1.1\r\nno colon\r\n\r\n",
    b"POST " + PATH.encode() + b" HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    b"POST " + PATH.encode() + b" HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
], ids=["binary", "no_path", "version", "header", "length_text", "length_negative"])
def test_what_is_not_http(server, data):
    """The server answers 400 or closes the connection. It never answers 200, and never waits for
    more bytes."""
    with Wire(server) as wire:
        wire.send(data)
        wire.socket.shutdown(1)
        if not wire.closed_by_peer():
            status = int(wire.buffer.split()[1])
            assert 400 <= status < 600


# --- compression --------------------------------------------------------------------------------

COMPRESS = {"gzip": gzip.compress, "deflate": zlib.compress}
EXPAND = {"gzip": gzip.decompress, "deflate": zlib.decompress}


@pytest.mark.parametrize("name", COMPRESS)
def test_compressed_request(server, name):
    is_answer(infer(server, MODEL, COMPRESS[name](BODY), headers={"Content-Encoding": name}))


@pytest.mark.parametrize("name", COMPRESS)
def test_compressed_binary_request(server, name):
    document = json.dumps({"inputs": [tensor("INPUT0", "INT32", [2], binary_data_size=8)]}).encode()
    blob = np.array([1, 2], np.int32).tobytes()
    response = infer(server, MODEL, COMPRESS[name](document + blob),
                     headers={"Content-Encoding": name, HEADER_LENGTH: str(len(document))})
    is_answer(response)


@pytest.mark.parametrize("name", COMPRESS)
def test_compressed_chunked_request(server, name):
    data = COMPRESS[name](BODY)
    with Wire(server) as wire:
        wire.send(head("POST", PATH, "Transfer-Encoding: chunked", f"Content-Encoding: {name}")
                  + chunked(data[:10], data[10:]))
        is_answer(wire.read())


def test_identity_request(server):
    is_answer(infer(server, MODEL, BODY, headers={"Content-Encoding": "identity"}))


@pytest.mark.parametrize("name", ["br", "compress", "zstd"])
def test_unknown_compression(server, name):
    response = infer(server, MODEL, BODY, headers={"Content-Encoding": name})
    assert response.status == 501
    assert response.error == "Unsupported compression type"
    assert response.headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize("name", COMPRESS)
def test_broken_compressed_body(server, name):
    response = infer(server, MODEL, b"not compressed at all", headers={"Content-Encoding": name})
    assert response.status == 400
    assert response.error


@pytest.mark.parametrize("name", COMPRESS)
def test_cut_compressed_body(server, name):
    response = infer(server, MODEL, COMPRESS[name](BODY)[:-12], headers={"Content-Encoding": name})
    assert response.status in (400, 500)


def test_members_of_gzip(server):
    packed = gzip.compress(BODY[:20]) + gzip.compress(b"") + gzip.compress(BODY[20:])
    is_answer(infer(server, MODEL, packed, headers={"Content-Encoding": "gzip"}))


@pytest.mark.parametrize("name", COMPRESS)
@pytest.mark.parametrize("rest", [b"garbage", b"\0\0", b"\x1f\x8b garbage"])
def test_bytes_behind_a_compressed_body(server, name, rest):
    response = infer(server, MODEL, COMPRESS[name](BODY) + rest, headers={"Content-Encoding": name})
    assert response.status == 400
    assert "compressed request body" in response.error


@pytest.mark.parametrize("name", COMPRESS)
@pytest.mark.parametrize("path,body,key", [
    ("/v2/repository/index", b'{"ready":true}', None), ("/v2/logging", b"{}", "log_info"),
    ("/v2/trace/setting", b"{}", "trace_level")])
def test_compressed_bodies_of_other_routes(server, name, path, body, key):
    fields = {"Content-Encoding": name}
    response = request(server, "POST", path, COMPRESS[name](body), fields)
    assert response.status == 200, response.body
    assert key is None or key in response.json
    assert request(server, "POST", path, COMPRESS[name](body) + b"x", fields).status == 400
    unknown = request(server, "POST", path, body, {"Content-Encoding": "br"})
    assert unknown.status == 415
    assert unknown.headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize("accept,used", [
    ("gzip", "gzip"), ("deflate", "deflate"), ("gzip, deflate", "gzip"),
    ("deflate, gzip", "deflate"), ("gzip;q=0.2, deflate;q=0.8", "deflate"),
    ("gzip;q=0.5, identity;q=1", None), ("br", None), ("identity", None), ("*", None),
    ("", None)])
def test_compressed_response(server, accept, used):
    response = infer(server, MODEL, GOOD, headers={"Accept-Encoding": accept})
    assert response.status == 200
    assert response.headers.get("content-encoding") == used
    body = EXPAND[used](response.body) if used else response.body
    assert int(response.headers["content-length"]) == len(response.body)
    assert json.loads(body)["outputs"][0]["data"] == ANSWER


@pytest.mark.parametrize("name", COMPRESS)
def test_compressed_binary_response(server, name):
    values = np.arange(1000, dtype=np.int32)
    document = {"inputs": [tensor("INPUT0", "INT32", [1000], binary_data_size=4000)],
                "parameters": {"binary_data_output": True}}
    response = infer(server, MODEL, document, values.tobytes(), headers={"Accept-Encoding": name})
    assert response.headers["content-encoding"] == name
    plain = EXPAND[name](response.body)
    assert len(response.body) < len(plain)
    length = int(response.headers[HEADER_LENGTH.lower()])  # of the plain JSON part
    assert json.loads(plain[:length])["outputs"][0]["shape"] == [1000]
    assert plain[length:] == values.tobytes()


@pytest.mark.parametrize("request_algorithm", [None, "gzip", "deflate"])
@pytest.mark.parametrize("response_algorithm", [None, "gzip", "deflate"])
def test_clients_compression(http, request_algorithm, response_algorithm):
    array = np.arange(1000, dtype=np.int32)
    answer = http.infer(MODEL, [http.input("INPUT0", array)], ["OUTPUT0"],
                        request_compression_algorithm=request_algorithm,
                        response_compression_algorithm=response_algorithm)
    assert (answer.array("OUTPUT0") == array).all()
