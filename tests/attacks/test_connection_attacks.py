# SPDX-License-Identifier: Apache-2.0
"""Clients that open connections and finish nothing, and heads, bodies and chunks that never end or
that two servers would read differently."""

import contextlib
import json
import resource
import socket
import time

import pytest
import raw_http
from conftest import attacker, push, write_victims
from raw_http import Wire, head, infer_path, tensor

SECONDS = 1.0  # duration of endless attacks
MANY = 10_000
KEPT = 500  # descriptors that this process needs for other things


@pytest.fixture
def many():
    """Returns how many connections the limits of descriptors permit, at most MANY."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MANY + KEPT if hard == resource.RLIM_INFINITY else min(hard, MANY + KEPT)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield min(MANY, max(soft, wanted) - KEPT)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connect(port, count, data=b"", new_client=attacker):
    """Opens connections that send no more than `data`."""
    wires = []
    for _ in range(count):
        one = new_client(port, timeout=60)
        if data:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                one.sendall(data)
        wires.append(one)
    return wires


def from_one_address(port, timeout):
    return socket.create_connection(("127.0.0.1", port), timeout)


def close(wires):
    for one in wires:
        one.close()


def dribble(wires, data, seconds=SECONDS):
    """Sends one byte of `data` after the other on each connection. Returns the number of bytes."""
    end, sent = time.monotonic() + seconds, 0
    while time.monotonic() < end and sent < len(data):
        for wire in wires:
            push(wire, data[sent:sent + 1])
        sent += 1
    return sent


def answers(server, data, timeout=10) -> list:
    """Sends bytes and returns the statuses of the answers until the server closes the connection.
    """
    with Wire(server, timeout) as wire:
        push(wire, data)
        found = b""
        with contextlib.suppress(ConnectionResetError):
            while more := wire.socket.recv(65536):
                found += more
    return [int(line.split()[1]) for line in found.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


# --- connections ------------------------------------------------------------------------------

@pytest.mark.parametrize("data", [b"", b"POST /v2/models/plain/infer HTTP/1.1\r\nHost: x\r\nX: "],
                         ids=["silent", "half_a_head"])
def test_half_open_http_connections(server, attack, least, many, data):
    floor = least(server, lambda port: close(connect(port, many, data)))
    with attack(server, peak_mib=100, worst_ms=2000, floor=floor):
        wires = connect(server.http_port, many, data)
        assert raw_http.get(server, "/v2/health/live").status == 200
        close(wires)


@pytest.mark.parametrize("data", [b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4" + bytes(5)],
                         ids=["silent", "preface"])
def test_half_open_grpc_connections(server, attack, least, many, data):
    floor = least(server, lambda port: close(connect(port, many, data)))
    with attack(server, peak_mib=400, worst_ms=2000, floor=floor):
        wires = connect(server.grpc_port, many, data)
        close(wires)


def test_thousands_speak_and_leave_at_once(server, attack, many):
    """The server has all of that to do at the same time, and serves others first."""
    with attack(server, peak_mib=100, worst_ms=2000):
        wires = connect(server.http_port, many, b"GET /")
        for wire in wires:
            wire.sendall(b"x")
        close(wires)


def test_one_address_takes_all_connections(start_server, attack, many, test_plugins):
    """An address has its limit, and the clients of other addresses are served."""
    server = start_server("per_address", write_victims(test_plugins),
                          "--max-connections-per-address=64")
    with attack(server, peak_mib=64, worst_ms=500):
        wires = connect(server.http_port, min(many, 2000), new_client=from_one_address)
        with socket.create_connection(("127.0.0.1", server.http_port), timeout=60,
                                      source_address=("127.0.0.2", 0)) as other:
            other.sendall(head("GET", "/v2/health/live"))
            assert other.recv(100).startswith(b"HTTP/1.1 200")
        close(wires)
    lines = [line for line in server.log_tail(10_000).splitlines()
             if "--max-connections-per-address" in line]
    assert 1 <= len(lines) <= 2, lines


# --- slow clients -----------------------------------------------------------------------------

def test_slow_heads(server, attack):
    text = head("GET", "/v2/health/live", "X: " + "x" * 10_000)
    with attack(server, peak_mib=64, worst_ms=500):
        wires = [Wire(server) for _ in range(500)]
        assert dribble(wires, text) > 1
        close(wires)


@pytest.mark.parametrize("framing", ["Content-Length: 60000000", "Transfer-Encoding: chunked"])
def test_slow_bodies(server, attack, framing):
    """A body that would take gigabytes in all, of which a few bytes arrive."""
    text = b"3938700\r\n" + b" " * 10_000 if "chunked" in framing else b" " * 10_000
    with attack(server, peak_mib=64, worst_ms=500):
        wires = [Wire(server) for _ in range(500)]
        for wire in wires:
            wire.send(head("POST", infer_path("plain"), framing))
        assert dribble(wires, text) > 1
        close(wires)


# --- heads and chunks without an end ----------------------------------------------------------

@pytest.mark.parametrize("begin,block,status", [
    ("GET /v2/health/live HTTP/1.1\r\n", "A: b\r\n", 431),
    ("GET /v2/health/live HTTP/1.1\r\nA: ", "a" * 100, 431),
    ("GET /v2/health/live HTTP/1.1\r\nA: ", "a\r\n ", 431),
    ("GET /", "v2/" * 100, 431),
    ("POST /v2/models/plain/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;",
     "name=value;" * 10, 431),
    ("POST /v2/models/plain/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "0" * 100, 431),
    ("POST /v2/models/plain/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
     "A: b\r\n", 431),
], ids=["fields", "value", "folded", "target", "extensions", "chunk_size", "trailers"])
def test_no_end(server, attack, begin, block, status):
    """Megabytes on each of several connections: the server answers at its limit, and closes."""
    flood = begin.encode() + block.encode() * (4_000_000 // len(block))
    with attack(server, peak_mib=64, worst_ms=500):
        for _ in range(10):
            assert answers(server, flood) in ([status], [])  # the answer may be lost in a reset
        # Without more bytes than the limit there is no reset, so the answer must be seen.
        assert answers(server, begin.encode() + block.encode() * (20_000 // len(block))) == [status]


CHUNK_SIZES = ["FFFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFF0", "7FFFFFFFFFFFFFFF", "10000000000000000",
               "1" + "0" * 100, "80000001", "-1", "+1", "0x10", "1_0", " 1", "1 1", ""]


def test_chunk_sizes(server, attack):
    """Sizes that overflow a number, or that are none."""
    with attack(server, peak_mib=32, worst_ms=500):
        for size in CHUNK_SIZES:
            for before in (b"", b"5\r\nhello\r\n"):
                text = head("POST", infer_path("plain"), "Transfer-Encoding: chunked")
                found = answers(server, text + before + size.encode() + b"\r\nhello\r\n"
                                + b"0\r\n\r\n" + head("GET", "/v2/health/live"))
                assert found in ([400], [413]), (size, found)


# --- request smuggling ------------------------------------------------------------------------

def smuggled() -> bytes:
    """A request that nobody has sent if the body before it ends where it should."""
    body = json.dumps({"inputs": [tensor("INPUT0", "INT32", [1], [1])]}).encode()
    return head("POST", infer_path("plain"), f"Content-Length: {len(body)}") + body


def inferences(server) -> int:
    stats = raw_http.get(server, "/v2/models/plain/stats").json["model_stats"][0]
    return stats["inference_stats"]["success"]["count"] + stats["inference_stats"]["fail"]["count"]


LENGTH = len(b"0\r\n\r\n") + len(smuggled())


PAIRS = [
    [f"Content-Length: {LENGTH}", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", f"Content-Length: {LENGTH}"],
    ["Content-Length: 5", f"Content-Length: {LENGTH}"],
    [f"Content-Length: {LENGTH}", "Content-Length: 5"],
    [f"Content-Length: 5, {LENGTH}"],
    [f"Content-Length: {LENGTH}", "Transfer-Encoding : chunked"],
    [f"Content-Length : {LENGTH}", "Transfer-Encoding: chunked"],
    [f"Content-Length: {LENGTH}", "Transfer-Encoding: xchunked"],
    [f"Content-Length: {LENGTH}", "Transfer-Encoding:\tchunked"],
    [f"Content-Length: {LENGTH}", "Transfer-Encoding: chunked, identity"],
    [f"Content-Length: {LENGTH}", "X: a\nTransfer-Encoding: chunked"],
    [f"Content-Length: {LENGTH}", "X: a\rTransfer-Encoding: chunked"],
    [f"Content-Length: {LENGTH}", "Transfer-Encoding:", " chunked"],
    [f"Content-Length: {LENGTH}", "Transfer-Encoding: \x0bchunked"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
    [f"Content-Length: +{LENGTH}"],
    [f"Content-Length: 0x{LENGTH:x}"],
    [f"Content-Length: {LENGTH}\0"],
]


def test_smuggling(server, attack):
    """Another server on the way may see a different end of the body. There is one refusal, and what
    follows is not read as a request."""
    before = inferences(server)
    with attack(server, peak_mib=32, worst_ms=500):
        for fields in PAIRS:
            text = head("POST", "/v2/repository/index", *fields) + b"0\r\n\r\n" + smuggled()
            found = answers(server, text)
            assert found in ([400], [501]), (fields, found)
            # Cut where another server may have forwarded it in two segments.
            with Wire(server) as wire:
                push(wire, text[:-len(smuggled())])
                push(wire, smuggled())
                assert wire.read().status in (400, 501), fields
                assert wire.closed_by_peer(), fields
    assert inferences(server) == before


CHUNKS = [
    b"0\n\r\n", b"0\r\n\n", b"5\nhello\r\n0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n",
    b"5\r\nhelloX0\r\n\r\n", b"5;\nx\r\nhello\r\n0\r\n\r\n", b"5;a=\"\r\n\"\r\nhello\r\n0\r\n\r\n",
    b"0\r\nX : a\r\n\r\n", b"0\r\n X: a\r\n\r\n", b"0\r\nX: a\n\r\n",
]


def test_smuggling_in_chunks(server, attack):
    """Bare line feeds, extensions and trailers that servers read in different ways."""
    before = inferences(server)
    with attack(server, peak_mib=32, worst_ms=500):
        for chunks in CHUNKS:
            text = head("POST", "/v2/repository/index", "Transfer-Encoding: chunked") + chunks
            found = answers(server, text + smuggled())
            assert found == [400], (chunks, found)
    assert inferences(server) == before


def test_harmless_forms_are_read_alike(server):
    """What is unusual and has one meaning only is served, and so is the request behind it."""
    for chunks in (b"0;a=b\r\n\r\n", b"0;a=\"b c\"\r\nX: a\r\n\r\n", b"000\r\n\r\n"):
        with Wire(server) as wire:
            wire.send(head("POST", "/v2/repository/index", "Transfer-Encoding: chunked") + chunks
                      + head("GET", "/v2/health/live"))
            assert wire.read().status == 200, chunks
            assert wire.read().status == 200, chunks
