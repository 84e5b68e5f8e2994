# SPDX-License-Identifier: Apache-2.0
"""What the package PyTriton has: functions of a Python program as models, with the server in the
same process. The submodules have PyTriton's names: triton, model_config, decorators, client,
exceptions."""

from nereid.binding.model_config import (
    DeviceKind,
    DynamicBatcher,
    ModelConfig,
    ModelWarmup,
    QueuePolicy,
    Tensor,
    TimeoutAction,
    WarmupInput,
)
from nereid.pytriton.policies import TritonLifecyclePolicy, TritonSecurityConfig
from nereid.pytriton.remote import RemoteTriton
from nereid.pytriton.triton import Triton, TritonConfig

__all__ = [
    "DeviceKind",
    "DynamicBatcher",
    "ModelConfig",
    "ModelWarmup",
    "QueuePolicy",
    "RemoteTriton",
    "Tensor",
    "TimeoutAction",
    "Triton",
    "TritonConfig",
    "TritonLifecyclePolicy",
    "TritonSecurityConfig",
    "WarmupInput",
]
