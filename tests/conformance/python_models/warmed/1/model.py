# SPDX-License-Identifier: Apache-2.0
"""Returns the number of its earlier executions."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.calls = 0

    def execute(self, requests):
        self.calls += 1
        responses = []
        for request in requests:
            rows = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy().shape[0]
            calls = np.full((rows, 1), self.calls - 1, np.int32)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("CALLS", calls)]))
        return responses
