# SPDX-License-Identifier: Apache-2.0
"""The implementation of the package."""
