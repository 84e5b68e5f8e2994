# SPDX-License-Identifier: Apache-2.0
"""Spans of OpenTelemetry for the requests of bound functions: the argument trace_config."""

import builtins
import http.server
import json
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

from nereid.binding import tracing
from nereid.pytriton import Tensor, Triton, TritonConfig
from nereid.pytriton.decorators import batch
from nereid.pytriton.proxy.telemetry import set_telemetry_tracer, traced_span
from nereid.pytriton.tracing import use_trace_config

FLOATS = Tensor(name="x", dtype=np.float32, shape=(-1,))
RESULT = Tensor(name="y", dtype=np.float32, shape=(-1,))
TRACE = "0af7651916cd43dd8448eb211c80319c"
HEADERS = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


@pytest.fixture
def receiver():
    """An address that takes everything, and an event that tells of the first request."""
    received = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            received.set()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/traces", received
        server.shutdown()
        thread.join()


@pytest.fixture
def no_tracer(monkeypatch):
    monkeypatch.setattr(tracing, "_tracer", None)


@pytest.fixture
def spans(no_tracer):
    pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    set_telemetry_tracer(provider.get_tracer("test"))
    return exporter


def infer(triton, model, value):
    tensor = {"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [value]}
    request = urllib.request.Request(
        f"http://127.0.0.1:{triton.frontends.http_port}/v2/models/{model}/infer",
        data=json.dumps({"inputs": [tensor]}).encode(),
        headers=HEADERS,
    )
    return json.load(urllib.request.urlopen(request))


def test_spans_of_a_function(spans, receiver):
    @batch
    def function(x):
        if x[0, 0] < 0:
            raise ValueError("negative")
        return {"y": x}

    def inner(requests):
        with traced_span(requests[0], "inner"), requests[0].traced_span("second"):
            return [{"y": request["x"]} for request in requests]

    settings = ["mode=opentelemetry", f"opentelemetry,url={receiver[0]}", "rate=1"]
    config = TritonConfig(
        http_port=0,
        http_address="127.0.0.1",
        allow_grpc=False,
        allow_metrics=False,
        trace_config=[*settings, "level=TIMESTAMPS"],
    )
    with Triton(config=config) as triton:
        triton.bind("function", function, [FLOATS], [RESULT])
        triton.bind("inner", inner, [FLOATS], [RESULT], trace_config=settings)
        infer(triton, "function", 1)
        with pytest.raises(urllib.error.HTTPError):
            infer(triton, "function", -1)
        infer(triton, "inner", 1)
    # Spans end after the answer; the end of the server waits for them.
    started = sorted(spans.get_finished_spans(), key=lambda span: span.start_time)
    assert {f"{span.context.trace_id:032x}" for span in started} == {TRACE}
    part, whole = "pytriton-batch-decorator-span", "proxy_inference_callable"
    assert [(span.name, span.status.status_code.name) for span in started] == [
        (whole, "OK"),
        (part, "UNSET"),
        (whole, "ERROR"),
        (part, "UNSET"),
        (whole, "OK"),
        ("inner", "UNSET"),
        ("second", "UNSET"),
    ]
    assert "negative" in started[2].status.description
    # The span of the server is the parent of a function's span, not that of the client.
    assert all(span.parent.span_id != 0xB7AD6B7169203331 for span in started)
    parents = [span.parent.span_id for span in started]
    ids = [span.context.span_id for span in started]
    assert [parents[1], parents[3], parents[5], parents[6]] == [ids[0], ids[2], ids[4], ids[4]]


def test_models_without_trace_config_have_no_spans(spans):
    seen = []

    def function(requests):
        seen.extend(request.span for request in requests)
        with requests[0].traced_span("nothing"):
            return [{"y": request["x"]} for request in requests]

    with Triton(
        config=TritonConfig(
            http_port=0, http_address="127.0.0.1", allow_grpc=False, allow_metrics=False
        )
    ) as triton:
        triton.bind("function", function, [FLOATS], [RESULT])
        infer(triton, "function", 1)
    assert seen == [None] and not spans.get_finished_spans()


def test_spans_are_sent_to_the_url(no_tracer, receiver):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    url, received = receiver
    tracer = tracing.make_tracer(
        ["mode=opentelemetry", f"opentelemetry,url={url}", "opentelemetry,resource=service.name=s"]
    )
    assert tracer.resource.attributes["service.name"] == "s"
    tracer.start_span("one").end()
    tracer.span_processor.shutdown()
    assert received.wait(60)


def test_wrong_settings(no_tracer):
    with pytest.raises(ValueError, match="Only opentelemetry mode is supported"):
        use_trace_config(["mode=triton"])
    with pytest.raises(ValueError, match="opentelemetry,url is required"):
        use_trace_config(["mode=opentelemetry"])
    with pytest.raises(ValueError, match="no value for a"):
        tracing.parse_trace_config(
            ["mode=opentelemetry", "opentelemetry,url=http://a", "opentelemetry,resource=a"]
        )
    assert tracing.parse_trace_config(
        ["mode=opentelemetry", "opentelemetry,url=http://a", "opentelemetry,resource=b=c,d=e=f"]
    ) == ("http://a", {"b": "c", "d": "e=f"})
    assert not use_trace_config(None, ["mode=triton"])
    assert tracing.get_tracer() is None


def test_without_opentelemetry(no_tracer, monkeypatch):
    original = builtins.__import__

    def without(name, *arguments):
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return original(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    settings = ["mode=opentelemetry", "opentelemetry,url=http://127.0.0.1:1"]
    with pytest.raises(ImportError, match="pip install"):
        use_trace_config(settings)
    # The server's own spans need no package.
    assert not use_trace_config(None, settings)


def test_there_is_one_tracer(no_tracer):
    set_telemetry_tracer(object())
    with pytest.raises(ValueError, match="already set"):
        set_telemetry_tracer(object())
