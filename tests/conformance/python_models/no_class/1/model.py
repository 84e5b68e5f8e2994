# SPDX-License-Identifier: Apache-2.0
"""Has no class TritonPythonModel."""
