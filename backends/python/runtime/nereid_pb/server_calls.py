# SPDX-License-Identifier: Apache-2.0
"""Calls of the server that name no request: models that are loaded, unloaded and asked for."""

from __future__ import annotations

import typing

from nereid_worker import host as hosts

from . import arguments
from .errors import TritonModelException

_Result = typing.TypeVar("_Result")


def call(what: str, function: typing.Callable[..., _Result], *arguments: typing.Any) -> _Result:
    """Calls a function of the host. Raises its failure as a TritonModelException that begins with
    `what`, in the form that models know from Triton."""
    try:
        return function(*arguments)
    except hosts.HostError as error:
        raise TritonModelException(
            f"{what}: Failed to process the request for model "
            f"'{hosts.current().instance_name}', message: {error.message}") from None


def load_model(model_name: str | bytes, config: str | bytes = "",
               files: dict[str, bytes] | None = None) -> None:
    """Loads a model and waits until it is ready.

    `config` is a configuration as JSON that replaces config.pbtxt. `files` replaces the files of the
    model: {"file:1/model.onnx": content}; it needs `config`. Raises TritonModelException if the model
    cannot be loaded, or if the server does not run with --model-control-mode=explicit.
    """
    model_name = arguments.text("load_model: model_name", model_name)
    config = arguments.text("load_model: config", config)
    if files is not None and not isinstance(files, dict):
        raise TritonModelException(
            f"failed to load model '{model_name}', files should be a dictionary of file paths and "
            "file contents")
    contents = {arguments.text("load_model: a key of files", path): _content(path, content)
                for path, content in (files or {}).items()}
    call("Failed to load model", hosts.current().load_model, model_name, config, contents or None)


def _content(path: typing.Any, content: typing.Any) -> bytes:
    if not isinstance(content, bytes):
        raise TypeError(f"load_model: the content of '{path}' must be of type bytes, not {type(content)}")
    return content


def unload_model(model_name: str | bytes, unload_dependents: bool = False) -> None:
    """Unloads a model; with `unload_dependents` also the models that only this one uses.

    Does not wait until its requests have ended. Raises TritonModelException if the server refuses.
    """
    call("Failed to unload model", hosts.current().unload_model,
         arguments.text("unload_model: model_name", model_name),
         arguments.truth("unload_model: unload_dependents", unload_dependents))


def is_model_ready(model_name: str | bytes, model_version: str | bytes = "") -> bool:
    """Returns whether a model, or a version of it, can be called. False if it does not exist.

    Raises TritonModelException if `model_version` is not the text of a number.
    """
    return call("Failed to check model readiness", hosts.current().is_model_ready,
                arguments.text("is_model_ready: model_name", model_name),
                arguments.text("is_model_ready: model_version", model_version))


def get_model_dir() -> str:
    """Returns the folder of the model's version."""
    return hosts.current().model_directory
