# SPDX-License-Identifier: Apache-2.0
"""InferenceRequest: one that the model received, or one that it makes to call another model."""

from __future__ import annotations

import asyncio
import typing

from nereid_worker import host as hosts

from . import arguments
from . import parameters as parameters_
from .calls import ResponseIterator, start, start_async
from .errors import TritonModelException
from .memory import PreferredMemory
from .response import InferenceResponse
from .sender import InferenceResponseSender
from .tensor import Tensor
from .trace import InferenceTrace

RELEASE_ALL = 1  # TRITONSERVER_REQUEST_RELEASE_ALL


class InferenceRequest:
    """A request. The constructor makes one that calls another model, by exec() or async_exec()."""

    # _handle: the host's number of a request that was received, else 0.
    # _parameters: JSON text; b"" if there are none.
    # _trace: the host's number of the trace, else 0.
    __slots__ = (
        "_cancelled", "_correlation_id", "_decoupled", "_flags", "_handle", "_inputs", "_model_name",
        "_model_version", "_parameters", "_preferred_memory", "_release_flags", "_request_id",
        "_requested", "_sender", "_timeout", "_trace",
    )

    _handle: int
    _request_id: str
    _correlation_id: int | str
    _inputs: list[Tensor]
    _requested: typing.Collection[str]
    _model_name: str
    _model_version: int
    _flags: int
    _timeout: int
    _preferred_memory: PreferredMemory | None
    _trace: int
    _parameters: bytes
    _release_flags: int
    _decoupled: bool
    _cancelled: bool
    _sender: InferenceResponseSender | None

    def __init__(
        self,
        request_id: str | bytes = "",
        correlation_id: int | str = 0,
        inputs: typing.Sequence[Tensor] | None = None,
        requested_output_names: typing.Iterable[str | bytes] | None = None,
        model_name: str | bytes | None = None,
        model_version: int = -1,
        flags: int = 0,
        timeout: int = 0,
        preferred_memory: PreferredMemory | None = None,
        trace: InferenceTrace | None = None,
        parameters: dict[str, typing.Any] | None = None,
    ) -> None:
        if inputs is None or requested_output_names is None or model_name is None:
            raise TypeError("InferenceRequest needs inputs, requested_output_names and model_name")
        request_id = arguments.text("InferenceRequest: request_id", request_id)
        model_name = arguments.text("InferenceRequest: model_name", model_name)
        where = f"for request with id '{request_id}' and model name '{model_name}'"
        self._inputs = _checked_inputs(inputs, where)
        self._requested = _checked_names(requested_output_names, where)
        self._correlation_id = _checked_correlation_id(correlation_id)
        self._model_version = arguments.integer(
            "InferenceRequest: model_version", model_version, arguments.MIN_INT64, arguments.MAX_INT64)
        self._flags = _checked_flags(flags)
        self._timeout = arguments.integer(
            "InferenceRequest: timeout", timeout, 0, arguments.MAX_UINT64)
        if preferred_memory is not None:
            _check_type("preferred_memory", preferred_memory, PreferredMemory)
        if trace is not None:
            _check_type("trace", trace, InferenceTrace)
        self._preferred_memory = preferred_memory
        self._trace = trace._handle if trace is not None else 0
        self._parameters = parameters_.encode(parameters)
        self._request_id = request_id
        self._model_name = model_name
        self._handle = 0
        self._release_flags = RELEASE_ALL
        self._decoupled = False
        self._cancelled = False
        self._sender = None

    @staticmethod
    def _received(handle: int, request_id: str, correlation_id: int | str, flags: int, timeout: int,
                  parameters: bytes, requested: typing.Collection[str], inputs: list[Tensor],
                  trace: int, decoupled: bool) -> InferenceRequest:
        """Returns a request of the server. `handle` and `trace` are the host's numbers.

        A decoupled request has its sender at once: only the end of the sender's life tells that no
        response will come any more.
        """
        request = _new(InferenceRequest)
        request._handle = handle
        request._request_id = request_id
        request._correlation_id = correlation_id
        request._flags = flags
        request._timeout = timeout
        request._parameters = parameters
        request._requested = requested
        request._inputs = inputs
        request._trace = trace
        request._release_flags = RELEASE_ALL
        request._decoupled = decoupled
        request._cancelled = False
        request._sender = (
            InferenceResponseSender._for(handle, requested, True) if decoupled else None)
        return request

    def inputs(self) -> list[Tensor]:
        """Returns the inputs. Optional inputs that the client did not send are missing."""
        return self._inputs

    def request_id(self) -> str:
        """Returns the client's id; empty if it gave none."""
        return self._request_id

    def correlation_id(self) -> int | str:
        """Returns the id of the sequence; 0 if there is none."""
        return self._correlation_id

    def flags(self) -> int:
        """Returns the flags: the start (1) and the end (2) of a sequence."""
        return self._flags

    def set_flags(self, flags: int) -> None:
        """Sets the flags."""
        self._flags = _checked_flags(flags)

    def timeout(self) -> int:
        """Returns the timeout in microseconds; 0 if there is none."""
        return self._timeout

    def parameters(self) -> str:
        """Returns the parameters as JSON text."""
        return parameters_.decode(self._parameters)

    def requested_output_names(self) -> set[str]:
        """Returns the names of the outputs that the client wants."""
        return set(self._requested)

    def trace(self) -> InferenceTrace:
        """Returns the trace of the request."""
        return InferenceTrace._received(self._trace)

    def get_response_sender(self) -> InferenceResponseSender:
        """Returns the object that sends the responses of this request."""
        if self._sender is None:
            self._sender = InferenceResponseSender._for(
                self._handle, self._requested, self._decoupled)
        return self._sender

    def is_cancelled(self) -> bool:
        """Returns whether the client has cancelled the request. False if the model made it."""
        if not self._cancelled and self._handle:
            self._cancelled = hosts.current().is_cancelled(self._handle)
        return self._cancelled

    def set_release_flags(self, flags: int) -> None:
        """Sets what happens to the request when execute() has returned: ALL (1), it ends; RESCHEDULE
        (2), it is executed again. Raises TritonModelException for a request that the model made."""
        flags = arguments.integer("set_release_flags(): flags", flags, 0, arguments.MAX_UINT32)
        if not self._handle:
            raise TritonModelException(
                "set_release_flags() is for requests that execute() receives, and not for requests "
                "to other models.")
        self._release_flags = flags

    def exec(self, decoupled: bool = False) -> InferenceResponse | ResponseIterator:
        """Sends the request to the model that it names, and waits.

        Returns the response, or with `decoupled` an iterator of all responses. Failures of the called
        model are responses with an error. Raises TritonModelException if models cannot be called at
        this time, as in finalize().
        """
        stream = start(self, decoupled)
        if decoupled:
            return ResponseIterator(stream)
        return typing.cast(InferenceResponse, stream.next())

    def async_exec(self, decoupled: bool = False) -> asyncio.Future[typing.Any]:
        """Sends the request as exec() does, and returns a future of its result.

        No thread waits for it. Raises RuntimeError if no event loop runs on this thread.
        """
        return start_async(self, decoupled)


