# SPDX-License-Identifier: Apache-2.0
"""Requests."""

from __future__ import annotations

import asyncio
import queue
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from nereid import _core
from nereid.enums import MemoryType
from nereid.errors import InvalidArgumentError
from nereid.memory import DeviceLike, parse_device
from nereid.tensor import Tensor, data_type_of
from tritonserver._api._allocators import default_memory_allocators

if TYPE_CHECKING:
    from tritonserver._api._model import Model
    from tritonserver._api._response import InferenceResponse

    ResponseQueue = Union[queue.SimpleQueue[InferenceResponse], asyncio.Queue[InferenceResponse]]


@dataclass
class InferenceRequest:
    """A request to a model.

    inputs: by name, each a Tensor, a NumPy array, a list, or an object with DLPack's protocol.
    parameters: by name, each a str, int, float or bool. timeout: microseconds. correlation_id: an
    int or a str. response_queue: a queue that gets each response, too."""

    model: Model
    request_id: Optional[str] = None
    flags: int = 0
    correlation_id: Optional[Union[int, str]] = None
    priority: int = 0
    timeout: int = 0
    inputs: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Union[str, int, bool, float]] = field(default_factory=dict)
    output_memory_type: Optional[DeviceLike] = None
    response_queue: Optional[ResponseQueue] = None
    output_memory_allocator: Optional[object] = None

    def submit(self, server: _core.Server, waker: Optional[_core.Waker]) -> _core.Stream:
        """Sends the request."""
        place = check_output_memory(self.output_memory_type)
        is_own = self.output_memory_allocator is not None
        if place is not None and not is_own and place[0] not in default_memory_allocators:
            raise InvalidArgumentError(f"Memory type {self.output_memory_type} not supported")
        inputs = {name: _input(value) for name, value in self.inputs.items()}
        options = (
            self.request_id,
            self.flags or None,
            self.correlation_id,
            self.priority or None,
            self.timeout or None,
            _parameters(self.parameters),
            None,
        )
        return server.submit(self.model.name, self.model.version, inputs, options, waker, 0)


def check_output_memory(wanted: Optional[DeviceLike]) -> Optional[tuple[MemoryType, int]]:
    """Returns where outputs are wanted.

    Raises InvalidArgumentError for what names no place."""
    if wanted is None:
        return None
    try:
        return parse_device(wanted)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"Memory type {wanted} not supported: {error}") from error


def _parameters(parameters: dict[str, Any]) -> Optional[dict[str, Any]]:
    for value in parameters.values():
        # By exact type: a subclass, such as an enum, is refused.
        if type(value) not in (str, int, float, bool):
            raise InvalidArgumentError(
                f"Unsupported Value. Can't convert {type(value)} to Request Parameter"
            )
    return parameters or None


def _input(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        data_type_of(value.dtype)
        if not value.flags.c_contiguous:
            raise InvalidArgumentError("Only contiguous memory is supported")
        return value
    if isinstance(value, Tensor) or hasattr(value, "__dlpack__"):
        return value
    if isinstance(value, list):
        try:
            return Tensor.from_numpy(np.array(value))
        except Exception as error:
            raise InvalidArgumentError(
                f"Conversion from {value} to tensor not supported."
            ) from error
    raise InvalidArgumentError(
        f"Input type {type(value)} not supported. Must be one of "
        "[Tensor, numpy.ndarray, list] or the type must support __dlpack__"
    )
