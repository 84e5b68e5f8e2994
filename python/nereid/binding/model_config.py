# SPDX-License-Identifier: Apache-2.0
"""What a bound function takes and gives, and how its requests form batches."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy as np

from nereid.binding.exceptions import PyTritonBadParameterError, PyTritonValidationError
from nereid.enums import DataType
from nereid.tensor import data_type_of


class DeviceKind(enum.Enum):
    """Where instances run."""

    KIND_AUTO = "KIND_AUTO"
    KIND_CPU = "KIND_CPU"
    KIND_GPU = "KIND_GPU"


class TimeoutAction(enum.Enum):
    """What happens to a request whose time in the queue is over."""

    REJECT = "REJECT"
    DELAY = "DELAY"


@dataclass(frozen=True)
class QueuePolicy:
    """The limits of a queue: microseconds, and requests (0: no limit)."""

    timeout_action: TimeoutAction = TimeoutAction.REJECT
    default_timeout_microseconds: int = 0
    allow_timeout_override: bool = False
    max_queue_size: int = 0


@dataclass
class DynamicBatcher:
    """How requests wait for others. preferred_batch_size: sizes that run without waiting longer.
    priority_levels: 0 is no priorities; 1 is the highest priority."""

    max_queue_delay_microseconds: int = 0
    preferred_batch_size: Optional[Sequence[int]] = None
    preserve_ordering: bool = False
    priority_levels: int = 0
    default_priority_level: int = 0
    default_queue_policy: Optional[QueuePolicy] = None
    priority_queue_policy: Optional[dict[int, QueuePolicy]] = None


@dataclass(frozen=True)
class WarmupInput:
    """An input of a warm-up: zeros, random values, or the .npy file input_data_file."""

    dtype: Any
    shape: tuple[int, ...]
    zero_data: bool = False
    random_data: bool = False
    input_data_file: Optional[str] = None


@dataclass(frozen=True)
class ModelWarmup:
    """Calls of the function before its model is loaded: `count` requests of `batch_size` rows."""

    name: str
    batch_size: int
    inputs: dict[str, WarmupInput]
    count: int


@dataclass
class ModelConfig:
    """How a bound function is served. batching False: requests have no batch dimension.
    decoupled: the function yields any number of responses."""

    batching: bool = True
    max_batch_size: int = 4
    batcher: DynamicBatcher = field(default_factory=DynamicBatcher)
    response_cache: bool = False
    decoupled: bool = False
    model_warmup: Optional[Sequence[ModelWarmup]] = None


@dataclass(frozen=True)
class Tensor:
    """An input or output of a function. shape: without the batch dimension, -1 is any size. dtype:
    a NumPy type, or bytes for strings. name: by default INPUT_1, OUTPUT_1 and so on."""

    shape: tuple[int, ...]
    dtype: Any
    name: Optional[str] = None
    optional: bool = False

    def __post_init__(self) -> None:
        if self.dtype in (bytes, object, np.bytes_, np.object_):
            object.__setattr__(self, "dtype", np.bytes_)
        object.__setattr__(self, "shape", tuple(self.shape))

    @property
    def data_type(self) -> DataType:
        """The server's type."""
        return data_type_of(np.dtype(self.dtype))


TensorLike = Union[Tensor, tuple[Any, ...]]


def named(tensors: Sequence[Tensor], prefix: str) -> list[Tensor]:
    """Returns the tensors with names: those without one get PREFIX_1, PREFIX_2, ..."""
    return [
        tensor if tensor.name else dataclasses.replace(tensor, name=f"{prefix}_{number}")
        for number, tensor in enumerate(tensors, start=1)
    ]


def _tensor_json(tensor: Tensor) -> dict[str, Any]:
    name = tensor.data_type.name
    entry: dict[str, Any] = {
        "name": tensor.name,
        "data_type": "TYPE_STRING" if name == "BYTES" else f"TYPE_{name}",
        "dims": list(tensor.shape) or [1],
    }
    if not tensor.shape:
        entry["reshape"] = {"shape": []}
    if tensor.optional:
        entry["optional"] = True
    return entry


