# SPDX-License-Identifier: Apache-2.0
"""A server in this process."""

from __future__ import annotations

import atexit
import json
import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Optional, Union

from nereid import _core, paths
from nereid.binding.bound_models import BoundModels
from nereid.binding.model_config import DynamicBatcher, ModelConfig
from nereid.binding.model_config import Tensor as TensorSpec
from nereid.errors import Error, InvalidArgumentError
from nereid.flags import make_flags
from nereid.folders import TemporaryFolder
from nereid.frontends import Frontends
from nereid.model import Model

logger = logging.getLogger(__name__)

_PathLike = Union[str, "os.PathLike[str]"]

#: What a server in a process has instead of the defaults of the command line: its models can be
#: loaded and unloaded, it writes warnings and errors only, and a debugger may stop its threads.
_DEFAULTS: dict[str, Any] = {
    "model_control_mode": "explicit",
    "log_info": False,
    "watchdog_secs": 0,
}

#: The servers to stop when the process ends.
_running: weakref.WeakSet[Server] = weakref.WeakSet()


class Server:
    """An inference server in this process, without ports (listen() opens some).

        with nereid.Server("models") as server:
            response = server.model("resnet").infer({"input": image})
            probabilities = response["output"]

    model_repository: a directory or URL of models, or several; None: none, models are loaded with
    their files (load()).
    settings: the flags of `nereid serve`, with underscores: ``backend_config={"onnxruntime":
    {"default-max-batch-size": 8}}``, ``rate_limit="execution_count"``. By default all models of the
    repository are loaded when the server starts, and models can be loaded and unloaded later.

    All methods may be called from any thread. After a fork, in the child process, they raise
    ForkedError."""

    def __init__(
        self,
        model_repository: Union[_PathLike, Iterable[_PathLike], None] = None,
        **settings: Any,
    ) -> None:
        self._settings = settings
        self._repositories = _repository_list(model_repository)
        self._temporary: Optional[TemporaryFolder] = None
        self._core: Optional[_core.Server] = None
        self._lock = threading.Lock()
        self._bound = BoundModels(self._stop_unrecoverable)

    # ---- Start and stop ----

    def start(self) -> Server:
        """Starts the server and loads its models. Does nothing if it runs.

        Raises InvalidArgumentError for wrong settings, and InternalError if a model cannot be
        loaded and the setting `exit_on_error` is not False."""
        with self._lock:
            if self._core is None:
                try:
                    self._core = self._make_core()
                except BaseException:
                    self._remove_folders()
                    raise
                _running.add(self)
        return self

    def _make_core(self) -> _core.Server:
        """Starts the server of the extension and loads the bound models."""
        core = _core.Server(None, self._flags())
        try:
            for name in self._bound.names():
                self._bound.load(core, name)
        except BaseException:
            core.stop()
            raise
        return core

    def _remove_folders(self) -> None:
        self._bound.stop()
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _flags(self) -> list[str]:
        settings = dict(_DEFAULTS)
        for kind, name in (
            ("backends", "backend_directory"),
            ("caches", "cache_directory"),
            ("repoagents", "repoagent_directory"),
        ):
            settings[name] = paths.plugin_directory(kind)
        settings.update(self._settings)
        if settings["model_control_mode"] == "explicit" and self._repositories:
            settings.setdefault("load_model", "*")
        repositories = self._repositories
        if not repositories:
            self._temporary = TemporaryFolder("nereid-models-")
            repositories = [self._temporary.name]
        flags = make_flags({"model_repository": repositories, **settings})
        # Python models run with the interpreter that has the package, unless a setting names one.
        interpreter = "--backend-config=python,interpreter="
        if sys.executable and not any(flag.startswith(interpreter) for flag in flags):
            flags.append(interpreter + sys.executable)
        return flags

    def stop(self) -> None:
        """Waits for the requests in progress and unloads the models; after the exit timeout (30 s,
        setting `exit_timeout_secs`) raises InternalError. Does nothing if the server does not
        run."""
        with self._lock:
            core, self._core = self._core, None
            if core is None:
                return
            try:
                core.stop()
            except Error:
                self._core = core
                raise
            _running.discard(self)
            self._remove_folders()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.stop()

    @property
    def core(self) -> _core.Server:
        """The server of the extension. Raises InvalidArgumentError if the server does not run."""
        core = self._core
        if core is None:
            raise InvalidArgumentError("Server not started")
        return core

    # ---- Front ends ----

    def listen(
        self,
        *,
        http_port: Optional[int] = None,
        grpc_port: Optional[int] = None,
        metrics_port: Optional[int] = None,
        address: str = "127.0.0.1",
        **settings: Any,
    ) -> Frontends:
        """Serves HTTP, gRPC and the metrics page on the ports that are given; 0 lets the system
        choose.

        address: the address of all of them; "0.0.0.0" is every address of the machine.
        settings: further flags of `nereid serve`, with underscores: ``http_use_ssl=True``."""
        flags: dict[str, Any] = {}
        for name, port in (("http", http_port), ("grpc", grpc_port), ("metrics", metrics_port)):
            flags[f"allow_{name}"] = port is not None
            if port is not None:
                flags[f"{name}_port"] = port
                flags[f"{name}_address"] = address
        return self.serve_flags({**flags, **settings})

    def serve_flags(self, settings: Mapping[str, Any]) -> Frontends:
        """Serves what the flags of `nereid serve` say, with underscores: by default HTTP, gRPC and
        the metrics page on the ports 8000, 8001 and 8002 of all addresses."""
        return Frontends(_core.Frontends(self.core, make_flags(settings)))

    # ---- Models ----

    def model(self, name: str, version: int = -1) -> Model:
        """Returns a model, which need not exist yet. version -1: as its version policy decides."""
        return Model(self, name, version)

    def models(self) -> list[dict[str, Any]]:
        """Returns the versions of all models of the repositories: "name", and "version", "state"
        and "reason" where the server has them. States are "READY", "UNAVAILABLE", "LOADING",
        "UNLOADING"."""
        return list(json.loads(self.core.model_index(0)))

    def load(
        self,
        name: str,
        *,
        config: Union[str, Mapping[str, Any], None] = None,
        files: Optional[Mapping[str, bytes]] = None,
    ) -> Model:
        """Loads a model, or loads it again. Returns when it is ready; raises its error.

        config: replaces the model's configuration (JSON text, or the same as a dict).
        files: replace the model's files, by path: ``{"1/model.onnx": data}``; they need
        `config`."""
        parameters: dict[str, Any] = {}
        if config is not None:
            parameters["config"] = config if isinstance(config, str) else json.dumps(config)
        for path, content in (files or {}).items():
            parameters[f"file:{path}"] = bytes(content)
        self.core.load(name, parameters)
        return self.model(name)

    def unload(self, name: str, *, dependents: bool = False) -> None:
        """Unloads a model. Requests in progress are answered. dependents: also the models that only
        this ensemble uses."""
        self.core.unload(name, dependents)

    def bind(
        self,
        name: str,
        function: Union[Callable[..., Any], Sequence[Callable[..., Any]]],
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        *,
        version: int = 1,
        config: Optional[ModelConfig] = None,
        strict: bool = False,
        traced: bool = False,
    ) -> Model:
        """Serves a Python function of this process as a model; see nereid.bind. Before start() the
        model is only noted.

        traced: gives each request a span of OpenTelemetry, if nereid.pytriton has a tracer."""
        self._bound.bind(
            name,
            function,
            inputs,
            outputs,
            version=version,
            config=config,
            strict=strict,
            traced=traced,
        )
        core = self._core
        if core is not None:
            try:
                self._bound.load(core, name)
            except Exception:
                self._bound.remove(name, version)
                raise
        return self.model(name)

    def _stop_unrecoverable(self) -> None:
        try:
            self.stop()
        except Error:
            logger.exception("The server could not be stopped after an unrecoverable error")

    # ---- About the server ----

    def is_running(self) -> bool:
        """Returns whether the server was started and not stopped."""
        return self._core is not None

    def is_live(self) -> bool:
        """Returns whether the server can answer requests about itself."""
        return self.core.is_live()

    def is_ready(self) -> bool:
        """Returns whether the server serves requests, with strict readiness also every model."""
        return self.core.is_ready()

    def metadata(self) -> dict[str, Any]:
        """Returns the name, the version and the extensions of the server."""
        return dict(json.loads(self.core.metadata()))

    def statistics(self) -> dict[str, Any]:
        """Returns the statistics of all models (see Model.statistics)."""
        return dict(json.loads(self.core.model_statistics("", -1)))

    def metrics(self) -> str:
        """Returns the metrics page in the format of Prometheus."""
        return self.core.metrics(0)


