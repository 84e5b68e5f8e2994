# SPDX-License-Identifier: Apache-2.0
"""A receiver of OpenTelemetry's traces (OTLP over HTTP, protobuf), made with the official messages.
It can be stopped and started again on the same port, refuse, and wait."""

import base64
import contextlib
import gzip
import json
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest, ExportTraceServiceResponse)
from server_process import free_ports


@dataclass
class Span:
    """A span as texts and numbers. `parent` is "" or the id of a span."""

    trace: str
    id: str
    parent: str
    name: str
    kind: int
    start: int
    end: int
    state: str
    attributes: dict
    events: list  # names
    event_times: list
    resource: dict = field(repr=False)
    scope: str = ""


def _values(pairs):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def _with_base64(value):
    """Returns OTLP's JSON as the general JSON of protobuf, which has other texts for bytes."""
    if isinstance(value, list):
        return [_with_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {key: base64.b64encode(bytes.fromhex(item)).decode() if key in ids
            else _with_base64(item) for key, item in value.items()}


def _spans(message):
    for of_resource in message.resource_spans:
        resource = _values(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                yield Span(span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(),
                           span.name, span.kind, span.start_time_unix_nano,
                           span.end_time_unix_nano, span.trace_state, _values(span.attributes),
                           [e.name for e in span.events],
                           [e.time_unix_nano for e in span.events], resource,
                           of_scope.scope.name)


class Receiver:
    """Takes spans at `url` between start() and stop(). The answer is 200, or as `answer` says: a
    function that gets the number of the request and returns a status and headers."""

    def __init__(self, certificate=None):
        (self.port,) = free_ports(1)
        self.scheme = "https" if certificate else "http"
        self.url = f"{self.scheme}://127.0.0.1:{self.port}/v1/traces"
        self.answer = lambda number: (200, {})
        self.may_answer = threading.Event()  # cleared: requests wait
        self.may_answer.set()
        self.asked = threading.Semaphore(0)  # counts requests
        self.headers = []  # of each request
        self.taken = []  # spans that were answered with 200
        self.requests = 0
        self._certificate = certificate
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._connections = set()
        self._server = None

    def start(self):
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self):
                super().setup()
                receiver._connections.add(self.connection)

            def finish(self):
                receiver._connections.discard(self.connection)
                with contextlib.suppress(OSError, ValueError):
                    super().finish()

            def do_POST(self):
                receiver._take(self)

            def log_message(self, *arguments):
                pass

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # a connection that stop() has closed

        self._server = Server(("127.0.0.1", self.port), Handler)
        if self._certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02},
                         daemon=True).start()
        return self

    def stop(self):
        """Ends between two requests, so that it is certain what was taken."""
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            self._server = None
            for connection in list(self._connections):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _take(self, request):
        body = request.rfile.read(int(request.headers["Content-Length"]))
        assert request.path == "/v1/traces"
        if request.headers["Content-Type"] == "application/json":  # Triton's form
            message = ParseDict(_with_base64(json.loads(body)), ExportTraceServiceRequest())
        else:
            assert request.headers["Content-Type"] == "application/x-protobuf"
            assert request.headers["Content-Encoding"] == "gzip"
            message = ExportTraceServiceRequest.FromString(gzip.decompress(body))
        self.asked.release()
        self.may_answer.wait(60)
        with self._lock:
            if request.server is not self._server:
                return  # stopped meanwhile
            self.requests += 1
            self.headers.append(dict(request.headers))
            status, headers = self.answer(self.requests)
            if status == 200:
                self.taken += _spans(message)
            answer = ExportTraceServiceResponse().SerializeToString()
            with contextlib.suppress(OSError):
                request.send_response(status)
                for name, value in {"Content-Type": "application/x-protobuf",
                                    "Content-Length": str(len(answer)), **headers}.items():
                    request.send_header(name, value)
                request.end_headers()
                request.wfile.write(answer)
            self._changed.notify_all()

    def wait(self, complete, timeout=40):
        """Returns the spans when `complete(spans)` holds."""
        end = time.monotonic() + timeout
        with self._lock:
            while not complete(self.taken):
                left = end - time.monotonic()
                assert left > 0, f"spans are missing: {[s.name for s in self.taken]}"
                self._changed.wait(left)
            return list(self.taken)

    def wait_roots(self, count, timeout=40):
        """Returns the spans when `count` requests are complete."""
        return self.wait(lambda spans: sum(s.name == "InferRequest" for s in spans) >= count,
                         timeout)


def parents(spans):
    """Returns {name: name of the parent}; None without a parent, "?" for a foreign one. Names must
    differ."""
    names = {span.id: span.name for span in spans}
    return {s.name: names.get(s.parent, "?") if s.parent else None for s in spans}
