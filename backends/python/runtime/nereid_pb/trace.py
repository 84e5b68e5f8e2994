# SPDX-License-Identifier: Apache-2.0
"""InferenceTrace: the trace to which the calls of a model belong."""

from __future__ import annotations

from nereid_worker import host as hosts


class InferenceTrace:
    """The trace of a request. A model passes it on to the calls that it makes (`trace=`)."""

    # _handle: the host's number of the trace; 0 if the request is not traced.
    __slots__ = ("_context", "_handle")

    _handle: int
    _context: str | None

    def __init__(self) -> None:
        self._handle = 0
        self._context = None

    @staticmethod
    def _received(handle: int) -> InferenceTrace:
        """Returns the trace of a request that was received."""
        trace = InferenceTrace()
        trace._handle = handle
        return trace

    def get_context(self) -> str | None:
        """Returns the context of OpenTelemetry as JSON, or None if there is none."""
        if self._context is None and self._handle:
            self._context = hosts.current().trace_context(self._handle)
        return self._context
