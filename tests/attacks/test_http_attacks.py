# SPDX-License-Identifier: Apache-2.0
"""Attacks on the HTTP front end, byte by byte."""

import json
import os
import resource
import socket
import time
import zlib

import pytest
import raw_http
from conftest import AT_ONCE, memory_of, push, write_victims
from raw_http import HEADER_LENGTH, Wire, head, infer_path, tensor
from server_process import sanitized

SECONDS = 1.0  # duration of endless attacks
MIB = 1 << 20


def gzipped(block, count) -> bytes:
    """Compresses many copies of `block`."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(block) for _ in range(count)) + packer.flush()


def post(path, body, *headers) -> bytes:
    return head("POST", path, f"Content-Length: {len(body)}", *headers) + body


def push_for(wires, block, seconds=SECONDS):
    """Sends one block after the other on all connections, whether or not the answers are read."""
    end = time.monotonic() + seconds
    for wire in wires:
        wire.socket.setblocking(False)
    while wires and time.monotonic() < end:
        for wire in list(wires):
            try:
                wire.socket.send(block)
            except BlockingIOError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                wires.remove(wire)


def test_announced_lengths(server, attack):
    """Half a terabyte is announced, and one byte of each gigabyte is sent."""
    address_space = memory_of(server, "VmSize")
    with attack(server, peak_mib=64, worst_ms=500):
        wires = [Wire(server) for _ in range(256)]
        for wire in wires:
            wire.send(head("POST", infer_path("plain"), f"Content-Length: {2000 * MIB}") + b"{")
        assert raw_http.get(server, "/v2/health/live").status == 200
        assert memory_of(server, "VmSize") - address_space < 16 * 1024
        for wire in wires:
            wire.close()


def test_gzip_bombs(server, attack):
    bomb = gzipped(b" " * MIB, 60)
    with attack(server, peak_mib=600, worst_ms=500):
        wires = [Wire(server, 60) for _ in range(20)]
        for wire in wires:
            wire.send(post(infer_path("plain"), bomb, "Content-Encoding: gzip"))
        for wire in wires:
            assert wire.read().status in (400, 500, 503)
            wire.close()


def test_gzip_bodies_of_real_data(server, attack):
    count = 2 * MIB
    document = json.dumps({"inputs": [tensor("INPUT0", "UINT8", [count],
                                             list(range(256)) * (count // 256))],
                           "parameters": {"binary_data_output": True}}).encode()
    body = zlib.compress(document)
    with attack(server, peak_mib=600, worst_ms=500):
        wires = [Wire(server, 60) for _ in range(8)]
        for wire in wires:
            wire.send(post(infer_path("bytes"), body, "Content-Encoding: deflate"))
        for wire in wires:
            answer = wire.read()
            assert answer.status == 200, answer.body
            assert len(answer.parts()[1]) == count
            wire.close()


def test_large_gzip_answers(server, attack):
    blob = bytes(range(256)) * (4 * MIB // 256)
    document = json.dumps({"inputs": [tensor("INPUT0", "UINT8", [len(blob)],
                                             binary_data_size=len(blob))]}).encode()
    request = post(infer_path("bytes"), document + blob, f"{HEADER_LENGTH}: {len(document)}",
                   "Accept-Encoding: gzip")
    with attack(server, peak_mib=400, worst_ms=500):
        wires = [Wire(server, 60) for _ in range(4)]
        for wire in wires:
            wire.send(request)
        for wire in wires:
            answer = wire.read()
            assert answer.status == 200
            assert answer.headers["content-encoding"] == "gzip"
            wire.close()


def test_chunked_upload(server, attack):
    """Sends as fast as possible. Without a size of its JSON part all of the body is JSON, whose limit
    is 64 MiB: the request ends there."""
    chunk = b"100000\r\n" + b" " * MIB + b"\r\n"
    with attack(server, peak_mib=220, worst_ms=500), Wire(server, 60) as wire:
        wire.send(head("POST", infer_path("plain"), "Transfer-Encoding: chunked"))
        for _ in range(256):
            wire.send(chunk)
        answer = wire.read()
        assert answer.status == 400
        assert "exceeds the maximum allowed input size of 67108864 bytes" in answer.error


def test_small_chunks(server, attack):
    with attack(server, peak_mib=64, worst_ms=500), Wire(server, 60) as wire:
        wire.send(head("POST", infer_path("plain"), "Transfer-Encoding: chunked"))
        push(wire, b"1\r\n \r\n" * 70_000)
        answer = wire.read()
        assert answer.status == 400
        assert "65536 non-empty chunks" in answer.error


def test_lingering_flood(server, attack):
    """Clients continue to send bodies that were refused."""
    with attack(server, peak_mib=64, worst_ms=500):
        wires = [Wire(server) for _ in range(8)]
        for wire in wires:
            wire.send(head("POST", infer_path("plain"), "Content-Length: 3000000000"))
            assert wire.read().status == 413
        push_for(wires, b" " * AT_ONCE)
        for wire in wires:
            wire.close()


def test_pipelining_flood(server, attack):
    """Endless requests whose answers are not read."""
    block = head("GET", "/v2/health/live") * 1000
    with attack(server, peak_mib=64, worst_ms=500):
        wires = [Wire(server) for _ in range(4)]
        push_for(list(wires), block)
        for wire in wires:
            wire.close()


def test_pipelining_of_documents(server, attack):
    """Lists of all models, one after the other."""
    block = (head("GET", "/v2/models/stats")
             + head("POST", "/v2/repository/index", "Content-Length: 0")) * 100
    with attack(server, peak_mib=64, worst_ms=500):
        wires = [Wire(server) for _ in range(4)]
        push_for(list(wires), block)
        for wire in wires:
            wire.close()


def repeated(key, count, rounds) -> bytes:
    """Returns a document in which one key occurs many times."""
    values = ",".join('"%s":[%s]' % (key, ",".join('{"name":"%d"}' % (number + count * turn)
                                                   for number in range(count)))
                      for turn in range(rounds))
    return ('{"inputs":[],' + values + "}").encode()


def test_repeated_keys(server, attack):
    with attack(server, peak_mib=128, worst_ms=500):
        for key in ("outputs", "inputs"):
            begin = time.monotonic()
            for _ in range(4):
                answer = raw_http.infer(server, "plain", repeated(key, 4000, 40))
                assert answer.status in (400, 500), answer.body
            assert time.monotonic() - begin < 20


def test_many_names(server, attack):
    """The maximum number of inputs and outputs, all with different names."""
    inputs = ",".join('{"name":"%d","datatype":"INT8","shape":[1],"data":[1]}' % number
                      for number in range(4096))
    outputs = ",".join('{"name":"%d","parameters":{"classification":1,"binary_data":true}}' % number
                       for number in range(4096))
    document = f'{{"inputs":[{inputs}],"outputs":[{outputs}]}}'.encode()
    with attack(server, peak_mib=64, worst_ms=500):
        for _ in range(20):
            assert raw_http.infer(server, "plain", document).status == 400


def test_json_that_grows(server, attack):
    """Parameters, dimensions and members of a few bytes each."""
    documents = [
        b'{"inputs":[],"parameters":{' + b",".join([b'"a":1'] * 500_000) + b"}}",
        b'{"inputs":[{"name":"a","datatype":"INT8","shape":['
        + b",".join([b"1"] * 1_000_000) + b'],"data":[1]}]}',
        b'{"inputs":[],' + b",".join([b'"":[]'] * 500_000) + b"}",
    ]
    with attack(server, peak_mib=128, worst_ms=500):
        for document in documents:
            assert raw_http.infer(server, "plain", document).status in (400, 500)


def open_files(server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def test_no_file_descriptors_left(start_server, test_plugins):
    """No client can connect while others hold all descriptors. The log says so once, and the next
    client is served when they are gone."""
    server = start_server("no_files", write_victims(test_plugins))
    if sanitized(server):
        pytest.skip("a sanitizer needs descriptors itself: without one it takes objects for broken")
    soft, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    assert soft == min(hard, 1 << 20)  # the server raises it at its start
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (open_files(server) + 10, hard))
    held = [socket.create_connection(("127.0.0.1", port))
            for port in (server.http_port, server.grpc_port) for _ in range(50)]
    used = cpu_seconds(server)
    time.sleep(2)  # time in which a busy loop would log many lines and use CPU time
    assert server.alive()
    assert cpu_seconds(server) - used < 1
    lines = [line for line in server.log_tail(100_000).splitlines() if "cannot accept" in line]
    assert len(lines) == 1, lines
    assert "ulimit -n" in lines[0], lines
    for one in held:
        one.close()
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
    end = time.monotonic() + 10
    while True:
        try:
            assert raw_http.get(server, "/v2/health/live").status == 200
            break
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)


def cpu_seconds(server) -> float:
    fields = open(f"/proc/{server.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
