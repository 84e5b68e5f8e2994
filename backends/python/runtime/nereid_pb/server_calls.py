# SPDX-License-Identifier: Apache-2.0
"""Calls of the server that name no request: models that are loaded, unloaded and asked for."""

from __future__ import annotations

import typing

from nereid_worker import host as hosts

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


def load_model(model_name: str, config: str = "", files: dict[str, bytes] | None = None) -> None:
    """Loads a model and waits until it is ready.

    `config` is a configuration as JSON that replaces config.pbtxt. `files` replaces the files of the
    model: {"file:1/model.onnx": content}; it needs `config`. Raises TritonModelException if the model
    cannot be loaded, or if the server does not run with --model-control-mode=explicit.
    """
    _check_text("load_model", "model_name", model_name)
    _check_text("load_model", "config", config)
    if files is not None and not isinstance(files, dict):
        raise TritonModelException(
            f"failed to load model '{model_name}', files should be a dictionary of file paths and "
            "file contents")
    for path, content in (files or {}).items():
        _check_text("load_model", "a key of files", path)
        if not isinstance(content, bytes):
            raise TypeError(f"load_model: the content of '{path}' must be of type bytes, not "
                            f"{type(content)}")
    call("Failed to load model", hosts.current().load_model, model_name, config, files or None)


def unload_model(model_name: str, unload_dependents: bool = False) -> None:
    """Unloads a model; with `unload_dependents` also the models that only this one uses.

    Does not wait until its requests have ended. Raises TritonModelException if the server refuses.
    """
    _check_text("unload_model", "model_name", model_name)
    call("Failed to unload model", hosts.current().unload_model, model_name,
         bool(unload_dependents))


def is_model_ready(model_name: str, model_version: str = "") -> bool:
    """Returns whether a model, or a version of it, can be called. False if it does not exist.

    Raises TritonModelException if `model_version` is not the text of a number.
    """
    _check_text("is_model_ready", "model_name", model_name)
    _check_text("is_model_ready", "model_version", model_version)
    return call("Failed to check model readiness", hosts.current().is_model_ready, model_name,
                model_version)


def get_model_dir() -> str:
    """Returns the folder of the model's version."""
    return hosts.current().model_directory


def _check_text(function: str, what: str, value: typing.Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{function}: {what} must be of type str, not {type(value)}")
