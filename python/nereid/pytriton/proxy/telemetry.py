# SPDX-License-Identifier: Apache-2.0
"""Spans of OpenTelemetry, with PyTriton's names."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from nereid.binding.requests import Request
from nereid.binding.tracing import (
    end_span,
    get_tracer,
    make_tracer,
    parse_trace_config,
    set_tracer,
)

__all__ = [
    "build_proxy_tracer_from_triton_config",
    "end_span",
    "get_telemetry_tracer",
    "parse_trace_config",
    "set_telemetry_tracer",
    "traced_span",
]

build_proxy_tracer_from_triton_config = make_tracer
get_telemetry_tracer = get_tracer
set_telemetry_tracer = set_tracer


def traced_span(request: Request, span_name: str, **options: Any) -> AbstractContextManager[None]:
    """Returns a context manager for a span within that of a request; see Request.traced_span."""
    return request.traced_span(span_name, **options)
