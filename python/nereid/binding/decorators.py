# SPDX-License-Identifier: Apache-2.0
"""Decorators for functions that are bound to a server. They are listed from the outermost to the
innermost; see docs/user/python.md."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import inspect
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Callable, Optional

import numpy as np

from nereid.binding.exceptions import (
    PyTritonBadParameterError,
    PyTritonRuntimeError,
    PyTritonValidationError,
)
from nereid.binding.model_config import TritonModelConfig
from nereid.binding.requests import Array, Request, Response
from nereid.binding.tracing import child_spans
from nereid.binding.worker import current_model

_BATCH_SPAN = "pytriton-batch-decorator-span"

Function = Callable[..., Any]


def _model() -> TritonModelConfig:
    """Returns the model of the function that runs."""
    try:
        return current_model.get()
    except LookupError:
        raise PyTritonValidationError(
            "Wrapped function or object must bound with triton to get  __triton_context__"
        ) from None


def _apply(result: Any, change: Callable[[Any], Any]) -> Any:
    """Returns `change` of what a function returns: a value, a coroutine, or a (async) generator."""
    if inspect.isasyncgen(result):

        async def each_async() -> AsyncIterator[Any]:
            async for value in result:
                yield change(value)

        return each_async()
    if inspect.isawaitable(result):

        async def later() -> Any:
            return _apply(await result, change)

        return later()
    if inspect.isgenerator(result):

        def each() -> Iterator[Any]:
            for value in result:
                yield change(value)

        return each()
    return change(result)


def _outputs_by_name(outputs: Any) -> Response:
    """Returns the outputs of a function as a dict; a list or tuple is in the order of the
    outputs."""
    if isinstance(outputs, dict):
        return outputs
    if isinstance(outputs, (list, tuple)):
        names = [tensor.name or "" for tensor in _model().outputs]
        if len(outputs) != len(names):
            raise PyTritonValidationError("Outputs length different than config outputs length")
        return dict(zip(names, outputs))
    raise PyTritonValidationError(f"Unsupported output type {type(outputs)}.")


def _rows(arrays: dict[str, Array]) -> int:
    return int(next(iter(arrays.values())).shape[0])


def batch(wrapped: Function) -> Function:
    """Calls a function with the inputs of all requests, each concatenated along the first
    dimension, as keyword arguments, and splits what it returns: a dict, or a list in the order of
    the outputs."""

    @functools.wraps(wrapped)
    def call(*arguments: Any) -> Any:
        *bound, requests = arguments
        names = set(requests[0])
        if any(set(request) != names for request in requests):
            raise PyTritonValidationError("Cannot batch requests with different set of inputs keys")
        sizes = [_rows(request) for request in requests]
        inputs = {
            name: np.concatenate([request[name] for request in requests]) for name in requests[0]
        }
        with child_spans([request.span for request in requests], _BATCH_SPAN):
            result = wrapped(*bound, **inputs)
        return _apply(result, lambda outputs: _split(outputs, sizes))

    return call


def _split(outputs: Any, sizes: list[int]) -> list[Response]:
    by_name = _outputs_by_name(outputs)
    total = sum(sizes)
    wrong = {
        name: array.shape
        for name, array in by_name.items()
        if array.ndim == 0 or array.shape[0] != total
    }
    if wrong:
        shapes = ", ".join(f"{name}: {shape}" for name, shape in wrong.items())
        raise ValueError(
            f"Received output tensors with different batch sizes: {shapes}. "
            f"Expected batch size: {total}. "
        )
    ends = np.cumsum(sizes)[:-1]
    parts = {name: np.split(array, ends) for name, array in by_name.items()}
    return [{name: part[i] for name, part in parts.items()} for i in range(len(sizes))]


def sample(wrapped: Function) -> Function:
    """Calls a function of a model without batching with the inputs of its request as keyword
    arguments."""

    @functools.wraps(wrapped)
    def call(*arguments: Any) -> Any:
        *bound, requests = arguments
        if _model().batching or len(requests) != 1:
            raise PyTritonValidationError(
                "The @sample decorator can only be used with models that do not support batching."
            )
        result = wrapped(*bound, **requests[0])
        return _apply(result, lambda outputs: [_outputs_by_name(outputs)])

    return call


def group_by_keys(wrapped: Function) -> Function:
    """Calls a function for each group of requests with the same inputs. Used above @batch."""

    @functools.wraps(wrapped)
    def call(*arguments: Any) -> Any:
        *bound, requests = arguments
        groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for index, request in enumerate(requests):
            groups[tuple(sorted(request))].append(index)
        responses: list[Any] = [None] * len(requests)
        for indices in groups.values():
            results = wrapped(*bound, [requests[index] for index in indices])
            for index, response in zip(indices, results):
                responses[index] = response
        return responses

    return call


@dataclasses.dataclass
class ConstantPadder:
    """Pads arrays with a value to the largest size of each dimension but the first."""

    pad_value: int = 0

    def __call__(self, batches: list[dict[str, Array]]) -> list[dict[str, Array]]:
        """Returns the groups of a batch with inputs of equal shapes."""
        padded: list[dict[str, Array]] = [{} for _ in batches]
        for name in batches[0]:
            arrays = [inputs[name] for inputs in batches]
            largest = np.max([array.shape[1:] for array in arrays], axis=0)
            for inputs, array in zip(padded, arrays):
                width = [(0, 0), *((0, int(n - m)) for n, m in zip(largest, array.shape[1:]))]
                value: Any = b"" if array.dtype.kind in "OS" else self.pad_value
                inputs[name] = np.pad(array, width, constant_values=value)
        return padded


def group_by_values(
    *keys: str, pad_fn: Optional[Callable[[list[dict[str, Array]]], list[dict[str, Array]]]] = None
) -> Callable[[Function], Function]:
    """Calls a function for each group of rows with equal values of the inputs `keys`. Used below
    @batch. pad_fn: makes the inputs of the rows of a group alike (ConstantPadder)."""

    def decorate(wrapped: Function) -> Function:
        @functools.wraps(wrapped)
        def call(*arguments: Any, **inputs: Array) -> Any:
            if not inputs or any(isinstance(argument, list) for argument in arguments):
                raise PyTritonRuntimeError(
                    "The @group_by_values decorator must be used after the @batch decorator."
                )
            return _call_groups(wrapped, arguments, inputs, keys, pad_fn)

        return call

    return decorate


def _call_groups(
    wrapped: Function,
    arguments: Sequence[Any],
    inputs: dict[str, Array],
    keys: Sequence[str],
    pad_fn: Optional[Callable[[list[dict[str, Array]]], list[dict[str, Array]]]],
) -> Response:
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row in range(_rows(inputs)):
        values = tuple(
            (array.shape, array.dtype.str, tuple(array.ravel().tolist()))
            for array in (inputs[key][row] for key in keys if key in inputs)
        )
        groups[values].append(row)
    results = []
    for rows in groups.values():
        group = {name: array[rows] for name, array in inputs.items()}
        results.append(_outputs_by_name(wrapped(*arguments, **group)))
    if pad_fn is not None:
        results = pad_fn(results)
    order = np.argsort(np.concatenate([np.array(rows) for rows in groups.values()]))
    return {
        name: np.concatenate([result[name] for result in results])[order] for name in results[0]
    }


def fill_optionals(**defaults: Array) -> Callable[[Function], Function]:
    """Gives requests without an optional input its default: an array without batch dimension, which
    is repeated for each row. Used above @batch."""

    def decorate(wrapped: Function) -> Function:
        @functools.wraps(wrapped)
        def call(*arguments: Any) -> Any:
            *bound, requests = arguments
            model = _model()
            _check_defaults(defaults, model)
            return wrapped(*bound, [_fill(request, defaults, model) for request in requests])

        return call

    return decorate


def _fill(request: Request, defaults: dict[str, Array], model: TritonModelConfig) -> Request:
    data = dict(request)
    for name, default in defaults.items():
        if name in data:
            continue
        if model.batching:
            rows = _rows(request.data) if len(request) else 1
            data[name] = np.tile(default, (rows, *[1] * default.ndim))
        else:
            data[name] = default
    return request.with_data(data)


def _check_defaults(defaults: dict[str, Array], model: TritonModelConfig) -> None:
    tensors = {tensor.name: tensor for tensor in model.inputs}

    def has_type(name: str) -> bool:
        wanted, given = np.dtype(tensors[name].dtype), defaults[name].dtype
        return given == wanted or (given.kind in "SO" and wanted.kind == "S")

    def has_shape(name: str) -> bool:
        wanted, given = tensors[name].shape, defaults[name].shape
        return len(given) == len(wanted) and all(w in (-1, g) for g, w in zip(given, wanted))

    def is_array(name: str) -> bool:
        return isinstance(defaults[name], (np.ndarray, np.generic))

    reasons = (
        (lambda name: name in tensors, "Could not found {} inputs"),
        (is_array, "Could not use {} defaults as they are not NumPy arrays"),
        (
            has_type,
            "Could not use {} defaults as they have different than input signature dtypes",
        ),
        (
            has_shape,
            "Could not use {} defaults as they have different than input signature shapes",
        ),
    )
    for holds, message in reasons:
        wrong = [name for name in defaults if not holds(name)]
        if wrong:
            raise PyTritonBadParameterError(message.format(", ".join(wrong)))


def first_value(
    *keys: str, squeeze_single_values: bool = True, strict: bool = True
) -> Callable[[Function], Function]:
    """Passes the first element of the inputs `keys` instead of a batch of equal values: a scalar,
    if it is one and squeeze_single_values. strict: raises if the values are not equal. Used below
    @batch."""

    def decorate(wrapped: Function) -> Function:
        @functools.wraps(wrapped)
        def call(*arguments: Any, **inputs: Any) -> Any:
            if not _model().batching:
                raise PyTritonRuntimeError(
                    "The @first_value decorator can only be used with models that support batching."
                )
            for key in keys:
                if key in inputs:
                    inputs[key] = _first(key, inputs[key], squeeze_single_values, strict)
            return wrapped(*arguments, **inputs)

        return call

    return decorate


def _first(key: str, array: Array, squeeze: bool, strict: bool) -> Any:
    first = array[0]
    if strict and not all(np.array_equal(row, first) for row in array):
        raise PyTritonRuntimeError(
            f"The values on the {key!r} input are not equal. "
            "To proceed, either disable strict mode in @first_value decorator or group requests "
            "by the values of the input with @group_by_values."
        )
    if squeeze and np.size(first) == 1:
        return np.asarray(first).reshape(-1)[0]
    return first


def pad_batch(wrapped: Function) -> Function:
    """Repeats the last row of the inputs up to the next preferred batch size, or max_batch_size,
    and drops the rows of the outputs that are too many. Used below @batch."""

    @functools.wraps(wrapped)
    def call(*arguments: Any, **inputs: Array) -> Any:
        model = _model()
        rows = _rows(inputs)
        sizes = sorted({*(model.batcher.preferred_batch_size or ()), model.max_batch_size})
        wanted = sizes[min(bisect.bisect_left(sizes, rows), len(sizes) - 1)]
        repeats = np.ones(rows, np.int64)
        repeats[-1] += max(0, wanted - rows)
        padded = {name: np.repeat(array, repeats, axis=0) for name, array in inputs.items()}
        return _apply(
            wrapped(*arguments, **padded),
            lambda outputs: {n: array[:rows] for n, array in _outputs_by_name(outputs).items()},
        )

    return call


@dataclasses.dataclass
class TritonContext:
    """What a bound function is served as. model_configs: the model's configuration by the
    function."""

    model_configs: dict[Any, TritonModelConfig]


def triton_context(wrapped: Function) -> Function:
    """Passes the argument triton_context, a TritonContext."""

    @functools.wraps(wrapped)
    def call(*arguments: Any, **inputs: Any) -> Any:
        inputs["triton_context"] = TritonContext({wrapped: _model()})
        return wrapped(*arguments, **inputs)

    return call
