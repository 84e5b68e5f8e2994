# SPDX-License-Identifier: Apache-2.0
"""The objects that Python models use. Models import them from triton_python_backend_utils.

All calls of the server go through nereid_worker.host, whose description also states which attributes
of these objects the worker reads and writes.
"""
