# SPDX-License-Identifier: Apache-2.0
"""Every route of the HTTP front end with every kind of wrong request, generated from one table, over
HTTP/1.1 and HTTP/2.

The table has a row for each endpoint of the source's list (src/frontend/http/route.h). A wrong
request gets an error in JSON with a text, never a success and never silence, and the server answers
the next one.
"""

import copy
import http.client
import json
import re
from dataclasses import dataclass
from pathlib import Path

import models
import pytest
from http2_client import Http2Client, Reset
from raw_http import Wire, head, tensor

SOURCE = Path(__file__).resolve().parents[2] / "src" / "frontend" / "http" / "route.h"
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NONSENSE")
MAX_INPUT = 20_000
REFUSED = (400, 404, 405, 413, 415, 500, 501, 503)


@dataclass(frozen=True)
class Row:
    endpoint: str
    path: str  # {m} is a model, {v} "" or "/versions/1"
    methods: tuple = ("GET",)
    body: dict | None = None  # of POST, a valid one


INFER = {"id": "7", "parameters": {"sequence_id": 0, "priority": 0, "timeout": 0},
         "inputs": [tensor("INPUT0", "INT32", [2], [1, 2])],
         "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": False}}]}
ROWS = [
    Row("kServerMetadata", "/v2"),
    Row("kServerOpenApi", "/v2/openapi.json"),
    Row("kServerLive", "/v2/health/live"),
    Row("kServerReady", "/v2/health/ready"),
    Row("kDrain", "/v2/drain", ("GET", "POST", "DELETE"), {"drain": False, "seconds": 5}),
    Row("kSequenceClaim", "/v2/sequences/claim", ("POST",)),
    Row("kSequenceSettle", "/v2/sequences/settle", ("POST",)),
    Row("kSequenceOffer", "/v2/sequences/offer", ("POST",)),
    Row("kV1Live", "/"),
    Row("kV1ModelReady", "/v1/models/{m}"),
    Row("kModelMetadata", "/v2/models/{m}{v}"),
    Row("kModelOpenApi", "/v2/models/{m}{v}/openapi.json"),
    Row("kModelReady", "/v2/models/{m}{v}/ready"),
    Row("kModelConfig", "/v2/models/{m}{v}/config"),
    Row("kStatistics", "/v2/models/{m}{v}/stats"),
    Row("kStatistics", "/v2/models/stats"),
    Row("kSequences", "/v2/models/{m}{v}/sequences"),
    Row("kInfer", "/v2/models/{m}{v}/infer", ("POST",), INFER),
    Row("kGenerate", "/v2/models/{m}{v}/generate", ("POST",), {"INPUT0": [1, 2]}),
    Row("kGenerateStream", "/v2/models/{m}{v}/generate_stream", ("POST",), {"INPUT0": [1, 2]}),
    Row("kTraceSetting", "/v2/trace/setting", ("GET", "POST"),
        {"trace_level": ["OFF"], "trace_rate": "1000", "trace_count": "-1", "log_frequency": "0"}),
    Row("kTraceSetting", "/v2/models/{m}/trace/setting", ("GET", "POST"), {"trace_rate": "1000"}),
    Row("kLogging", "/v2/logging", ("GET", "POST"),
        {"log_info": True, "log_verbose_level": 0, "log_format": "default"}),
    Row("kRepositoryIndex", "/v2/repository/index", ("POST",), {"ready": False}),
    Row("kModelLoad", "/v2/repository/models/{m}/load", ("GET", "POST", "DELETE"),
        {"parameters": {}}),
    Row("kModelUnload", "/v2/repository/models/spare/unload", ("POST",),
        {"parameters": {"unload_dependents": False}}),
    Row("kRollout", "/v2/repository/models/{m}/rollout", ("GET", "PUT", "DELETE")),
    Row("kSharedMemoryStatus", "/v2/systemsharedmemory/status", ("GET",)),
    Row("kSharedMemoryRegister", "/v2/systemsharedmemory/region/r/register", ("POST",),
        {"key": "/nereid_matrix", "offset": 0, "byte_size": 8}),
    Row("kSharedMemoryRegister", "/v2/cudasharedmemory/region/r/register", ("POST",),
        {"raw_handle": {"b64": "AAAA"}, "device_id": 0, "byte_size": 8}),
    Row("kSharedMemoryUnregister", "/v2/systemsharedmemory/region/r/unregister", ("POST",)),
]
WITH_BODY = [row for row in ROWS if row.body is not None]


def name_of(row):
    return row.path


def path_of(row, model="plain", version=""):
    return row.path.format(m=model, v=version)


@pytest.fixture(scope="module")
def victim(is_peer, start_server):
    if is_peer:
        pytest.skip("the differences from Triton are listed case by case elsewhere")

    def write(root):
        repository = models.Repository(root)
        repository.identity("plain", [("INT32", [-1])])
        repository.identity("spare", [("INT32", [-1])])

    return start_server("matrix", write, "--model-control-mode=explicit", "--load-model=plain",
                        f"--http-max-input-size={MAX_INPUT}")


