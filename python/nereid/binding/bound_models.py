# SPDX-License-Identifier: Apache-2.0
"""Models of a server whose functions are in this process."""

from __future__ import annotations

import json
import logging
import re
import secrets
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable, Optional, Union

import numpy as np

from nereid import _core, paths
from nereid.binding.exceptions import (
    PyTritonInvalidOperationError,
    PyTritonValidationError,
)
from nereid.binding.model_config import ModelConfig, ModelWarmup, Tensor, TritonModelConfig, named
from nereid.binding.requests import Request
from nereid.binding.worker import Worker, current_model
from nereid.folders import TemporaryFolder

logger = logging.getLogger(__name__)

InferFunction = Callable[..., Any]
_PLUGIN = "libtriton_bound.so"
_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def check_name(name: str) -> None:
    """Raises PyTritonValidationError for names that a model cannot have."""
    if not name:
        raise PyTritonValidationError("Model name cannot be empty")
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise PyTritonValidationError(
            "Model name can only contain alphanumeric characters, dots, underscores and dashes"
        )


class _BoundModel:
    """A version of a model: its functions, and the workers that run them while it is loaded."""

    def __init__(
        self, model: TritonModelConfig, functions: Sequence[InferFunction], strict: bool, token: str
    ) -> None:
        self.model = model
        self.functions = functions
        self.strict = strict
        self.token = f"{token}/{model.model_version}"
        self.config = model.json(token, len(functions))
        self.queue: Optional[_core.BoundQueue] = None
        self.workers: list[Worker] = []

    def start(self, on_unrecoverable: Callable[[], None]) -> None:
        """Starts the workers."""
        self.queue = _core.BoundQueue(str(plugin_path()), self.token)
        self.workers = [
            Worker(self.queue, function, self.model, self.strict, on_unrecoverable)
            for function in self.functions
        ]

    def stop(self) -> None:
        """Ends the workers. Requests that still come are refused."""
        if self.queue is not None:
            Worker.end_all(self.workers, self.queue)
            self.queue, self.workers = None, []


def plugin_path() -> Path:
    """Returns the path of the backend's library, the same that the server opens."""
    return paths.plugin_directory("backends") / "bound" / _PLUGIN


class BoundModels:
    """The bound models of a server: their folders in a repository that belongs to this object, and
    their workers. Models can be bound before the server starts; load() loads them."""

    def __init__(self, on_unrecoverable: Callable[[], None]) -> None:
        self._on_unrecoverable = on_unrecoverable
        self._token = secrets.token_hex(16)
        self._folder: Optional[TemporaryFolder] = None
        self._models: dict[tuple[str, int], _BoundModel] = {}
        self._lock = threading.Lock()

    def bind(
        self,
        name: str,
        functions: Union[InferFunction, Sequence[InferFunction]],
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        *,
        version: int = 1,
        config: Optional[ModelConfig] = None,
        strict: bool = False,
        traced: bool = False,
    ) -> None:
        """Adds a model. Its settings are checked here; load() starts it."""
        check_name(name)
        model = TritonModelConfig(
            name,
            version,
            named(inputs, "INPUT"),
            named(outputs, "OUTPUT"),
            config or ModelConfig(),
            traced,
        )
        several = [functions] if callable(functions) else list(functions)
        bound = _BoundModel(model, several, strict, f"{self._token}-{name}")
        with self._lock:
            key = (name.lower(), version)
            if any((known.lower(), number) == key for known, number in self._models):
                raise PyTritonInvalidOperationError("Cannot add model with the same name twice.")
            self._models[name, version] = bound

    def remove(self, name: str, version: int) -> None:
        """Forgets a model that is not loaded."""
        with self._lock:
            bound = self._models.pop((name, version), None)
        if bound is not None:
            bound.stop()

    def names(self) -> list[str]:
        """Returns the names of the models."""
        with self._lock:
            return sorted({name for name, _ in self._models})

    def load(self, core: _core.Server, name: str) -> None:
        """Starts the functions of a model and loads it."""
        with self._lock:
            if self._folder is None:
                self._folder = TemporaryFolder("nereid-bound-")
                core.register_repository(self._folder.name, None)
            bound = [model for (known, _), model in self._models.items() if known == name]
            for model in bound:
                self._write(Path(self._folder.name) / name, model)
                if model.queue is None:
                    warm_up(model.model, model.functions)
                    model.start(self._on_unrecoverable)
        core.load(name, None)

    def _write(self, folder: Path, bound: _BoundModel) -> None:
        (folder / str(bound.model.model_version)).mkdir(parents=True, exist_ok=True)
        link = folder / _PLUGIN
        if not link.exists():
            link.symlink_to(plugin_path().resolve())
        # The text format of protobuf takes strings as JSON does, so JSON's values need no copy.
        (folder / "config.pbtxt").write_text(_text_format(bound.config))

    def stop(self) -> None:
        """Ends the workers and removes the folder, after the server has stopped. The models stay
        bound for the next start."""
        with self._lock:
            for model in self._models.values():
                model.stop()
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None


#: Fields whose values are words of an enumeration, without quotes.
_WORDS = frozenset(("data_type", "kind", "timeout_action"))
_MAPS = frozenset(("parameters", "priority_queue_policy"))


def _text_format(message: dict[str, Any], indent: str = "") -> str:
    """Returns a configuration in protobuf's text format."""
    lines = []
    for name, value in message.items():
        for item in value if isinstance(value, list) else [value]:
            if name in _MAPS:
                for key, entry in item.items():
                    text = key if name == "priority_queue_policy" else json.dumps(key)
                    inner = _text_format(entry, indent + "    ")
                    lines.append(
                        f"{indent}{name} {{\n{indent}  key: {text}\n"
                        f"{indent}  value {{\n{inner}{indent}  }}\n{indent}}}\n"
                    )
            elif isinstance(item, dict):
                lines.append(f"{indent}{name} {{\n{_text_format(item, indent + '  ')}{indent}}}\n")
            else:
                text = item if name in _WORDS else json.dumps(item)
                lines.append(f"{indent}{name}: {text}\n")
    return "".join(lines)


def warm_up(model: TritonModelConfig, functions: Sequence[InferFunction]) -> None:
    """Calls the functions with the inputs of the configuration's warm-ups. Failures are logged
    only."""
    for warmup in model.config.model_warmup or ():
        for function in functions:
            token = current_model.set(model)
            try:
                requests = [_warmup_request(warmup, model) for _ in range(warmup.count)]
                result = function(requests)
                if hasattr(result, "__next__"):
                    list(result)
            except Exception:
                logger.exception("The warm-up %s of %s failed", warmup.name, model.model_name)
            finally:
                current_model.reset(token)


def _warmup_request(warmup: ModelWarmup, model: TritonModelConfig) -> Request:
    data: dict[str, np.ndarray[Any, Any]] = {}
    for name, entry in warmup.inputs.items():
        shape = (warmup.batch_size, *entry.shape) if model.batching else entry.shape
        if entry.input_data_file is not None:
            data[name] = np.load(entry.input_data_file)
        elif entry.random_data:
            values = np.random.default_rng().integers(0, 2, shape)
            data[name] = values.astype(entry.dtype)
        else:
            data[name] = np.zeros(shape, entry.dtype)
    return Request(data)
