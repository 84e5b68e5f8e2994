# SPDX-License-Identifier: Apache-2.0
"""What Python models import (`import triton_python_backend_utils as pb_utils`).

The module has the names, the arguments and the error texts of Triton's module. Its classes are in the
package nereid_pb.
"""

from nereid_pb.byte_strings import deserialize_bytes_tensor, serialize_byte_tensor
from nereid_pb.datatypes import CONFIG_NAMES as TRITON_STRING_TO_NUMPY
from nereid_pb.datatypes import (
    numpy_to_triton_type,
    triton_string_to_numpy,
    triton_to_numpy_type,
)
from nereid_pb.errors import TritonError, TritonModelException
from nereid_pb.logger import Logger
from nereid_pb.lookup import (
    get_input_config_by_name,
    get_input_tensor_by_name,
    get_output_config_by_name,
    get_output_tensor_by_name,
    using_decoupled_model_transaction_policy,
)
from nereid_pb.memory import (
    TRITONSERVER_MEMORY_CPU,
    TRITONSERVER_MEMORY_GPU,
    PreferredMemory,
)
from nereid_pb.metrics import MetricFamily
from nereid_pb.model_config import ModelConfig
from nereid_pb.request import InferenceRequest
from nereid_pb.response import InferenceResponse
from nereid_pb.server_calls import get_model_dir, is_model_ready, load_model, unload_model
from nereid_pb.tensor import Tensor

TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1
TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
TRITONSERVER_REQUEST_RELEASE_ALL = 1
TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2
TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1

__all__ = [
    "TRITONSERVER_MEMORY_CPU", "TRITONSERVER_MEMORY_GPU",
    "TRITONSERVER_REQUEST_FLAG_SEQUENCE_END", "TRITONSERVER_REQUEST_FLAG_SEQUENCE_START",
    "TRITONSERVER_REQUEST_RELEASE_ALL", "TRITONSERVER_REQUEST_RELEASE_RESCHEDULE",
    "TRITONSERVER_RESPONSE_COMPLETE_FINAL", "TRITON_STRING_TO_NUMPY", "InferenceRequest",
    "InferenceResponse", "Logger", "MetricFamily", "ModelConfig", "PreferredMemory", "Tensor",
    "TritonError", "TritonModelException", "deserialize_bytes_tensor", "get_input_config_by_name",
    "get_input_tensor_by_name", "get_model_dir", "get_output_config_by_name",
    "get_output_tensor_by_name", "is_model_ready", "load_model", "numpy_to_triton_type",
    "serialize_byte_tensor", "triton_string_to_numpy", "triton_to_numpy_type", "unload_model",
    "using_decoupled_model_transaction_policy",
]