class Http1Client:
    """A kept connection, which is opened again where the server has closed it."""

    def __init__(self, server):
        self.server = server
        self.connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)

    def ask(self, method, path, body=None, headers=None):
        try:
            self.connection.request(method, path, body, headers or {})
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            raise

    def close(self):
        self.connection.close()


class Http2Connection:
    """The same over HTTP/2. What is malformed there already, such as characters that a path must not
    have, counts as refused."""

    def __init__(self, server):
        self.server = server
        self.connection = Http2Client(server)

    def ask(self, method, path, body=None, headers=None):
        try:
            answer = self.connection.request(method, path, body, headers)
            return answer.status, answer.body
        except Reset as reset:
            assert reset.code == 1, "no PROTOCOL_ERROR"
            return 400, b""

    def close(self):
        assert self.connection.goaway is None
        self.connection.close()


class Client:
    """What the tests do with a connection of either kind."""

    def __init__(self, kind, server):
        self.server = server
        self.connection = kind(server)

    def ask(self, *args):
        return self.connection.ask(*args)

    def close(self):
        self.connection.close()

    def refused(self, method, path, body=None, headers=None, among=REFUSED):
        status, text = self.ask(method, path, body, headers)
        assert status in among, (method, path, body, headers, status, text)
        if method != "HEAD":
            has_text(text, (method, path, body))
        return status

    def lives(self):
        assert self.ask("GET", "/v2/health/live")[0] == 200
        assert self.server.alive()


def has_text(text, where):
    """The error is JSON in UTF-8 with a text; a question that is answered with no has none."""
    if not text:
        return
    if text.startswith(b"data: "):
        text = text[6:]
    document = json.loads(text.decode("utf-8"))
    assert list(document) == ["error"] and document["error"], (where, text)


@pytest.fixture(params=[Http1Client, Http2Connection], ids=["http1", "http2"])
def client(request, victim):
    client = Client(request.param, victim)
    yield client
    client.lives()
    client.close()


@pytest.fixture
def client_of_http1(victim):
    client = Client(Http1Client, victim)
    yield client
    client.lives()
    client.close()


def test_every_endpoint_has_a_row():
    endpoints = re.search(r"enum class Endpoint \{(.*?)\}", SOURCE.read_text(), re.S).group(1)
    known = set(re.findall(r"\b(k\w+),", re.sub(r"//.*", "", endpoints))) - {"kUnknown"}
    assert {row.endpoint for row in ROWS} == known


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_wrong_methods(client, row):
    for method in METHODS:
        is_read = method == "HEAD" and "GET" in row.methods
        if method not in row.methods and not is_read:
            client.refused(method, path_of(row), "{}" if method == "PUT" else None,
                           among=(400, 405, 501))


@pytest.mark.parametrize("row", [r for r in ROWS if "{m}" in r.path], ids=name_of)
@pytest.mark.parametrize("model", ["unknown", "plain%00", "..", "%2e%2e", "a" * 3000, "%ff%fe",
                                   "plain%2F..%2Fplain", "-1", "[]", "'\"<>"])
def test_unknown_models(client, row, model):
    for method in row.methods:
        if row.endpoint == "kSequences" or (row.endpoint == "kTraceSetting" and method == "GET"):
            continue  # not enabled; the settings of the server apply
        body = json.dumps(row.body) if method == "POST" else None
        client.refused(method, path_of(row, model), body)


@pytest.mark.parametrize("row", [r for r in ROWS if "{v}" in r.path], ids=name_of)
@pytest.mark.parametrize("version", ["2", "0", "99999999999999999999", "-1", "1.0", "x", "", "+1",
                                     "%2b1"])
def test_unknown_versions(client, row, version):
    for method in row.methods:
        body = json.dumps(row.body) if method == "POST" else None
        client.refused(method, path_of(row, version=f"/versions/{version}"), body)


