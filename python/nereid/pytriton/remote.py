# SPDX-License-Identifier: Apache-2.0
"""The class RemoteTriton: functions of this process as models of a server that runs elsewhere."""

from __future__ import annotations

import atexit
import json
import logging
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from nereid.binding.bound_models import check_name, warm_up
from nereid.binding.exceptions import PyTritonInvalidOperationError
from nereid.binding.model_config import ModelConfig, Tensor, TritonModelConfig, named
from nereid.binding.worker import Worker
from nereid.folders import TemporaryFolder
from nereid.pytriton import proxy
from nereid.pytriton.client import ModelClient, PyTritonClientTimeoutError
from nereid.pytriton.remote_queue import RemoteQueue
from nereid.pytriton.serving import Serving
from nereid.pytriton.tracing import use_trace_config

logger = logging.getLogger(__name__)

_FILES = ("model.py", "wire.py")
_STARTUP_TIMEOUT_S = 120.0
_MODEL_TIMEOUT_S = 60.0
# The server loads the instances of a new configuration before it ends those of the old one.
_CONNECTIONS_PER_FUNCTION = 2


def _made(workspace: Union[str, os.PathLike[str], None]) -> Optional[str]:
    """Makes the folder that a user has named."""
    if workspace is None:
        return None
    os.makedirs(workspace, mode=0o700, exist_ok=True)
    return os.fspath(workspace)


class _RemoteModel:
    """A model: its functions, the socket for its proxies, and the workers while it is served."""

    def __init__(
        self, model: TritonModelConfig, functions: Sequence[Callable[..., Any]], strict: bool
    ) -> None:
        self.model = model
        self._functions = functions
        self._strict = strict
        self._config = model.json("", len(functions))
        self._queue: Optional[RemoteQueue] = None
        self._workers: list[Worker] = []
        self.is_loaded = False  # in the server

    def config(self, socket: str) -> str:
        """Returns the configuration of the proxy, as JSON."""
        parameters = {"functions_socket": {"string_value": socket}}
        if self.model.traced:
            parameters["functions_traced"] = {"string_value": "true"}
        return json.dumps({**self._config, "backend": "python", "parameters": parameters})

    def start(self, socket: str, on_unrecoverable: Callable[[], Any]) -> None:
        """Starts the workers."""
        warm_up(self.model, self._functions)
        limit = _CONNECTIONS_PER_FUNCTION * len(self._functions)
        self._queue = RemoteQueue(socket, limit)
        self._workers = [
            Worker(self._queue, function, self.model, self._strict, on_unrecoverable)
            for function in self._functions
        ]

    def stop(self) -> None:
        """Ends the workers."""
        if self._queue is not None:
            Worker.end_all(self._workers, self._queue)
            self._queue, self._workers = None, []


class RemoteTriton(Serving):
    """Functions of this process as models of a server that runs on the same machine, of Nereid or
    Triton, with --model-control-mode=explicit and the Python backend. The server gets a model for
    each function that passes its batches to this process.

    url: http://host:port or grpc://host:port. workspace: a folder for sockets that the server sees
        under the same path, by default a new one. access_token: what the server wants from those
        who manage models.

    If the server is started again, connect() of a new object loads the models into it."""

    def __init__(
        self,
        url: str,
        workspace: Union[str, os.PathLike[str], None] = None,
        access_token: Optional[str] = None,
    ) -> None:
        super().__init__()
        self._url = url
        self._token = access_token
        # Only this user reaches the sockets.
        self._folder = TemporaryFolder("nereid-remote-", _made(workspace))
        self._models: dict[str, _RemoteModel] = {}
        self._lock = threading.Lock()
        self._connected = False
        atexit.register(self.stop)

    def bind(
        self,
        model_name: str,
        infer_func: Union[Callable[..., Any], Sequence[Callable[..., Any]]],
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        model_version: int = 1,
        config: Optional[ModelConfig] = None,
        strict: bool = False,
        trace_config: Optional[list[str]] = None,
    ) -> None:
        """Adds a function, or several of which each runs in a thread, as a model. After connect()
        the model is loaded at once. See Triton.bind."""
        check_name(model_name)
        model = TritonModelConfig(
            model_name,
            model_version,
            named(inputs, "INPUT"),
            named(outputs, "OUTPUT"),
            config or ModelConfig(),
            use_trace_config(trace_config),
        )
        functions = [infer_func] if callable(infer_func) else list(infer_func)
        remote = _RemoteModel(model, functions, strict)
        with self._lock:
            # A load replaces all versions of a model.
            if any(known.lower() == model_name.lower() for known in self._models):
                raise PyTritonInvalidOperationError("Cannot add model with the same name twice.")
            self._models[model_name] = remote
            if self._connected:
                self._load(remote)

    def connect(self) -> None:
        """Waits for the server and loads the models.

        Raises TimeoutError if the server is not ready after two minutes."""
        with self._lock:
            if self._connected:
                return
            if self._stopped.is_set():
                raise PyTritonInvalidOperationError("The connection was stopped.")
            with ModelClient(self._url, "") as client:
                try:
                    client.wait_for_server(_STARTUP_TIMEOUT_S)
                except PyTritonClientTimeoutError as error:
                    raise TimeoutError(
                        "Triton Inference Server is not ready after timeout."
                    ) from error
            for model in self._models.values():
                self._load(model)
            self._connected = True

    def _begin(self) -> None:
        if not self._stopped.is_set():
            self.connect()

    def _load(self, remote: _RemoteModel) -> None:
        name, version = remote.model.model_name, remote.model.model_version
        socket = os.path.join(self._folder.name, f"{name}.{version}")
        folder = Path(proxy.__file__).parent
        files = {f"file:{version}/{file}": (folder / file).read_bytes() for file in _FILES}
        remote.start(socket, self.stop)
        try:
            with self._client(remote) as client:
                client.load_model(remote.config(socket), files)
                remote.is_loaded = True
                client.wait_for_model(_MODEL_TIMEOUT_S)
        except BaseException:
            self._end(remote)
            self._models.pop(name, None)
            raise

    def _end(self, remote: _RemoteModel) -> None:
        """Unloads a model and ends its functions."""
        if remote.is_loaded:
            remote.is_loaded = False
            try:
                with self._client(remote) as client:
                    client.unload_model()
            except Exception:
                logger.warning("The model %s could not be unloaded", remote.model.model_name)
        remote.stop()

    def _client(self, remote: _RemoteModel) -> ModelClient:
        model = remote.model
        return ModelClient(
            self._url, model.model_name, str(model.model_version), access_token=self._token
        )

    def _end_serving(self) -> bool:
        """Unloads the models and ends their functions. Returns whether that was still to do."""
        if self._stopped.is_set():
            return False
        self._stopped.set()
        atexit.unregister(self.stop)
        with self._lock:
            self._connected = False
            for remote in self._models.values():
                self._end(remote)
        self._folder.cleanup()
        return True

    def is_alive(self) -> bool:
        """Returns whether the functions are served."""
        return self._connected and not self._stopped.is_set()

    def is_connected(self) -> bool:
        """Returns whether connect() was called, and stop() was not."""
        return self.is_alive()

    def __enter__(self) -> RemoteTriton:
        self.connect()
        return self
