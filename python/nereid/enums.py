# SPDX-License-Identifier: Apache-2.0
"""The enumerations of the C API, with its values. Names are those of the C API without prefix."""

from __future__ import annotations

import enum


class _Enum(enum.IntEnum):
    # IntEnum prints as a number since Python 3.11. Messages show the name in every version.
    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class DataType(_Enum):
    """The type of a tensor's elements."""

    INVALID = 0
    BOOL = 1
    UINT8 = 2
    UINT16 = 3
    UINT32 = 4
    UINT64 = 5
    INT8 = 6
    INT16 = 7
    INT32 = 8
    INT64 = 9
    FP16 = 10
    FP32 = 11
    FP64 = 12
    BYTES = 13
    BF16 = 14


class MemoryType(_Enum):
    """The kind of memory that a tensor is in."""

    CPU = 0
    CPU_PINNED = 1
    GPU = 2


class InstanceGroupKind(_Enum):
    """Where the instances of a model run."""

    AUTO = 0
    CPU = 1
    GPU = 2
    MODEL = 3


class LogFormat(_Enum):
    """The format of the log's lines."""

    DEFAULT = 0
    ISO8601 = 1


class ModelControlMode(_Enum):
    """How models are loaded: once, by polling, or by requests."""

    NONE = 0
    POLL = 1
    EXPLICIT = 2


class RateLimitMode(_Enum):
    """Whether models share resources."""

    OFF = 0
    EXEC_COUNT = 1


class MetricKind(_Enum):
    """The kind of a metric of one's own."""

    COUNTER = 0
    GAUGE = 1


class MetricFormat(_Enum):
    """The format of the metrics page."""

    PROMETHEUS = 0


class ModelBatchFlag(_Enum):
    """How a model batches."""

    UNKNOWN = 1
    FIRST_DIM = 2


class ModelTxnPropertyFlag(_Enum):
    """How many responses a model sends to a request."""

    ONE_TO_ONE = 1
    DECOUPLED = 2


class RequestFlag(enum.IntFlag):
    """The place of a request in its sequence."""

    SEQUENCE_START = 1
    SEQUENCE_END = 2


class TraceLevel(enum.IntFlag):
    """What a trace of a request records."""

    TIMESTAMPS = 4
