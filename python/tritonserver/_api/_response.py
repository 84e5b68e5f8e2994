# SPDX-License-Identifier: Apache-2.0
"""Responses, and iterators over those of a request."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

from nereid import _core
from nereid.aio import AsyncResponses
from nereid.errors import Error, InternalError, InvalidArgumentError, make_error
from nereid.response import Outputs
from nereid.tensor import Tensor
from tritonserver._api._request import InferenceRequest, check_output_memory

if TYPE_CHECKING:
    from tritonserver._api._model import Model


@dataclass
class InferenceResponse:
    """A response. outputs: tensors by name. error: of a failed response. final: whether no response
    of the request follows."""

    model: Model
    request_id: Optional[str] = None
    parameters: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Tensor] = field(default_factory=dict)
    error: Optional[Error] = None
    classification_label: Optional[str] = None
    final: bool = False


def make_response(request: InferenceRequest, received: _core.ResponseTuple) -> InferenceResponse:
    """Returns what the extension received as a response to the request."""
    model = request.model
    name, version, request_id, parameters, outputs, error, final, owner = received
    if name is not None:
        model = type(model)(model._server, name, version)
    response = InferenceResponse(
        model=model,
        request_id=request_id or request.request_id,
        parameters=parameters or {},
        error=None if error is None else make_error(*error),
        final=bool(final),
    )
    try:
        response.outputs = dict(Outputs(outputs, owner))
        place = check_output_memory(request.output_memory_type)
        if place is not None:
            response.outputs = {
                output: tensor.to_device(place) for output, tensor in response.outputs.items()
            }
    except Exception as failure:
        response.error = InternalError(f"Unexpected error in creating response object: {failure}")
    return response


def _checked(response: InferenceResponse, raise_on_error: bool) -> InferenceResponse:
    if raise_on_error and response.error is not None:
        response.error.args += (response,)
        raise response.error
    return response


class ResponseIterator(Iterator[InferenceResponse]):
    """The responses of a request, up to the final one."""

    def __init__(
        self, request: InferenceRequest, server: _core.Server, raise_on_error: bool
    ) -> None:
        wanted = request.response_queue
        if wanted is not None and not isinstance(wanted, queue.SimpleQueue):
            raise InvalidArgumentError("queue.SimpleQueue must be used for response iterator")
        self._request = request
        self._raise_on_error = raise_on_error
        self._complete = False
        self._stream = request.submit(server, None)
        self._fetched: Optional[queue.SimpleQueue[InferenceResponse]] = None
        if wanted is not None:
            self._fetched = queue.SimpleQueue()
            threading.Thread(
                target=_fetch,
                args=(request, self._stream, (wanted, self._fetched)),
                name="tritonserver-responses",
                daemon=True,
            ).start()

    def __iter__(self) -> ResponseIterator:
        return self

    def __next__(self) -> InferenceResponse:
        if self._complete:
            raise StopIteration
        if self._fetched is not None:
            response = self._fetched.get()
        else:
            response = _next_response(self._request, self._stream)
        self._complete = response.final
        return _checked(response, self._raise_on_error)

    def cancel(self) -> None:
        """Asks the server to cancel the request."""
        self._stream.cancel()


def _next_response(request: InferenceRequest, stream: _core.Stream) -> InferenceResponse:
    while True:
        stream.wait(-1)
        received = stream.pop()
        if received is not None:
            return make_response(request, received)


def _fetch(
    request: InferenceRequest,
    stream: _core.Stream,
    queues: tuple[queue.SimpleQueue[InferenceResponse], ...],
) -> None:
    final = False
    while not final:
        response = _next_response(request, stream)
        final = response.final
        for wanted in queues:
            wanted.put(response)


class AsyncResponseIterator(AsyncIterator[InferenceResponse]):
    """The responses of a request, up to the final one, for asyncio."""

    def __init__(
        self, request: InferenceRequest, server: _core.Server, raise_on_error: bool
    ) -> None:
        wanted = request.response_queue
        if wanted is not None and not isinstance(wanted, asyncio.Queue):
            raise InvalidArgumentError("asyncio.Queue must be used for async response iterator")
        self._request = request
        self._raise_on_error = raise_on_error
        self._complete = False
        self._responses = AsyncResponses(lambda waker: request.submit(server, waker))
        self._fetched: Optional[asyncio.Queue[InferenceResponse]] = None
        if wanted is not None:
            self._fetched = asyncio.Queue()
            # The loop keeps weak references to tasks only.
            self._task = asyncio.ensure_future(self._fetch(wanted, self._fetched))

    async def _fetch(self, *queues: asyncio.Queue[InferenceResponse]) -> None:
        while (received := await self._responses.next()) is not None:
            response = make_response(self._request, received)
            for wanted in queues:
                await wanted.put(response)

    def __aiter__(self) -> AsyncResponseIterator:
        return self

    async def __anext__(self) -> InferenceResponse:
        if self._complete:
            raise StopAsyncIteration
        if self._fetched is not None:
            response = await self._fetched.get()
        else:
            received = await self._responses.next()
            if received is None:
                raise StopAsyncIteration
            response = make_response(self._request, received)
        self._complete = response.final
        return _checked(response, self._raise_on_error)

    def cancel(self) -> None:
        """Asks the server to cancel the request."""
        self._responses.cancel()
