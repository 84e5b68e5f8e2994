# SPDX-License-Identifier: Apache-2.0
"""A well-behaved client that measures its waiting times, in its own process.

    bystander.py HTTP_PORT GRPC_PORT MODEL [CA_FILE]

Sends requests to MODEL (an identity of INT32) over several connections of each protocol in turn, so
that every event loop gets some, until its standard input ends; over TLS if CA_FILE is given. Then prints one line of JSON: count,
p99_ms, worst_ms, failures (different texts, at most five).
"""

import json
import select
import socket
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

sys.path.append(str(Path(__file__).resolve().parents[1] / "conformance"))

import h2_wire  # noqa: E402
import raw_http  # noqa: E402
from certificates import client_context  # noqa: E402

CONNECTIONS = 6  # connections of each protocol: with two loops, one run in 32 misses a loop
PATIENCE = 60.0
PAUSE = 0.002


class Waits:
    def __init__(self):
        self.lock = threading.Lock()
        self.seconds = []
        self.failures = []

    def took(self, seconds):
        with self.lock:
            self.seconds.append(seconds)

    def failed(self, text):
        with self.lock:
            self.failures.append(text)

    def report(self):
        ordered = sorted(self.seconds) or [0.0]
        return {"count": len(self.seconds),
                "p99_ms": round(ordered[int(len(ordered) * 0.99)] * 1000, 2),
                "worst_ms": round(ordered[-1] * 1000, 1),
                "failures": sorted(set(self.failures))[:5]}


def infer_message(model) -> bytes:
    """Returns a ModelInferRequest for INPUT0 = [7, 7, 7, 7], written without protobuf's runtime."""
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data
    tensor = field(1, b"INPUT0") + field(2, b"INT32") + field(3, b"\x04")
    return (field(1, model.encode()) + field(5, tensor)
            + bytes([7 << 3 | 2, 16]) + b"\7\0\0\0" * 4)


class HttpAsker:
    def __init__(self, server, model):
        self.server, self.model = server, model
        self.connections = [raw_http.Wire(server, PATIENCE) for _ in range(CONNECTIONS)]
        body = json.dumps({"inputs": [{"name": "INPUT0", "shape": [4], "datatype": "INT32",
                                       "data": [7] * 4}]}).encode()
        self.request = raw_http.head("POST", raw_http.infer_path(model),
                                     f"Content-Length: {len(body)}") + body

    def ask(self, number):
        wire = self.connections[number % CONNECTIONS]
        wire.send(self.request)
        answer = wire.read()
        if answer.status == 200:
            return None
        wire.close()  # the server is permitted to do this
        self.connections[number % CONNECTIONS] = raw_http.Wire(self.server, PATIENCE)
        return f"HTTP {answer.status} {answer.body[:200]}"


class GrpcAsker:
    def __init__(self, server, model):
        self.connections = [h2_wire.Wire(server) for _ in range(CONNECTIONS)]
        self.streams = [1] * CONNECTIONS
        for wire in self.connections:
            wire.socket.settimeout(PATIENCE)
            wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.message = h2_wire.message(infer_message(model))

    def ask(self, number):
        place = number % CONNECTIONS
        wire, stream = self.connections[place], self.streams[place]
        self.streams[place] += 2
        wire.request(stream)
        wire.data(stream, self.message)
        fields, _ = wire.call_result(stream)
        status = fields.get("grpc-status")
        return None if status == "0" else f"gRPC {fields}"


def ask_until(stop, asker, waits, barrier):
    barrier.wait()
    number = 0
    while not stop.is_set():
        begin = time.monotonic()
        try:
            failure = asker.ask(number)
        except (AssertionError, EOFError, OSError) as error:
            waits.failed(f"{type(asker).__name__}: {error!r}")
            return
        waits.took(time.monotonic() - begin)
        if failure:
            waits.failed(failure)
        number += 1
        stop.wait(PAUSE)


def main():
    http_port, grpc_port, model = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    tls = client_context(Path(sys.argv[4]), "h2", "http/1.1") if len(sys.argv) > 4 else None
    server = SimpleNamespace(http_port=http_port, grpc_port=grpc_port, tls=tls)
    stop, waits, barrier = threading.Event(), Waits(), threading.Barrier(3)
    threads = [threading.Thread(target=ask_until, args=(stop, asker(server, model), waits, barrier))
               for asker in (HttpAsker, GrpcAsker)]
    for thread in threads:
        thread.start()
    barrier.wait()
    print("ready", flush=True)
    select.select([sys.stdin], [], [])
    stop.set()
    for thread in threads:
        thread.join()
    print(json.dumps(waits.report()), flush=True)


if __name__ == "__main__":
    main()
