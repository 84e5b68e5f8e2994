# SPDX-License-Identifier: Apache-2.0
"""The enumerations and exceptions of the C API under the names of Triton's bindings. The classes of
the bindings that wrap objects of the C API are not here: the extension of Nereid has other ones."""

from nereid.enums import DataType as TRITONSERVER_DataType
from nereid.enums import InstanceGroupKind as TRITONSERVER_InstanceGroupKind
from nereid.enums import LogFormat as TRITONSERVER_LogFormat
from nereid.enums import MemoryType as TRITONSERVER_MemoryType
from nereid.enums import MetricFormat as TRITONSERVER_MetricFormat
from nereid.enums import MetricKind as TRITONSERVER_MetricKind
from nereid.enums import ModelBatchFlag as TRITONSERVER_ModelBatchFlag
from nereid.enums import ModelControlMode as TRITONSERVER_ModelControlMode
from nereid.enums import ModelTxnPropertyFlag as TRITONSERVER_ModelTxnPropertyFlag
from nereid.enums import RateLimitMode as TRITONSERVER_RateLimitMode
from nereid.errors import (
    AlreadyExistsError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
    UnknownError,
    UnsupportedError,
)
from nereid.errors import Error as TritonError

__all__ = [
    "AlreadyExistsError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "TRITONSERVER_DataType",
    "TRITONSERVER_InstanceGroupKind",
    "TRITONSERVER_LogFormat",
    "TRITONSERVER_MemoryType",
    "TRITONSERVER_MetricFormat",
    "TRITONSERVER_MetricKind",
    "TRITONSERVER_ModelBatchFlag",
    "TRITONSERVER_ModelControlMode",
    "TRITONSERVER_ModelTxnPropertyFlag",
    "TRITONSERVER_RateLimitMode",
    "TritonError",
    "UnavailableError",
    "UnknownError",
    "UnsupportedError",
]