_new = object.__new__


def _check_type(what: str, value: typing.Any, kind: type) -> typing.Any:
    if not isinstance(value, kind):
        raise TypeError(f"InferenceRequest: {what} must be of type {kind.__name__}, not "
                        f"{type(value)}")
    return value


def _checked_flags(flags: typing.Any) -> int:
    return arguments.integer("InferenceRequest: flags", flags, 0, arguments.MAX_UINT32)


def _checked_inputs(given: typing.Any, where: str) -> list[Tensor]:
    inputs = arguments.items("InferenceRequest: inputs", "Tensor", given)
    for tensor in inputs:
        if tensor is not None:
            _check_type("an element of inputs", tensor, Tensor)
    if any(tensor is None for tensor in inputs):
        raise TritonModelException(f"Input tensor {where} should not be empty.")
    return inputs


def _checked_names(given: typing.Any, where: str) -> tuple[str, ...]:
    what = "InferenceRequest: requested_output_names"
    names = [arguments.text(f"an element of {what}", name)
             for name in arguments.items(what, "str", given)]
    if "" in names:
        raise TritonModelException(f"Requested output name {where} should not be empty.")
    return tuple(names)


def _checked_correlation_id(given: typing.Any) -> int | str:
    if given is None:
        raise TypeError("InferenceRequest: correlation_id must be an int or a str, not None")
    if not isinstance(given, (int, str)):
        raise TritonModelException("Correlation ID must be integer or string")
    if isinstance(given, int) and not 0 <= given <= arguments.MAX_UINT64:
        raise RuntimeError("InferenceRequest: correlation_id must be from 0 to "
                           f"{arguments.MAX_UINT64}, not {given}")
    return given