def _policy_json(policy: QueuePolicy) -> dict[str, Any]:
    return {
        "timeout_action": policy.timeout_action.value,
        "default_timeout_microseconds": policy.default_timeout_microseconds,
        "allow_timeout_override": policy.allow_timeout_override,
        "max_queue_size": policy.max_queue_size,
    }


def _check_batcher(batcher: DynamicBatcher) -> None:
    levels = batcher.priority_levels
    if levels and not 1 <= batcher.default_priority_level <= levels:
        raise PyTritonBadParameterError(
            f"The `default_priority_level` must be between 1 and {levels}."
        )
    if batcher.priority_queue_policy and not levels:
        raise PyTritonBadParameterError(
            "Provide the `priority_levels` if you want to define `priority_queue_policy` for "
            "Dynamic Batching."
        )
    for priority in batcher.priority_queue_policy or {}:
        if not 1 <= priority <= levels:
            raise PyTritonBadParameterError(
                f"Invalid `priority`={priority} provided. The value must be between 1 and {levels}."
            )


def _batcher_json(batcher: DynamicBatcher) -> dict[str, Any]:
    _check_batcher(batcher)
    entry: dict[str, Any] = {
        "max_queue_delay_microseconds": batcher.max_queue_delay_microseconds,
        "preserve_ordering": batcher.preserve_ordering,
    }
    if batcher.preferred_batch_size:
        entry["preferred_batch_size"] = list(batcher.preferred_batch_size)
    if batcher.priority_levels:
        entry["priority_levels"] = batcher.priority_levels
        entry["default_priority_level"] = batcher.default_priority_level
    if batcher.default_queue_policy is not None:
        entry["default_queue_policy"] = _policy_json(batcher.default_queue_policy)
    if batcher.priority_queue_policy:
        entry["priority_queue_policy"] = {
            str(priority): _policy_json(policy)
            for priority, policy in batcher.priority_queue_policy.items()
        }
    return entry


@dataclass
class TritonModelConfig:
    """A bound model, as its function's decorators see it. traced: whether its requests get spans
    of OpenTelemetry."""

    model_name: str
    model_version: int
    inputs: list[Tensor]
    outputs: list[Tensor]
    config: ModelConfig
    traced: bool = False

    @property
    def batching(self) -> bool:
        """Whether requests have a batch dimension."""
        return self.config.batching

    @property
    def max_batch_size(self) -> int:
        """The largest batch; 0 without batching."""
        return self.config.max_batch_size if self.config.batching else 0

    @property
    def batcher(self) -> DynamicBatcher:
        """The batcher."""
        return self.config.batcher

    @property
    def decoupled(self) -> bool:
        """Whether the function yields any number of responses."""
        return self.config.decoupled

    def json(self, token: str, instances: int) -> dict[str, Any]:
        """Returns the configuration of the model for the server.

        Raises PyTritonBadParameterError for wrong values."""
        if any(tensor.optional for tensor in self.outputs):
            raise PyTritonValidationError("Output tensors cannot be optional.")
        if self.batching and self.max_batch_size < 1:
            raise PyTritonBadParameterError("The `max_batch_size` must be greater or equal to 1.")
        entry: dict[str, Any] = {
            "name": self.model_name,
            "backend": "bound",
            "max_batch_size": self.max_batch_size,
            "input": [_tensor_json(tensor) for tensor in self.inputs],
            "output": [_tensor_json(tensor) for tensor in self.outputs],
            "instance_group": [{"count": instances, "kind": "KIND_CPU"}],
            "parameters": {"bound_token": {"string_value": token}},
            "version_policy": {"all": {}},
        }
        if self.batching:
            entry["dynamic_batching"] = _batcher_json(self.batcher)
        if self.decoupled:
            entry["model_transaction_policy"] = {"decoupled": True}
        if self.config.response_cache:
            entry["response_cache"] = {"enable": True}
        return entry
