# SPDX-License-Identifier: Apache-2.0
"""A model of a server: requests to it, and what the server says about it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from nereid import _core
from nereid.aio import AsyncResponses
from nereid.enums import ModelBatchFlag, ModelTxnPropertyFlag, RequestFlag, TraceLevel
from nereid.errors import UnsupportedError
from nereid.response import Response, has_content

if TYPE_CHECKING:
    from nereid.server import Server

#: The values of a request's parameters.
ParameterValue = Union[str, int, bool, float]


@dataclass(frozen=True)
class TraceEvent:
    """An activity of a traced request. trace_id differs between the request and the requests that
    it caused, whose parent_id it is. time_ns: of the steady clock (time.monotonic_ns)."""

    trace_id: int
    parent_id: int
    model: str
    activity: str
    time_ns: int


def _options(
    request_id: Optional[str],
    outputs: Optional[Sequence[str]],
    parameters: Optional[Mapping[str, ParameterValue]],
    correlation_id: Union[int, str, None],
    flags: int,
    priority: int,
    timeout: Optional[float],
) -> _core.OptionsTuple:
    timeout_us = None if timeout is None else max(1, round(timeout * 1_000_000))
    return (
        request_id,
        int(flags) or None,
        correlation_id,
        priority or None,
        timeout_us,
        None if parameters is None else dict(parameters),
        outputs,
    )


def _only(responses: list[_core.ResponseTuple]) -> Response:
    """Returns the response of a request that has one; raises its error."""
    with_content = [response for response in responses if has_content(response)]
    for response in with_content:
        if response[5] is not None:
            error = Response(response).error
            assert error is not None
            raise error
    if len(with_content) != 1:
        raise UnsupportedError(
            f"the model sent {len(with_content)} responses to the request; use stream() or "
            "stream_async() for models that do not send exactly one"
        )
    return Response(with_content[0])


class Stream(Iterator[Response]):
    """The responses of a request. Iterating waits for the next one. A failed response raises its
    error; the iteration can go on after it. Deleting the stream cancels the request."""

    def __init__(self, stream: _core.Stream) -> None:
        self._stream = stream
        self._ended = False

    def __next__(self) -> Response:
        while not self._ended:
            self._stream.wait(-1)
            response = self._stream.pop()
            if response is None:
                continue  # another thread has taken it
            self._ended = bool(response[6])
            if has_content(response):
                return _raise_error(Response(response))
        raise StopIteration

    def cancel(self) -> None:
        """Asks the model to stop. The responses so far and a final one still come."""
        self._stream.cancel()

    def trace(self) -> list[TraceEvent]:
        """Returns the activities so far of a request with `trace`."""
        return [TraceEvent(*event) for event in self._stream.trace()]

    def __del__(self) -> None:
        if not self._ended and hasattr(self, "_stream"):
            self._stream.cancel()


class AsyncStream(AsyncIterator[Response]):
    """The same for asyncio: ``async for response in model.stream_async(inputs)``."""

    def __init__(self, responses: AsyncResponses) -> None:
        self._responses = responses

    async def __anext__(self) -> Response:
        while (response := await self._responses.next()) is not None:
            if has_content(response):
                return _raise_error(Response(response))
        raise StopAsyncIteration

    def cancel(self) -> None:
        """Asks the model to stop. The responses so far and a final one still come."""
        self._responses.cancel()

    def trace(self) -> list[TraceEvent]:
        """Returns the activities so far of a request with `trace`."""
        return [TraceEvent(*event) for event in self._responses.stream.trace()]


def _raise_error(response: Response) -> Response:
    if response.error is not None:
        raise response.error
    return response


class Model:
    """A model of a server. Making one does not ask the server, so the model need not exist.

    name: the model's name. version: its version; -1 lets the version policy decide.

    The arguments of requests:

    - inputs: by name, each a NumPy array, an object with DLPack's protocol (of PyTorch, JAX, CuPy,
      ...), a list, or a nereid.Tensor. Arrays that are contiguous are not copied; they must not
      change until the request is answered. The shape includes the batch dimension if the model
      batches.
    - outputs: the names of the outputs that are wanted; None: all.
    - parameters: by name, each a str, int, bool or float.
    - request_id: a text that the response repeats.
    - correlation_id, flags: the sequence, and the request's place in it (RequestFlag).
    - priority: 1 is the highest; 0: the model's default.
    - timeout: seconds that the request may wait for its execution.
    - trace: what the server records of the request (TraceLevel).
    """

    def __init__(self, server: Server, name: str, version: int = -1) -> None:
        self._server = server
        self.name = name
        self.version = version

    def infer(
        self,
        inputs: dict[str, Any],
        *,
        outputs: Optional[Sequence[str]] = None,
        parameters: Optional[Mapping[str, ParameterValue]] = None,
        request_id: Optional[str] = None,
        correlation_id: Union[int, str, None] = None,
        flags: Union[RequestFlag, int] = 0,
        priority: int = 0,
        timeout: Optional[float] = None,
    ) -> Response:
        """Sends a request and returns its response. Other threads run while it waits.

        Raises the error of the request, and UnsupportedError if the model sends no response or
        several (see stream())."""
        options = _options(
            request_id, outputs, parameters, correlation_id, flags, priority, timeout
        )
        return _only(self._server.core.infer(self.name, self.version, inputs, options, None, 0))

    async def infer_async(
        self,
        inputs: dict[str, Any],
        *,
        outputs: Optional[Sequence[str]] = None,
        parameters: Optional[Mapping[str, ParameterValue]] = None,
        request_id: Optional[str] = None,
        correlation_id: Union[int, str, None] = None,
        flags: Union[RequestFlag, int] = 0,
        priority: int = 0,
        timeout: Optional[float] = None,
    ) -> Response:
        """The same in an asyncio event loop. Cancelling the awaiting task cancels the request."""
        options = _options(
            request_id, outputs, parameters, correlation_id, flags, priority, timeout
        )
        responses = self._submit_async(inputs, options, 0)
        received: list[_core.ResponseTuple] = []
        while (response := await responses.next()) is not None:
            received.append(response)
        return _only(received)

    def stream(
        self,
        inputs: dict[str, Any],
        *,
        outputs: Optional[Sequence[str]] = None,
        parameters: Optional[Mapping[str, ParameterValue]] = None,
        request_id: Optional[str] = None,
        correlation_id: Union[int, str, None] = None,
        flags: Union[RequestFlag, int] = 0,
        priority: int = 0,
        timeout: Optional[float] = None,
        trace: Union[TraceLevel, int] = 0,
    ) -> Stream:
        """Sends a request and returns an iterator over its responses, of any number."""
        options = _options(
            request_id, outputs, parameters, correlation_id, flags, priority, timeout
        )
        return Stream(
            self._server.core.submit(self.name, self.version, inputs, options, None, int(trace))
        )

    def stream_async(
        self,
        inputs: dict[str, Any],
        *,
        outputs: Optional[Sequence[str]] = None,
        parameters: Optional[Mapping[str, ParameterValue]] = None,
        request_id: Optional[str] = None,
        correlation_id: Union[int, str, None] = None,
        flags: Union[RequestFlag, int] = 0,
        priority: int = 0,
        timeout: Optional[float] = None,
        trace: Union[TraceLevel, int] = 0,
    ) -> AsyncStream:
        """The same for an asyncio event loop, which must be running."""
        options = _options(
            request_id, outputs, parameters, correlation_id, flags, priority, timeout
        )
        return AsyncStream(self._submit_async(inputs, options, int(trace)))

    def _submit_async(
        self, inputs: dict[str, Any], options: _core.OptionsTuple, trace: int
    ) -> AsyncResponses:
        core = self._server.core
        return AsyncResponses(
            lambda waker: core.submit(self.name, self.version, inputs, options, waker, trace)
        )

    # ---- About the model ----

    def is_ready(self) -> bool:
        """Returns whether the model answers requests."""
        return self._server.core.model_is_ready(self.name, self.version)

    def metadata(self) -> dict[str, Any]:
        """Returns the names, types and shapes of the inputs and outputs, as `v2/models/M` has
        them."""
        text = self._server.core.model_metadata(self.name, self.version)
        return dict(json.loads(text))

    def config(self) -> dict[str, Any]:
        """Returns the complete configuration."""
        return dict(json.loads(self._server.core.model_config(self.name, self.version, 1)))

    def statistics(self) -> dict[str, Any]:
        """Returns the statistics, as `v2/models/M/stats` has them: a list "model_stats" with an
        entry for each version. Times are nanoseconds."""
        return dict(json.loads(self._server.core.model_statistics(self.name, self.version)))

    def batches(self) -> bool:
        """Returns whether the first dimension of each tensor is the batch."""
        flags = self._server.core.batch_properties(self.name, self.version)
        return bool(flags & ModelBatchFlag.FIRST_DIM)

    def is_decoupled(self) -> bool:
        """Returns whether the model may send any number of responses."""
        flags = self._server.core.transaction_properties(self.name, self.version)
        return bool(flags & ModelTxnPropertyFlag.DECOUPLED)

    def __repr__(self) -> str:
        return f"Model(name={self.name!r}, version={self.version})"