@pytest.mark.parametrize("row", WITH_BODY, ids=name_of)
def test_bodies_that_are_not_json(client, row):
    good = json.dumps(row.body)
    cuts = [good[:len(good) * part // 8] for part in range(1, 8)]
    others = ["[", "]", "nul", "{]", '{"a"', '{"a":1,}', good + "x", good + good, "\0", "{" * 500,
              "[" * 5000]
    binary = [b"\xff\xfe\x00", good.encode("utf-16"), b"\x1f\x8b\x08\x00"]
    for body in cuts + others + binary:
        client.refused("POST", path_of(row), body)


@pytest.mark.parametrize("row", WITH_BODY, ids=name_of)
def test_other_json(client, row):
    """A document that is no object. For settings it is one without members, as in Triton: nothing
    changes."""
    settings = row.endpoint in ("kTraceSetting", "kLogging")
    before = client.ask("GET", path_of(row)) if settings else None
    for body in ("[]", "5", '"text"', "true", "[{}]", "1e999"):
        status, text = client.ask("POST", path_of(row), body)
        if settings and status == 200:
            assert (status, text) == before, body
            continue
        assert status in REFUSED, (body, status, text)
        has_text(text, body)


def fields_of(value, path=()):
    """The paths of all members and elements."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, list) else ()
    for key, member in items:
        yield (*path, key)
        yield from fields_of(member, (*path, key))


def replaced(document, path, value):
    changed = copy.deepcopy(document)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


WRONG = [None, True, 5, -1, 1.5, 1e30, "x", "", [], {}, [[]], [None], {"a": 1}, "\ud800", 2 ** 64]


def accepted_kinds(row):
    """Pairs of a path and a value that are no fault, or may be."""
    def check(path, value):
        key = path[-1]
        if row.endpoint in ("kTraceSetting", "kLogging", "kSharedMemoryRegister"):
            return True  # each of these may take text for a number, or null to clear it
        if "parameters" in path[:-1] or key == "parameters":
            return True  # a parameter has any type; one that nobody knows is passed on
        if row.endpoint in ("kGenerate", "kGenerateStream"):
            return True  # a value instead of a list is a tensor of one element
        if value is None and path in (("id",), ("outputs",)):
            return True  # an optional member that is null counts as absent
        original = row.body
        for step in path:
            original = original[step]
        return type(value) is type(original)
    return check


@pytest.mark.parametrize("row", WITH_BODY, ids=name_of)
def test_wrong_types(client, row):
    may_pass = accepted_kinds(row)
    count = 0
    for path in fields_of(row.body):
        for value in WRONG:
            document = json.dumps(replaced(row.body, path, value))
            status, text = client.ask("POST", path_of(row), document)
            count += 1
            if status == 200:
                assert may_pass(path, value), (path, value, text)
                continue
            assert status in REFUSED, (path, value, status, text)
            has_text(text, (path, value))
    assert count >= len(WRONG) * len(list(row.body))


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_content_types(client, row):
    """The type of the content changes nothing, as in Triton."""
    method = row.methods[-1]
    if row.endpoint in ("kModelLoad", "kModelUnload"):
        pytest.skip("the answer depends on the requests before")
    body = json.dumps(row.body) if row.body is not None and method == "POST" else None
    expected = client.ask(method, path_of(row), body)[0]
    for content in ("text/plain", "multipart/form-data; boundary=x", "", "x" * 4000, "\xff/\xfe",
                    "application/x-www-form-urlencoded"):
        assert client.ask(method, path_of(row), body, {"Content-Type": content})[0] == expected


@pytest.mark.parametrize("row", WITH_BODY, ids=name_of)
def test_wrong_encodings(client, row):
    """A body that is not what its Content-Encoding says."""
    body = json.dumps(row.body)
    for encoding in ("gzip", "deflate", "br", "zstd", "identity, gzip", "\xff", "x" * 1000):
        status, text = client.ask("POST", path_of(row), body, {"Content-Encoding": encoding})
        if row.endpoint == "kInfer":
            assert status in (400, 501), (encoding, status, text)
        if encoding in ("gzip", "deflate", "br"):
            assert status in REFUSED, (encoding, status)
        assert status in (200, *REFUSED), (encoding, status)


@pytest.mark.parametrize("row", WITH_BODY, ids=name_of)
def test_large_bodies(client, row):
    """A document beyond --http-max-input-size."""
    large = json.dumps({**row.body, "filler": "x" * (2 * MAX_INPUT)})
    status, text = client.ask("POST", path_of(row), large)
    if row.endpoint == "kInfer":
        assert status in (400, 413), (status, text)
    assert status in (200, *REFUSED)


@pytest.mark.parametrize("row", WITH_BODY, ids=name_of)
def test_announced_bodies(client_of_http1, row):
    """A length beyond every limit."""
    with Wire(client_of_http1.server) as wire:
        wire.send(head("POST", path_of(row), "Content-Length: 3000000000"))
        assert wire.read().status == 413
        assert wire.closed_by_peer()


@pytest.mark.parametrize("row", WITH_BODY, ids=name_of)
def test_transfers_that_break_off(client_of_http1, row):
    """Half of a body is never taken for the whole one."""
    body = json.dumps(row.body).encode()
    for framing in (f"Content-Length: {len(body) + 1}", "Transfer-Encoding: chunked"):
        with Wire(client_of_http1.server) as wire:
            sent = b"%x\r\n" % (len(body) + 1) + body if "chunked" in framing else body
            wire.send(head("POST", path_of(row), framing) + sent)
            wire.socket.shutdown(1)
            assert wire.closed_by_peer(), bytes(wire.buffer)
