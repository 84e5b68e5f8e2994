# SPDX-License-Identifier: Apache-2.0
"""The requests that a bound function gets, and the check of what it returns."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Optional, Union

import numpy as np

from nereid import _core
from nereid.binding.model_config import Tensor, TritonModelConfig
from nereid.binding.tracing import current_span
from nereid.enums import DataType, MemoryType
from nereid.memory import MemoryBuffer
from nereid.tensor import Tensor as ServerTensor

Array = np.ndarray[Any, Any]


class Request(MutableMapping[str, Array]):
    """A request: a mapping from names of inputs to arrays.

    parameters: of the request. requested_output_names: those that the client wants. span: of
    OpenTelemetry, if the model is traced. trace_context: of the server's trace, as JSON."""

    def __init__(
        self,
        data: dict[str, Array],
        parameters: Optional[dict[str, Any]] = None,
        span: Optional[Any] = None,
        requested_output_names: Optional[Sequence[str]] = None,
        request_id: str = "",
        trace_context: str = "",
    ) -> None:
        self.data = data
        self.parameters = parameters or {}
        self.span = span
        self.requested_output_names = requested_output_names
        self.request_id = request_id
        self.trace_context = trace_context

    def __getitem__(self, name: str) -> Array:
        return self.data[name]

    def __setitem__(self, name: str, array: Array) -> None:
        self.data[name] = array

    def __delitem__(self, name: str) -> None:
        del self.data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def with_data(self, data: dict[str, Array]) -> Request:
        """Returns the request with other inputs."""
        return Request(
            data,
            self.parameters,
            self.span,
            self.requested_output_names,
            self.request_id,
            self.trace_context,
        )

    def traced_span(self, span_name: str, **options: Any) -> AbstractContextManager[None]:
        """Returns a context manager that has a span of OpenTelemetry within that of the request.
        Without tracing it does nothing."""
        return current_span(self.span, span_name, **options)


def make_request(received: Union[_core.BoundRequestTuple, Request]) -> Request:
    """Returns what the extension or a proxy received as a Request. Its arrays belong to it."""
    if isinstance(received, Request):
        return received
    request_id, parameters, outputs, inputs, trace_context = received
    data: dict[str, Array] = {}
    for name, data_type, shape, address, size, owner in inputs:
        buffer = MemoryBuffer(address, MemoryType.CPU, 0, size, owner)
        data[name] = ServerTensor(DataType(data_type), shape, buffer).numpy()
    return Request(data, parameters, None, outputs, request_id, trace_context)


# ---- The responses of a function ----

Response = dict[str, Array]


def check_responses(responses: Any, count: int, model: TritonModelConfig, strict: bool) -> None:
    """Raises ValueError unless `responses` is a list of `count` responses that the model can send.

    strict: also if outputs are not those of the model's configuration."""
    name = model.model_name
    if not isinstance(responses, (list, tuple)):
        raise ValueError(
            f"Outputs returned by `{name}` model callable must be list of response dicts with "
            f"numpy arrays. Got outputs={responses} instead."
        )
    if len(responses) != count:
        raise ValueError(
            f"Number of outputs returned by `{name}` inference callable ({len(responses)}) does "
            f"not match number of requests ({count}) received from Triton."
        )
    for response in responses:
        _check_response(response, responses, name)
        if strict:
            _check_strictly(response, model)


def _check_response(response: Any, responses: Any, name: str) -> None:
    if not isinstance(response, dict):
        raise ValueError(
            f"Outputs returned by `{name}` model callable must be list of response dicts with "
            f"numpy arrays. Got response={response} instead."
        )
    for output, array in response.items():
        if not isinstance(output, str):
            raise ValueError(f"Not all keys returned by `{name}` model callable are string")
        if not isinstance(array, (np.ndarray, np.generic)):
            raise ValueError(f"Not all values returned by `{name}` model callable are numpy arrays")
        _check_type(np.asarray(array), name)


def _check_type(array: Array, name: str) -> None:
    if array.dtype.kind not in "biufOSU":
        raise ValueError(
            "Only bool, numeric, string, unicode and object arrays are supported by Triton "
            f"(dtype={array.dtype}) returned by `{name}` model callable."
        )
    if array.dtype.kind != "O" or array.size == 0:
        return
    first = array.flat[0]
    if isinstance(first, str):
        raise ValueError(
            "Use string/byte-string instead of object for passing string in NumPy array from "
            f"model `{name}`."
        )
    if not isinstance(first, bytes):
        raise ValueError(
            "Only bytes as objects dtype are supported by PyTriton. "
            f"Returned `{name}` model callable has {type(first)}."
        )


def _check_strictly(response: Response, model: TritonModelConfig) -> None:
    wanted = {tensor.name: tensor for tensor in model.outputs}
    for output, array in response.items():
        tensor = wanted.get(output)
        if tensor is None:
            raise ValueError(
                f"Returned output `{output}` is not defined in model config for model "
                f"`{model.model_name}`."
            )
        _check_shape(output, np.asarray(array), tensor, model)


def _check_shape(output: str, array: Array, tensor: Tensor, model: TritonModelConfig) -> None:
    is_text = array.dtype.kind in "OSU"
    expects_text = tensor.data_type is DataType.BYTES
    if is_text != expects_text or (not is_text and array.dtype != np.dtype(tensor.dtype)):
        raise ValueError(
            f"Returned output `{output}` for model `{model.model_name}` has invalid type. "
            f"Returned: {array.dtype}. Expected: {tensor.dtype}."
        )
    shape = array.shape[1:] if model.batching else array.shape
    if len(shape) != len(tensor.shape):
        raise ValueError(
            f"Returned output `{output}` for model `{model.model_name}` has invalid shapes. "
            f"Returned: {shape}. Expected: {tensor.shape}."
        )
    if any(want not in (-1, have) for have, want in zip(shape, tensor.shape)):
        raise ValueError(
            f"Returned output `{output}` for model `{model.model_name}` has invalid shapes at one "
            f"or more positions. Returned: {shape}. Expected: {tensor.shape}."
        )


def outputs_to_send(
    response: Response, request: Request, model: TritonModelConfig
) -> dict[str, Any]:
    """Returns the outputs that the client wants, in the types of the model's configuration."""
    types = {tensor.name: tensor for tensor in model.outputs}
    wanted = request.requested_output_names
    sent: dict[str, Any] = {}
    for name, array in response.items():
        if wanted and name not in wanted:
            continue
        array = np.asarray(array)
        tensor = types.get(name)
        is_text = array.dtype.kind in "OSU"
        if tensor is not None and not is_text and tensor.data_type is not DataType.BYTES:
            array = array.astype(tensor.dtype, copy=False)
        sent[name] = array
    return sent
