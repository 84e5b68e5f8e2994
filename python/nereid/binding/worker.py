# SPDX-License-Identifier: Apache-2.0
"""The threads that run bound functions."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import threading
import traceback
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional, Protocol, Union

from nereid import _core
from nereid.binding.exceptions import PyTritonUnrecoverableError
from nereid.binding.model_config import TritonModelConfig
from nereid.binding.requests import Request, check_responses, make_request, outputs_to_send
from nereid.binding.tracing import end_span, start_span
from nereid.errors import Error

logger = logging.getLogger(__name__)

#: The model of the function that runs. Decorators read it.
current_model: contextvars.ContextVar[TritonModelConfig] = contextvars.ContextVar("current_model")

_INTERNAL = 1
#: How long a thread waits for a batch at a time. Closing the queue ends the wait at once.
_WAIT_SECONDS = 60.0


class Batch(Protocol):
    """The requests of a batch, which the engine or a proxy in a server has formed."""

    def count(self) -> int:
        """Returns the number of requests."""

    def requests(self) -> Sequence[Union[_core.BoundRequestTuple, Request]]:
        """Returns the requests."""

    def send(self, index: int, outputs: dict[str, Any], final: bool, /) -> None:
        """Sends a response to a request."""

    def fail(self, index: int, code: int, message: str, final: bool, /) -> None:
        """Sends an error to a request."""

    def finish(self) -> None:
        """Ends the batch; requests without a final response get one."""


class Queue(Protocol):
    """Where a worker takes its batches from."""

    def take(self, seconds: float, /) -> Optional[Batch]:
        """Returns the next batch, or None after `seconds` or when the queue is closed."""

    def close(self) -> None:
        """Refuses further batches."""


class Worker:
    """A thread that runs a function with the batches of a queue, with an asyncio loop of its
    own."""

    def __init__(
        self,
        queue: Queue,
        function: Callable[[list[Request]], Any],
        model: TritonModelConfig,
        strict: bool,
        on_unrecoverable: Callable[[], Any],
    ) -> None:
        self._queue = queue
        self._function = function
        self._model = model
        self._strict = strict
        self._on_unrecoverable = on_unrecoverable
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._closed = False
        self._thread = threading.Thread(
            target=self._run, name=f"nereid-{model.model_name}", daemon=True
        )
        self._thread.start()

    @staticmethod
    def end_all(workers: Sequence[Worker], queue: Queue) -> None:
        """Closes a queue and waits for its workers."""
        for worker in workers:
            worker._closed = True
        queue.close()
        for worker in workers:
            if worker._thread is not threading.current_thread():
                worker._thread.join()

    def _run(self) -> None:
        current_model.set(self._model)
        try:
            while not self._closed:
                batch = self._queue.take(_WAIT_SECONDS)
                if batch is not None:
                    self._execute(batch)
                    del batch
        finally:
            if self._loop is not None:
                self._loop.close()

    def _execute(self, batch: Batch) -> None:
        requests: list[Request] = []
        problem: Optional[str] = None
        try:
            requests = [make_request(received) for received in batch.requests()]
            if self._model.traced:
                for request in requests:
                    request.span = start_span(request.trace_context)
            for responses in self._results(requests):
                self._send(batch, requests, responses)
        except Exception as error:
            problem = str(error)
            self._fail(batch, f"Model execute error: {traceback.format_exc()}")
            if isinstance(error, PyTritonUnrecoverableError):
                logger.error("Unrecoverable error of %s: %s", self._model.model_name, error)
                # Not on this thread, for which the server's stop waits.
                threading.Thread(target=self._on_unrecoverable, daemon=True).start()
        finally:
            for request in requests:
                end_span(request.span, problem)
            batch.finish()

    def _results(self, requests: list[Request]) -> Iterable[Any]:
        """Yields what the function returns, or each of what it yields."""
        result = self._function(requests)
        if inspect.isawaitable(result):
            result = self._await(result)
        if not self._model.decoupled:
            yield result
        elif inspect.isasyncgen(result):
            while True:
                try:
                    yield self._await(result.__anext__())
                except StopAsyncIteration:
                    return
        elif inspect.isgenerator(result):
            yield from result
        else:
            yield result

    def _await(self, awaitable: Any) -> Any:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()

        async def wait() -> Any:
            return await awaitable

        return self._loop.run_until_complete(wait())

    def _send(self, batch: Batch, requests: list[Request], responses: Any) -> None:
        check_responses(responses, len(requests), self._model, self._strict)
        final = not self._model.decoupled
        for index, (request, response) in enumerate(zip(requests, responses)):
            batch.send(index, outputs_to_send(response, request, self._model), final)

    def _fail(self, batch: Batch, message: str) -> None:
        text = message.replace("\0", "\N{REPLACEMENT CHARACTER}")
        for index in range(batch.count()):
            try:
                batch.fail(index, _INTERNAL, text, True)
            except Error:
                pass  # the request has been answered
