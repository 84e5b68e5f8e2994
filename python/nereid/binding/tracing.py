# SPDX-License-Identifier: Apache-2.0
"""Spans of OpenTelemetry for the requests of bound functions. The packages of OpenTelemetry are
needed only by programs that trace."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Optional

# A tracer of OpenTelemetry; None: functions are not traced.
_tracer: Any = None

_SPAN = "proxy_inference_callable"
_PACKAGES = "opentelemetry-api opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"
#: The setting without which functions have no spans.
MODE = "mode=opentelemetry"
_URL = "opentelemetry,url="
_RESOURCE = "opentelemetry,resource="


def set_tracer(tracer: Any) -> None:
    """Sets the tracer of all functions. Raises ValueError if there is one already."""
    global _tracer
    if _tracer is not None:
        raise ValueError("Telemetry tracer is already set")
    _tracer = tracer


def get_tracer() -> Any:
    """Returns the tracer; None if there is none."""
    return _tracer


def parse_trace_config(settings: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Returns the URL and the attributes of the resource that a trace_config has, a list like
    ["mode=opentelemetry", "opentelemetry,url=URL", "opentelemetry,resource=service.name=NAME"].

    Raises ValueError for other modes and without a URL."""
    if MODE not in settings:
        raise ValueError("Only opentelemetry mode is supported")
    urls = [setting[len(_URL) :] for setting in settings if setting.startswith(_URL)]
    if not urls:
        raise ValueError("opentelemetry,url is required")
    attributes = {}
    for setting in settings:
        if setting.startswith(_RESOURCE):
            for pair in setting[len(_RESOURCE) :].split(","):
                name, separator, value = pair.partition("=")
                if not separator:
                    raise ValueError(f"{setting} has no value for {name}")
                attributes[name] = value
    return urls[0], attributes


def make_tracer(settings: Sequence[str]) -> Any:
    """Returns a tracer that sends its spans to the URL of a trace_config.

    Raises ImportError without OpenTelemetry."""
    url, attributes = parse_trace_config(settings)
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ImportError(
            f"OpenTelemetry is not installed. Please install it using 'pip install {_PACKAGES}'."
        ) from error
    provider = TracerProvider(resource=Resource(attributes=attributes))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
    return provider.get_tracer("nereid")


def start_span(context: str) -> Any:
    """Returns the span of a request; None without a tracer.

    context: the JSON object that the server has for the request's trace, or nothing."""
    if _tracer is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    try:
        carrier = json.loads(context or "{}")
    except ValueError:
        carrier = {}
    return _tracer.start_span(_SPAN, context=TraceContextTextMapPropagator().extract(carrier))


def end_span(span: Any, error: Optional[str] = None) -> None:
    """Ends the span of a request. error: why the request has failed."""
    if span is None:
        return
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.OK if error is None else StatusCode.ERROR, error))
    span.end()


@contextlib.contextmanager
def child_spans(spans: Sequence[Any], name: str) -> Iterator[None]:
    """Gives each span a child for the time of the block. Spans may be None."""
    children = []
    for span in spans:
        if span is not None and _tracer is not None:
            from opentelemetry.trace import set_span_in_context

            children.append(_tracer.start_span(name, context=set_span_in_context(span)))
    try:
        yield
    finally:
        for child in children:
            child.end()


@contextlib.contextmanager
def current_span(span: Any, name: str, **options: Any) -> Iterator[None]:
    """Makes a child of a span the current span of this thread for the time of the block."""
    if span is None or _tracer is None:
        yield
        return
    from opentelemetry.trace import set_span_in_context

    with _tracer.start_as_current_span(name, context=set_span_in_context(span), **options):
        yield
