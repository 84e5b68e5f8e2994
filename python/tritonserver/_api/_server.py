# SPDX-License-Identifier: Apache-2.0
"""The server."""

from __future__ import annotations

import atexit
import json
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Optional, Union

from nereid import _core
from nereid.enums import MetricFormat
from nereid.errors import Error, InvalidArgumentError, UnavailableError
from tritonserver._api._model import Model
from tritonserver._api._options import Options, settings_of

_READY_ONLY = 1
_running: weakref.WeakSet[Server] = weakref.WeakSet()


class ModelDictionary(dict[tuple[str, int], Model]):
    """The models of a server by (name, version). A name alone gives a model of version -1."""

    def __init__(self, server: Server, models: list[Model]) -> None:
        super().__init__({(model.name, model.version): model for model in models})
        self._server = server

    def __getitem__(self, key: Union[str, tuple[str, int]]) -> Model:
        if isinstance(key, tuple):
            try:
                return super().__getitem__(key)
            except KeyError:
                raise KeyError(f"Unknown Model: {key}") from None
        if not any(name == key for name, _ in self):
            raise KeyError(f"Unknown Model: {key}")
        return Model(self._server, key)


class Server:
    """A server in this process. Made from Options or their fields; start() starts it."""

    def __init__(self, options: Optional[Options] = None, **kwargs: Any) -> None:
        self.options = Options(**kwargs) if options is None else options
        self._core: Optional[_core.Server] = None
        self._lock = threading.Lock()

    @property
    def core(self) -> _core.Server:
        """The server of the extension."""
        core = self._core
        if core is None:
            raise InvalidArgumentError("Server not started")
        return core

    def start(
        self,
        wait_until_ready: bool = False,
        polling_interval: float = 0.1,
        timeout: Optional[float] = None,
    ) -> Server:
        """Starts the server and loads its models.

        wait_until_ready: waits until ready(), asking each `polling_interval` seconds; after
        `timeout` seconds raises UnavailableError. A server that is not ready keeps running."""
        with self._lock:
            if self._core is not None:
                raise InvalidArgumentError("Server already started")
            self._core = _core.Server(settings_of(self.options), None)
            _running.add(self)
        if wait_until_ready and not _wait(self.ready, polling_interval, timeout):
            raise UnavailableError("Timeout before ready")
        return self

    def stop(self) -> None:
        """Answers the requests in progress and unloads the models. Raises InternalError if that
        takes longer than the exit timeout."""
        with self._lock:
            core = self.core
            core.stop()
            self._core = None
            _running.discard(self)

    def unregister_model_repository(self, repository_path: str) -> None:
        """Removes a repository; its models stay loaded."""
        self.core.unregister_repository(repository_path)

    def register_model_repository(
        self, repository_path: str, name_mapping: Optional[dict[str, str]] = None
    ) -> None:
        """Adds a repository. name_mapping: names of models by the names of their directories."""
        self.core.register_repository(repository_path, name_mapping)

    def poll_model_repository(self) -> None:
        """Loads what has changed in the repositories, in mode POLL."""
        self.core.poll_repositories()

    def metadata(self) -> dict[str, Any]:
        """Returns the server's metadata."""
        return dict(json.loads(self.core.metadata()))

    def live(self) -> bool:
        """Returns whether the server is live."""
        return self.core.is_live()

    def ready(self) -> bool:
        """Returns whether the server is ready."""
        return self.core.is_ready()

    def model(self, model_name: str, model_version: int = -1) -> Model:
        """Returns a model, which need not exist."""
        _ = self.core  # raises before start()
        return Model(self, model_name, model_version)

    def models(self, exclude_not_ready: bool = False) -> ModelDictionary:
        """Returns the models of the repositories."""
        index = json.loads(self.core.model_index(_READY_ONLY if exclude_not_ready else 0))
        return ModelDictionary(self, [self._indexed(entry) for entry in index])

    def _indexed(self, entry: dict[str, str]) -> Model:
        version = int(entry.get("version") or -1)
        return Model(self, entry["name"], version, entry.get("state"), entry.get("reason"))

    def load(
        self, model_name: str, parameters: Optional[dict[str, Union[str, int, bool, bytes]]] = None
    ) -> Model:
        """Loads a model. parameters: "config" with JSON text, "file:<path>" with bytes."""
        self.core.load(model_name, parameters)
        return self.model(model_name)

    def unload(
        self,
        model: Union[str, Model],
        unload_dependents: bool = False,
        wait_until_unloaded: bool = False,
        polling_interval: float = 0.1,
        timeout: Optional[float] = None,
    ) -> None:
        """Unloads a model. wait_until_unloaded: waits until it is unloaded, for `timeout` seconds
        at most."""
        name = model.name if isinstance(model, Model) else model
        self.core.unload(name, unload_dependents)
        if wait_until_unloaded:
            _wait(lambda: self._is_unloaded(name), polling_interval, timeout)

    def _is_unloaded(self, name: str) -> bool:
        models = self.models().values()
        return all(model.state in (None, "UNAVAILABLE") for model in models if model.name == name)

    def metrics(self, metric_format: MetricFormat = MetricFormat.PROMETHEUS) -> str:
        """Returns the metrics page."""
        return self.core.metrics(metric_format)

    def _ptr(self) -> int:
        return self.core.address()


def _wait(condition: Callable[[], bool], interval: float, timeout: Optional[float]) -> bool:
    """Waits until a condition holds. Returns whether it does."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while not condition():
        if deadline is not None and time.monotonic() >= deadline:
            return False
        time.sleep(interval)
    return True


@atexit.register
def _stop_servers() -> None:
    """Stops the servers that still run: their threads must not outlive the interpreter."""
    for server in list(_running):
        try:
            server.stop()
        except Error:
            pass  # the engine has logged what is still in progress
