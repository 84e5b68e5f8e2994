# SPDX-License-Identifier: Apache-2.0
"""The classes and functions of triton_python_backend_utils that Triton implements in C++, and those
that only this module has. Models may import either module."""

from nereid_pb.calls import ResponseIterator
from nereid_pb.errors import ErrorCode, TritonError, TritonModelException
from nereid_pb.logger import Logger, LogLevel
from nereid_pb.memory import (
    TRITONSERVER_MEMORY_CPU,
    TRITONSERVER_MEMORY_GPU,
    MemoryType,
    PreferredMemory,
)
from nereid_pb.metrics import Metric, MetricFamily, MetricKind
from nereid_pb.model_config import ModelConfig
from nereid_pb.request import InferenceRequest
from nereid_pb.response import InferenceResponse
from nereid_pb.sender import InferenceResponseSender
from nereid_pb.server_calls import is_model_ready, load_model, unload_model
from nereid_pb.tensor import Tensor
from nereid_pb.trace import InferenceTrace

__all__ = [
    "TRITONSERVER_MEMORY_CPU", "TRITONSERVER_MEMORY_GPU", "ErrorCode", "InferenceRequest",
    "InferenceResponse", "InferenceResponseSender", "InferenceTrace", "LogLevel", "Logger",
    "MemoryType", "Metric", "MetricFamily", "MetricKind", "ModelConfig", "PreferredMemory",
    "ResponseIterator", "Tensor", "TritonError", "TritonModelException", "is_model_ready",
    "load_model", "unload_model",
]
