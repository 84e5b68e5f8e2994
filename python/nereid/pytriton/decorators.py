# SPDX-License-Identifier: Apache-2.0
"""Decorators for bound functions."""

from nereid.binding.decorators import (
    ConstantPadder,
    TritonContext,
    batch,
    fill_optionals,
    first_value,
    group_by_keys,
    group_by_values,
    pad_batch,
    sample,
    triton_context,
)

__all__ = [
    "ConstantPadder",
    "TritonContext",
    "batch",
    "fill_optionals",
    "first_value",
    "group_by_keys",
    "group_by_values",
    "pad_batch",
    "sample",
    "triton_context",
]
