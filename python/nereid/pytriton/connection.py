# SPDX-License-Identifier: Apache-2.0
"""The connection that all clients have, and their errors."""

from __future__ import annotations

import time
import urllib.parse
from types import TracebackType
from typing import Any, Callable, Optional, TypeVar

import numpy as np

from nereid.pytriton.policies import token_headers

Array = np.ndarray[Any, Any]
Result = dict[str, Array]
_Self = TypeVar("_Self", bound="Connection")

_DEFAULT_TIMEOUT_S = 60.0


class PyTritonClientError(Exception):
    """The base class. message: the text."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class PyTritonClientValueError(PyTritonClientError):
    """An argument is wrong."""


class PyTritonClientInvalidUrlError(PyTritonClientValueError):
    """The URL is wrong."""


class PyTritonClientTimeoutError(PyTritonClientError):
    """The server or the model did not answer in time."""


class PyTritonClientModelUnavailableError(PyTritonClientError):
    """The model is not loaded."""


class PyTritonClientClosedError(PyTritonClientError):
    """The client is closed."""


class PyTritonClientModelDoesntSupportBatchingError(PyTritonClientError):
    """The model has no batch dimension."""


class PyTritonClientInferenceServerError(PyTritonClientError):
    """The server answered with an error."""


class PyTritonClientQueueFullError(PyTritonClientError):
    """Too many requests wait."""


def _parse_url(url: str) -> tuple[str, str]:
    """Returns the scheme, http or grpc, and host:port."""
    text = url if "://" in url else f"http://{url}"
    try:
        parsed = urllib.parse.urlsplit(text)
        port = parsed.port
    except ValueError as error:
        raise PyTritonClientInvalidUrlError(f"Invalid url: {url}") from error
    if parsed.scheme not in ("http", "grpc") or not parsed.hostname:
        raise PyTritonClientInvalidUrlError(
            f"Invalid url: {url}. Use http://host:port or grpc://host:port"
        )
    return parsed.scheme, f"{parsed.hostname}:{port or (8000 if parsed.scheme == 'http' else 8001)}"


class Connection:
    """The connection of a client, and what it knows of the model."""

    def __init__(
        self,
        url: str,
        model_name: str,
        model_version: Optional[str] = None,
        *,
        lazy_init: bool = True,
        init_timeout_s: Optional[float] = None,
        inference_timeout_s: Optional[float] = None,
        ensure_model_is_ready: bool = True,
        access_token: Optional[str] = None,
    ) -> None:
        self._scheme, self._address = _parse_url(url)
        if self._scheme == "http":
            import tritonclient.http as library
        else:
            import tritonclient.grpc as library
        self._library: Any = library
        self._name = model_name
        self._version = model_version or ""
        self._init_timeout_s = init_timeout_s if init_timeout_s is not None else 300.0
        self._timeout_s = inference_timeout_s or _DEFAULT_TIMEOUT_S
        self._ensure_ready = ensure_model_is_ready
        self._headers = token_headers(access_token)
        self._config: Optional[dict[str, Any]] = None
        self._connection: Any = self._connect()
        if not lazy_init:
            self._prepare()

    def _connect(self) -> Any:
        """Returns a client of tritonclient."""
        options = {"network_timeout": self._timeout_s} if self._scheme == "http" else {}
        return self._library.InferenceServerClient(self._address, **options)

    def _prepare(self) -> None:
        """Asks for the model's configuration."""
        self._model()

    # ---- Life ----

    def close(self) -> None:
        """Closes the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    # ---- Server and model ----

    def _open(self) -> Any:
        if self._connection is None:
            raise PyTritonClientClosedError("Client is closed")
        return self._connection

    def _wait(self, condition: Callable[[], bool], timeout_s: float, what: str) -> None:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                if condition():
                    return
            except (OSError, self._library.InferenceServerException):
                pass  # the server does not listen yet
            if time.monotonic() >= deadline:
                raise PyTritonClientTimeoutError(
                    f"Timeout of {timeout_s} s occurred while waiting for {what}."
                )
            time.sleep(0.02)

    def wait_for_server(self, timeout_s: float) -> None:
        """Waits until the server is live."""
        connection = self._open()
        self._wait(lambda: bool(connection.is_server_live()), timeout_s, "the server")

    def wait_for_model(self, timeout_s: float) -> None:
        """Waits until the model is ready."""
        connection = self._open()
        ready = lambda: bool(connection.is_model_ready(self._name, self._version))  # noqa: E731
        self._wait(ready, timeout_s, f"the model {self._name}")

    def load_model(
        self, config: Optional[str] = None, files: Optional[dict[str, bytes]] = None
    ) -> None:
        """Loads the model."""
        self._open().load_model(self._name, headers=self._headers, config=config, files=files)

    def unload_model(self) -> None:
        """Unloads the model."""
        self._open().unload_model(self._name, headers=self._headers)

    def _model(self) -> dict[str, Any]:
        if self._config is None:
            if self._ensure_ready:
                self.wait_for_model(self._init_timeout_s)
            options = {"as_json": True} if self._scheme == "grpc" else {}
            found = self._open().get_model_config(self._name, self._version, **options)
            self._config = dict(found.get("config", found))
        return self._config

    @property
    def model_config(self) -> dict[str, Any]:
        """The model's configuration."""
        return self._model()

    @property
    def is_batching_supported(self) -> bool:
        """Whether tensors have a batch dimension."""
        return int(self._model().get("max_batch_size", 0)) > 0

    def _is_decoupled(self) -> bool:
        return bool(self._model().get("model_transaction_policy", {}).get("decoupled"))

    # ---- Requests ----

    def _named(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Array]:
        if not inputs and not named:
            raise PyTritonClientValueError("Provide input data")
        if inputs and named:
            raise PyTritonClientValueError(
                "Use either positional either keyword method arguments convention"
            )
        if inputs:
            names = [entry["name"] for entry in self._model()["input"]]
            if len(inputs) > len(names):
                raise PyTritonClientValueError(
                    f"The model has {len(names)} inputs, not {len(inputs)}"
                )
            named = dict(zip(names, inputs))
        return {name: _as_array(value) for name, value in named.items()}

    def _encode(self, inputs: dict[str, Array]) -> list[Any]:
        from tritonclient.utils import np_to_triton_dtype

        encoded = []
        for name, array in inputs.items():
            tensor = self._library.InferInput(
                name, list(array.shape), np_to_triton_dtype(array.dtype)
            )
            tensor.set_data_from_numpy(array)
            encoded.append(tensor)
        return encoded

    def _result(self, answer: Any) -> Result:
        options = {"as_json": True} if self._scheme == "grpc" else {}
        response = answer.get_response(**options)
        return {
            entry["name"]: answer.as_numpy(entry["name"]) for entry in response.get("outputs", [])
        }

    def _require_one_response(self) -> None:
        if self._is_decoupled():
            raise PyTritonClientInferenceServerError(
                "Model config is decoupled. Use DecoupledModelClient instead."
            )

    def _require_batching(self) -> None:
        if not self.is_batching_supported:
            raise PyTritonClientModelDoesntSupportBatchingError(
                f"Model {self._name} doesn't support batching - use infer_sample method instead"
            )


def with_batch(arrays: dict[str, Array]) -> dict[str, Array]:
    """Returns a batch that has these arrays alone."""
    return {name: array[np.newaxis, ...] for name, array in arrays.items()}


def first_of_batch(result: Result) -> Result:
    """Returns the first element of each output."""
    return {name: array[0] for name, array in result.items()}


def _as_array(value: Any) -> Array:
    array = np.asarray(value)
    if array.dtype.kind == "U":
        return np.char.encode(array, "utf-8").astype(np.object_)
    return array
