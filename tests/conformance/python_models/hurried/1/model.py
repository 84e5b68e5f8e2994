# SPDX-License-Identifier: Apache-2.0
"""The same as batched; its requests have their own timeouts. Returns the number of requests of the
execution. Each request has one row."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([
            pb_utils.Tensor("TOGETHER", np.array([[len(requests)]], np.int32))])
            for _ in requests]
