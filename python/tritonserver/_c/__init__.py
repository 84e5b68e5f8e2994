# SPDX-License-Identifier: Apache-2.0
"""The enumerations of the C API under its names."""
