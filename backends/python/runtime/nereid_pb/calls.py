# SPDX-License-Identifier: Apache-2.0
"""Calls of other models: how they start, and ResponseIterator."""

from __future__ import annotations

import asyncio
import typing

from nereid_worker import host as hosts

from . import arguments
from .errors import TritonModelException

if typing.TYPE_CHECKING:
    from .request import InferenceRequest
    from .response import InferenceResponse


class ResponseIterator:
    """The responses of a request, in order. Works with `for`, `next()` and `async for`.

    The last response may be empty: a decoupled model can end a request with its final flag alone. An
    iterator that has ended can be read again from the start. One that is collected before its end
    drops the remaining responses, and does not wait for them.
    """

    # _responses: all responses that have come; the first _read of them were returned.
    # _ended: whether the last response has come.
    __slots__ = ("_ended", "_read", "_responses", "_stream")

    _stream: hosts.ResponseStream
    _responses: list[InferenceResponse]
    _read: int
    _ended: bool

    def __init__(self, stream: hosts.ResponseStream) -> None:
        self._stream = stream
        self._responses = []
        self._read = 0
        self._ended = False

    def __iter__(self) -> typing.Iterator[InferenceResponse]:
        return iter(self._responses) if self._ended else self

    def __next__(self) -> InferenceResponse:
        if self._read == len(self._responses) and (
                self._ended or not self._add(self._stream.next())):
            raise StopIteration
        return self._take()

    def __aiter__(self) -> typing.AsyncIterator[InferenceResponse]:
        return self

    async def __anext__(self) -> InferenceResponse:
        if self._read == len(self._responses) and (self._ended or not self._add(
                await self._stream.next_future(asyncio.get_running_loop()))):
            raise StopAsyncIteration
        return self._take()

    def _add(self, response: InferenceResponse | None) -> bool:
        """Keeps a response of the stream. Returns whether it is one; None is the end."""
        if response is None:
            self._ended = True
            return False
        self._responses.append(response)
        return True

    def _take(self) -> InferenceResponse:
        self._read += 1
        return self._responses[self._read - 1]

    def cancel(self) -> None:
        """Asks the server to cancel the request. Does nothing if the request has ended."""
        if not self._ended:
            self._stream.cancel()

    def __del__(self) -> None:
        if not getattr(self, "_ended", True):
            self._stream.close()


def start(request: InferenceRequest, decoupled: bool) -> hosts.ResponseStream:
    """Sends a request and does not wait. Raises TritonModelException if models cannot be called."""
    decoupled = arguments.truth("decoupled", decoupled)
    try:
        return hosts.current().infer(request, decoupled)
    except hosts.HostError as error:
        raise TritonModelException(error.message) from None


def start_async(request: InferenceRequest, decoupled: bool) -> asyncio.Future[typing.Any]:
    """Sends a request. Returns a future of its response, or with `decoupled` of an iterator.

    The iterator is there when the first response has come, so that reading it with `for` does not
    stop the event loop at once. Raises RuntimeError if no event loop runs on this thread.
    """
    loop = asyncio.get_running_loop()
    decoupled = arguments.truth("decoupled", decoupled)
    stream = start(request, decoupled)
    first = stream.next_future(loop)
    if not decoupled:
        return first
    iterator = ResponseIterator(stream)
    result: asyncio.Future[typing.Any] = loop.create_future()

    def finish(came: asyncio.Future[typing.Any]) -> None:
        if result.cancelled():
            return
        if came.cancelled():
            result.cancel()
        elif came.exception() is not None:
            result.set_exception(typing.cast(BaseException, came.exception()))
        else:
            iterator._add(came.result())
            result.set_result(iterator)

    first.add_done_callback(finish)
    return result
