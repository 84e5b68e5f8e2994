# SPDX-License-Identifier: Apache-2.0
"""The process that runs one instance of a Python model. See backends/python/README.md."""
