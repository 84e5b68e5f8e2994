# SPDX-License-Identifier: Apache-2.0
"""Triton's in-process Python API, served by Nereid: programs written for NVIDIA's package
`tritonserver` run unchanged. New programs may prefer the package `nereid`, which has more of the
server."""

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
)
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
from nereid.memory import DLDeviceType, MemoryBuffer
from nereid.metrics import Metric, MetricFamily
from nereid.tensor import Tensor
from tritonserver._api._allocators import MemoryAllocator, default_memory_allocators
from tritonserver._api._model import Model
from tritonserver._api._options import ModelLoadDeviceLimit, Options, RateLimiterResource
from tritonserver._api._request import InferenceRequest
from tritonserver._api._response import InferenceResponse
from tritonserver._api._server import Server

__all__ = [
    "AlreadyExistsError",
    "DLDeviceType",
    "DataType",
    "InferenceRequest",
    "InferenceResponse",
    "InstanceGroupKind",
    "InternalError",
    "InvalidArgumentError",
    "LogFormat",
    "MemoryAllocator",
    "MemoryBuffer",
    "MemoryType",
    "Metric",
    "MetricFamily",
    "MetricFormat",
    "MetricKind",
    "Model",
    "ModelBatchFlag",
    "ModelControlMode",
    "ModelLoadDeviceLimit",
    "ModelTxnPropertyFlag",
    "NotFoundError",
    "Options",
    "RateLimitMode",
    "RateLimiterResource",
    "Server",
    "Tensor",
    "TritonError",
    "UnavailableError",
    "UnknownError",
    "UnsupportedError",
    "__version__",
    "default_memory_allocators",
]
