# SPDX-License-Identifier: Apache-2.0
"""Clients for asyncio, in the form of PyTriton."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import Any, Optional

from nereid.pytriton.connection import (
    Array,
    Connection,
    PyTritonClientInferenceServerError,
    PyTritonClientTimeoutError,
    PyTritonClientValueError,
    Result,
    first_of_batch,
    with_batch,
)


class AsyncioModelClient(Connection):
    """A client of a model with one response to a request, for asyncio. It is used with
    ``async with``, and its methods are coroutines."""

    def _connect(self) -> Any:
        if self._scheme == "http":
            import tritonclient.http.aio as library
        else:
            import tritonclient.grpc.aio as library
        return library.InferenceServerClient(self._address)

    def _prepare(self) -> None:
        pass  # the first request asks

    async def close(self) -> None:  # type: ignore[override]
        """Closes the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def __aenter__(self) -> AsyncioModelClient:
        await self._load_config()
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def wait_for_model(self, timeout_s: float) -> None:  # type: ignore[override]
        """Waits until the model is ready."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                if await self._open().is_model_ready(self._name, self._version):
                    return
            except (OSError, self._library.InferenceServerException):
                pass  # the server does not listen yet
            if time.monotonic() >= deadline:
                raise PyTritonClientTimeoutError(
                    f"Timeout of {timeout_s} s occurred while waiting for the model {self._name}."
                )
            await asyncio.sleep(0.02)

    async def _load_config(self) -> None:
        if self._config is not None:
            return
        if self._ensure_ready:
            await self.wait_for_model(self._init_timeout_s)
        options = {"as_json": True} if self._scheme == "grpc" else {}
        found = await self._open().get_model_config(self._name, self._version, **options)
        self._config = dict(found.get("config", found))

    async def infer_sample(
        self,
        *inputs: Any,
        parameters: Optional[dict[str, Any]] = None,
        headers: Optional[dict[str, str]] = None,
        **named_inputs: Any,
    ) -> Result:
        """Sends inputs without batch dimension; returns outputs without it."""
        await self._load_config()
        arrays = self._named(inputs, named_inputs)
        if not self.is_batching_supported:
            return await self._infer(arrays, parameters, headers)
        return first_of_batch(await self._infer(with_batch(arrays), parameters, headers))

    async def infer_batch(
        self,
        *inputs: Any,
        parameters: Optional[dict[str, Any]] = None,
        headers: Optional[dict[str, str]] = None,
        **named_inputs: Any,
    ) -> Result:
        """Sends inputs with batch dimension; returns outputs with it."""
        await self._load_config()
        self._require_batching()
        return await self._infer(self._named(inputs, named_inputs), parameters, headers)

    async def _infer(
        self,
        inputs: dict[str, Array],
        parameters: Optional[dict[str, Any]],
        headers: Optional[dict[str, str]],
    ) -> Result:
        self._require_one_response()
        request = self._open().infer(
            self._name,
            self._encode(inputs),
            model_version=self._version,
            parameters=parameters,
            headers={**self._headers, **(headers or {})},
        )
        try:
            return self._result(await asyncio.wait_for(request, self._timeout_s))
        except asyncio.TimeoutError as error:
            raise PyTritonClientTimeoutError(f"No response came in {self._timeout_s} s") from error
        except self._library.InferenceServerException as error:
            raise PyTritonClientInferenceServerError(str(error)) from error


class AsyncioDecoupledModelClient(AsyncioModelClient):
    """A client of a decoupled model, by gRPC, for asyncio: the methods return asynchronous
    iterators over the responses. Closing an iterator cancels the request."""

    async def infer_sample(  # type: ignore[override]
        self, *inputs: Any, **named_inputs: Any
    ) -> AsyncIterator[Result]:
        """Sends inputs without batch dimension; yields outputs without it."""
        await self._load_config()
        arrays = self._named(inputs, named_inputs)
        batched = self.is_batching_supported
        results = self._stream(with_batch(arrays) if batched else arrays)
        try:
            async for result in results:
                yield first_of_batch(result) if batched else result
        finally:
            await results.aclose()

    async def infer_batch(  # type: ignore[override]
        self, *inputs: Any, **named_inputs: Any
    ) -> AsyncIterator[Result]:
        """Sends inputs with batch dimension; yields outputs with it."""
        await self._load_config()
        self._require_batching()
        results = self._stream(self._named(inputs, named_inputs))
        try:
            async for result in results:
                yield result
        finally:
            await results.aclose()

    async def _stream(self, inputs: dict[str, Array]) -> AsyncGenerator[Result, None]:
        if self._scheme != "grpc":
            raise PyTritonClientValueError("AsyncioDecoupledModelClient needs a grpc:// url")

        # The server ends the stream after the last response to the last request.
        async def requests() -> AsyncIterator[dict[str, Any]]:
            yield {
                "model_name": self._name,
                "inputs": self._encode(inputs),
                "model_version": self._version,
            }

        answers = self._open().stream_infer(requests(), headers=self._headers)
        try:
            while True:
                try:
                    answer, error = await asyncio.wait_for(answers.__anext__(), self._timeout_s)
                except StopAsyncIteration:
                    return
                except asyncio.TimeoutError:
                    raise PyTritonClientTimeoutError(
                        f"No response came in {self._timeout_s} s"
                    ) from None
                if error is not None:
                    raise PyTritonClientInferenceServerError(str(error))
                result = self._result(answer)
                if result:
                    yield result
        finally:
            answers.cancel()
