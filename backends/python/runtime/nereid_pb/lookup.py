# SPDX-License-Identifier: Apache-2.0
"""Searches for tensors in requests and responses, and for entries of a model's configuration."""

from __future__ import annotations

import typing

from .request import InferenceRequest
from .response import InferenceResponse
from .tensor import Tensor

_Config = typing.Dict[str, typing.Any]


def get_input_tensor_by_name(inference_request: InferenceRequest, name: str) -> Tensor | None:
    """Returns the input of that name, or None."""
    for tensor in inference_request._inputs:
        if tensor._name == name:
            return tensor
    return None


def get_output_tensor_by_name(inference_response: InferenceResponse, name: str) -> Tensor | None:
    """Returns the output of that name, or None."""
    for tensor in inference_response._outputs:
        if tensor._name == name:
            return tensor
    return None


def get_input_config_by_name(model_config: _Config, name: str) -> _Config | None:
    """Returns the entry of an input in a model's configuration, or None."""
    return _entry(model_config, "input", name)


def get_output_config_by_name(model_config: _Config, name: str) -> _Config | None:
    """Returns the entry of an output in a model's configuration, or None."""
    return _entry(model_config, "output", name)


def _entry(model_config: _Config, kind: str, name: str) -> _Config | None:
    for tensor in model_config.get(kind, ()):
        if tensor["name"] == name:
            return typing.cast(_Config, tensor)
    return None


def using_decoupled_model_transaction_policy(model_config: _Config) -> bool:
    """Returns whether the configuration says that the model is decoupled."""
    return bool(model_config.get("model_transaction_policy", {}).get("decoupled", False))
