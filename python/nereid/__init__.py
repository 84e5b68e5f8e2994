# SPDX-License-Identifier: Apache-2.0
"""Nereid, an inference server with the interfaces of NVIDIA Triton, in a Python process.

import nereid
with nereid.Server("models") as server:
    response = server.model("add").infer({"a": array, "b": array})
    print(response["sum"])
"""

from nereid._version import __version__
from nereid.enums import (
    DataType,
    InstanceGroupKind,
    LogFormat,
    MemoryType,
    MetricFormat,
    MetricKind,
    ModelBatchFlag,
    ModelControlMode,
    ModelTxnPropertyFlag,
    RateLimitMode,
    RequestFlag,
    TraceLevel,
)
from nereid.errors import (
    AlreadyExistsError,
    CancelledError,
    Error,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
    UnknownError,
    UnsupportedError,
)
from nereid.frontends import Frontends
from nereid.memory import DLDeviceType, MemoryBuffer
from nereid.metrics import Metric, MetricFamily
from nereid.model import AsyncStream, Model, Stream, TraceEvent
from nereid.response import Outputs, Response
from nereid.server import Server, bind
from nereid.tensor import Tensor

__all__ = [
    "AlreadyExistsError",
    "AsyncStream",
    "CancelledError",
    "DLDeviceType",
    "DataType",
    "Error",
    "ForkedError",
    "Frontends",
    "InstanceGroupKind",
    "InternalError",
    "InvalidArgumentError",
    "LogFormat",
    "MemoryBuffer",
    "MemoryType",
    "Metric",
    "MetricFamily",
    "MetricFormat",
    "MetricKind",
    "Model",
    "ModelBatchFlag",
    "ModelControlMode",
    "ModelTxnPropertyFlag",
    "NotFoundError",
    "Outputs",
    "RateLimitMode",
    "RequestFlag",
    "Response",
    "Server",
    "Stream",
    "Tensor",
    "TraceEvent",
    "TraceLevel",
    "UnavailableError",
    "UnknownError",
    "UnsupportedError",
    "__version__",
    "bind",
]
