# SPDX-License-Identifier: Apache-2.0
"""The configuration of models."""

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

__all__ = [
    "DeviceKind",
    "DynamicBatcher",
    "ModelConfig",
    "ModelWarmup",
    "QueuePolicy",
    "Tensor",
    "TimeoutAction",
    "WarmupInput",
]
