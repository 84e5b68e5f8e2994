# SPDX-License-Identifier: Apache-2.0
"""The enumerations and exceptions of the C API under its names."""

from tritonserver._c.triton_bindings import *  # noqa: F403
