# SPDX-License-Identifier: Apache-2.0
"""Models that are functions: the configuration comes from the annotations.

    from nereid_pb.function_model import FP32, model

    @model(max_batch_size=8)
    def scale(x: FP32[-1], factor: FP32[1] = None) -> {"SCALED": FP32[-1]}:
        return x * (2 if factor is None else factor)

The decorator makes the class TritonPythonModel of the function's module. The parameters are the inputs,
the result names the outputs.
"""

from __future__ import annotations

import inspect
import typing

import numpy as np

from . import datatypes
from .errors import TritonError, TritonModelException
from .lookup import get_input_tensor_by_name
from .model_config import ModelConfig
from .request import InferenceRequest
from .response import InferenceResponse
from .tensor import Tensor

_Function = typing.TypeVar("_Function", bound=typing.Callable[..., typing.Any])

SINGLE_OUTPUT = "OUT"


class TensorType:
    """The data type and the dimensions of a tensor, without the batch dimension."""

    def __init__(self, data_type: str, numpy_type: typing.Any, dims: tuple[int, ...] = (-1,)) -> None:
        self.data_type = data_type
        self.numpy_type = numpy_type
        self.dims = dims

    def __getitem__(self, dims: int | tuple[int, ...]) -> TensorType:
        given = dims if isinstance(dims, tuple) else (dims,)
        for size in given:
            if not isinstance(size, int) or size < -1 or size == 0:
                raise TypeError(f"{self.data_type}: a dimension is a positive int or -1, not {size!r}")
        return TensorType(self.data_type, self.numpy_type, given)

    def entry(self, name: str) -> dict[str, typing.Any]:
        """Returns the entry of a configuration."""
        return {"name": name, "data_type": self.data_type, "dims": list(self.dims)}


def _type(name: str) -> TensorType:
    return TensorType(name, datatypes.CONFIG_NAMES[name])


BOOL = _type("TYPE_BOOL")
UINT8 = _type("TYPE_UINT8")
UINT16 = _type("TYPE_UINT16")
UINT32 = _type("TYPE_UINT32")
UINT64 = _type("TYPE_UINT64")
INT8 = _type("TYPE_INT8")
INT16 = _type("TYPE_INT16")
INT32 = _type("TYPE_INT32")
INT64 = _type("TYPE_INT64")
FP16 = _type("TYPE_FP16")
FP32 = _type("TYPE_FP32")
FP64 = _type("TYPE_FP64")
STRING = _type("TYPE_STRING")


class Signature(typing.NamedTuple):
    """What a function's annotations say."""

    inputs: dict[str, TensorType]
    defaults: dict[str, typing.Any]  # of the optional inputs
    outputs: dict[str, TensorType]
    single: bool  # whether the function returns one array in place of a dictionary


def signature_of(function: typing.Callable[..., typing.Any]) -> Signature:
    """Returns the signature of a function. Raises TypeError if an annotation is missing or no tensor.
    """
    inputs: dict[str, TensorType] = {}
    defaults: dict[str, typing.Any] = {}
    signature = inspect.signature(function)
    for name, parameter in signature.parameters.items():
        inputs[name] = _tensor_type(function, f"the parameter '{name}'", parameter.annotation)
        if parameter.default is not inspect.Parameter.empty:
            defaults[name] = parameter.default
    result = _evaluated(function, signature.return_annotation)
    if not isinstance(result, dict):
        only = _tensor_type(function, "the result", result)
        return Signature(inputs, defaults, {SINGLE_OUTPUT: only}, True)
    outputs = {name: _tensor_type(function, f"the result '{name}'", kind)
               for name, kind in result.items()}
    return Signature(inputs, defaults, outputs, False)


def _evaluated(function: typing.Callable[..., typing.Any], annotation: typing.Any) -> typing.Any:
    """Returns an annotation; texts (from __future__ import annotations) are evaluated."""
    return eval(annotation, function.__globals__) if isinstance(annotation, str) else annotation


def _tensor_type(function: typing.Callable[..., typing.Any], what: str, annotation: typing.Any
                 ) -> TensorType:
    found = _evaluated(function, annotation)
    if not isinstance(found, TensorType):
        raise TypeError(f"{function.__name__}(): {what} needs an annotation such as FP32[-1]")
    return found


def complete(signature: Signature, config: ModelConfig, max_batch_size: int) -> ModelConfig:
    """Adds what the function says to a configuration. Raises ValueError if they contradict."""
    for name, kind in signature.inputs.items():
        entry = kind.entry(name)
        if name in signature.defaults:
            entry["optional"] = True
        config.add_input(entry)
    for name, kind in signature.outputs.items():
        config.add_output(kind.entry(name))
    config.set_max_batch_size(max_batch_size)
    if max_batch_size > 1:
        config.set_dynamic_batching()
    return config


def _arguments(signature: Signature, request: InferenceRequest) -> dict[str, typing.Any]:
    found = dict(signature.defaults)
    for name in signature.inputs:
        tensor = get_input_tensor_by_name(request, name)
        if tensor is not None:
            found[name] = tensor.as_numpy()
    return found


def _response(signature: Signature, result: typing.Any) -> InferenceResponse:
    values = {SINGLE_OUTPUT: result} if signature.single else result
    if not isinstance(values, dict) or set(values) - set(signature.outputs):
        raise TritonModelException(
            f"the function must return a dictionary with the keys {sorted(signature.outputs)}")
    return InferenceResponse([
        Tensor(name, np.asarray(value, signature.outputs[name].numpy_type))
        for name, value in values.items()])


def _failed(error: Exception) -> InferenceResponse:
    return InferenceResponse(error=TritonError(f"{type(error).__name__}: {error}"))


def model(max_batch_size: int = 0) -> typing.Callable[[_Function], _Function]:
    """Returns the decorator that makes a model of a function, which may be a coroutine function.

    The function is called once for each request, with an array for each input, and returns an array,
    or a dictionary of arrays. An exception is the error of that request alone. With `max_batch_size`
    above 0 the arrays have the batch dimension in front.
    """
    def decorate(function: _Function) -> _Function:
        signature = signature_of(function)

        class TritonPythonModel:
            @staticmethod
            def auto_complete_config(config: ModelConfig) -> ModelConfig:
                return complete(signature, config, max_batch_size)

            def execute(self, requests: list[InferenceRequest]) -> list[InferenceResponse]:
                return [self._answer(request) for request in requests]

            @staticmethod
            def _answer(request: InferenceRequest) -> InferenceResponse:
                try:
                    return _response(signature, function(**_arguments(signature, request)))
                except Exception as error:  # of any kind: the function is the user's
                    return _failed(error)

        class CoroutineModel(TritonPythonModel):
            async def execute(  # type: ignore[override]
                    self, requests: list[InferenceRequest]) -> list[InferenceResponse]:
                responses = []
                for request in requests:
                    try:
                        responses.append(_response(
                            signature, await function(**_arguments(signature, request))))
                    except Exception as error:  # as above
                        responses.append(_failed(error))
                return responses

        function.__globals__["TritonPythonModel"] = (
            CoroutineModel if inspect.iscoroutinefunction(function) else TritonPythonModel)
        return function

    return decorate