def _repository_list(
    given: Union[_PathLike, Iterable[_PathLike], None],
) -> list[str]:
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    return [os.fspath(path) for path in given]


@atexit.register
def _stop_servers() -> None:
    """Stops the servers that still run: their threads must not outlive the interpreter."""
    for server in list(_running):
        try:
            server.stop()
        except Error:
            pass  # the engine has logged what is still in progress


_default_lock = threading.Lock()
_default: Optional[Server] = None


def bind(
    function: Union[Callable[..., Any], Sequence[Callable[..., Any]]],
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    *,
    name: Optional[str] = None,
    server: Optional[Server] = None,
    batching: bool = True,
    max_batch_size: int = 4,
    batcher: Optional[DynamicBatcher] = None,
    decoupled: bool = False,
    strict: bool = False,
) -> Model:
    """Serves a Python function of this process as a model and returns the model. The server forms
    the batches.

    function: gets a list of requests, each a mapping from names of inputs to arrays, and returns a
    list of dicts of arrays, one for each request. It may be a coroutine function. The decorators of
    nereid.pytriton.decorators give it other forms: with @batch it gets arrays of a whole batch by
    name. A list of functions runs one thread for each. inputs, outputs:
    nereid.pytriton.Tensor(name=..., dtype=..., shape=...), without batch dimension. name: of the
    model; by default that of the function. server: by default one of the process, which starts with
    the first call. batching, max_batch_size, batcher: how requests form batches
    (nereid.pytriton.DynamicBatcher). decoupled: the function is a generator; each list that it
    yields has a response for each request. strict: checks the types and shapes of what the function
    returns."""
    global _default
    if server is None:
        with _default_lock:
            if _default is None:
                _default = Server()
            server = _default.start()
    first = function if callable(function) else function[0]
    config = ModelConfig(
        batching=batching,
        max_batch_size=max_batch_size,
        batcher=batcher or DynamicBatcher(),
        decoupled=decoupled,
    )
    return server.bind(
        name or str(getattr(first, "__name__", "model")),
        function,
        inputs,
        outputs,
        config=config,
        strict=strict,
    )
