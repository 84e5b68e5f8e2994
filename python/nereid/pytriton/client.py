# SPDX-License-Identifier: Apache-2.0
"""Clients for models of a server, in the form of PyTriton. They need tritonclient[all].

A result is a dict from names of outputs to arrays. infer_sample() adds the batch dimension to the
inputs and removes it from the outputs; infer_batch() takes and gives batches."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Callable, Optional

from nereid.pytriton.asyncio_client import AsyncioDecoupledModelClient, AsyncioModelClient
from nereid.pytriton.connection import (
    Array,
    Connection,
    PyTritonClientClosedError,
    PyTritonClientError,
    PyTritonClientInferenceServerError,
    PyTritonClientInvalidUrlError,
    PyTritonClientModelDoesntSupportBatchingError,
    PyTritonClientModelUnavailableError,
    PyTritonClientQueueFullError,
    PyTritonClientTimeoutError,
    PyTritonClientValueError,
    Result,
    first_of_batch,
    with_batch,
)

__all__ = [
    "AsyncioDecoupledModelClient",
    "AsyncioModelClient",
    "DecoupledModelClient",
    "FuturesModelClient",
    "ModelClient",
    "PyTritonClientClosedError",
    "PyTritonClientError",
    "PyTritonClientInferenceServerError",
    "PyTritonClientInvalidUrlError",
    "PyTritonClientModelDoesntSupportBatchingError",
    "PyTritonClientModelUnavailableError",
    "PyTritonClientQueueFullError",
    "PyTritonClientTimeoutError",
    "PyTritonClientValueError",
]


class ModelClient(Connection):
    """A client of a model with one response to a request. url: http://host:port or
    grpc://host:port.

    inference_timeout_s: of a request, 60 s by default."""

    def infer_sample(
        self,
        *inputs: Any,
        parameters: Optional[dict[str, Any]] = None,
        headers: Optional[dict[str, str]] = None,
        **named_inputs: Any,
    ) -> Result:
        """Sends inputs without batch dimension; returns outputs without it."""
        arrays = self._named(inputs, named_inputs)
        if not self.is_batching_supported:
            return self._infer(arrays, parameters, headers)
        return first_of_batch(self._infer(with_batch(arrays), parameters, headers))

    def infer_batch(
        self,
        *inputs: Any,
        parameters: Optional[dict[str, Any]] = None,
        headers: Optional[dict[str, str]] = None,
        **named_inputs: Any,
    ) -> Result:
        """Sends inputs with batch dimension; returns outputs with it."""
        self._require_batching()
        return self._infer(self._named(inputs, named_inputs), parameters, headers)

    def _infer(
        self,
        inputs: dict[str, Array],
        parameters: Optional[dict[str, Any]],
        headers: Optional[dict[str, str]],
    ) -> Result:
        self._require_one_response()
        options: dict[str, Any] = {}
        if self._scheme == "grpc":
            options["client_timeout"] = self._timeout_s
        try:
            answer = self._open().infer(
                self._name,
                self._encode(inputs),
                model_version=self._version,
                parameters=parameters,
                headers={**self._headers, **(headers or {})},
                **options,
            )
        except self._library.InferenceServerException as error:
            if "Deadline Exceeded" in str(error):
                raise PyTritonClientTimeoutError(str(error)) from error
            raise PyTritonClientInferenceServerError(str(error)) from error
        except OSError as error:
            raise PyTritonClientTimeoutError(str(error)) from error
        return self._result(answer)


class DecoupledModelClient(Connection):
    """A client of a decoupled model, by gRPC: the methods return iterators over the responses."""

    def infer_sample(self, *inputs: Any, **named_inputs: Any) -> Iterator[Result]:
        """Sends inputs without batch dimension; yields outputs without it."""
        arrays = self._named(inputs, named_inputs)
        if not self.is_batching_supported:
            yield from self._stream(arrays)
            return
        for result in self._stream(with_batch(arrays)):
            yield first_of_batch(result)

    def infer_batch(self, *inputs: Any, **named_inputs: Any) -> Iterator[Result]:
        """Sends inputs with batch dimension; yields outputs with it."""
        self._require_batching()
        yield from self._stream(self._named(inputs, named_inputs))

    def _stream(self, inputs: dict[str, Array]) -> Iterator[Result]:
        if self._scheme != "grpc":
            raise PyTritonClientValueError("DecoupledModelClient needs a grpc:// url")
        import queue

        answers: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
        connection = self._open()
        connection.start_stream(
            callback=lambda result, error: answers.put((result, error)),
            headers=self._headers,
        )
        try:
            connection.async_stream_infer(
                self._name,
                self._encode(inputs),
                model_version=self._version,
                enable_empty_final_response=True,
            )
            while True:
                try:
                    answer, error = answers.get(timeout=self._timeout_s)
                except queue.Empty:
                    raise PyTritonClientTimeoutError(
                        f"No response came in {self._timeout_s} s"
                    ) from None
                if error is not None:
                    raise PyTritonClientInferenceServerError(str(error))
                result = self._result(answer)
                if result:
                    yield result
                final = answer.get_response().parameters.get("triton_final_response")
                if final is not None and final.bool_param:
                    return
        finally:
            # Does not wait for responses that nobody takes.
            connection.stop_stream(cancel_requests=True)


class FuturesModelClient:
    """A client whose methods return futures. max_workers: requests at once; max_queue_size:
    requests that may wait. non_blocking: raise PyTritonClientQueueFullError instead of waiting for
    a place."""

    def __init__(
        self,
        url: str,
        model_name: str,
        model_version: Optional[str] = None,
        *,
        max_workers: int = 128,
        max_queue_size: int = 128,
        non_blocking: bool = False,
        init_timeout_s: Optional[float] = None,
        inference_timeout_s: Optional[float] = None,
    ) -> None:
        import queue
        import threading

        self._local = threading.local()
        self._clients: queue.SimpleQueue[ModelClient] = queue.SimpleQueue()

        def make() -> ModelClient:
            return ModelClient(
                url,
                model_name,
                model_version,
                init_timeout_s=init_timeout_s,
                inference_timeout_s=inference_timeout_s,
            )

        self._make = make
        self._places = threading.BoundedSemaphore(max_workers + max_queue_size)
        self._non_blocking = non_blocking
        self._pool = concurrent.futures.ThreadPoolExecutor(max_workers)

    def infer_sample(self, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Result]:
        """Like ModelClient.infer_sample."""
        return self._submit(lambda client: client.infer_sample(*args, **kwargs))

    def infer_batch(self, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Result]:
        """Like ModelClient.infer_batch."""
        return self._submit(lambda client: client.infer_batch(*args, **kwargs))

    def _submit(self, work: Callable[[ModelClient], Result]) -> concurrent.futures.Future[Result]:
        if not self._places.acquire(blocking=not self._non_blocking):
            raise PyTritonClientQueueFullError("Queue is full")

        def run() -> Result:
            # A connection belongs to one thread.
            client: Optional[ModelClient] = getattr(self._local, "client", None)
            if client is None:
                client = self._local.client = self._make()
                self._clients.put(client)
            return work(client)

        future = self._pool.submit(run)
        future.add_done_callback(lambda _: self._places.release())
        return future

    def close(self, wait: bool = True) -> None:
        """Waits for the requests and closes the connections."""
        self._pool.shutdown(wait=wait)
        while not self._clients.empty():
            self._clients.get().close()

    def __enter__(self) -> FuturesModelClient:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()
