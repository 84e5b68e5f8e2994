# SPDX-License-Identifier: Apache-2.0
"""Returns the sum of the inputs of the request's sequence."""

import numpy as np
import triton_python_backend_utils as pb_utils

START = pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START
END = pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_END


class TritonPythonModel:
    def initialize(self, args):
        self.sums = {}

    def execute(self, requests):
        return [self.response(request) for request in requests]

    def response(self, request):
        sequence = request.correlation_id()
        if request.flags() & START:
            self.sums[sequence] = 0
        self.sums[sequence] += int(
            pb_utils.get_input_tensor_by_name(request, "IN").as_numpy().sum())
        total = self.sums[sequence]
        if request.flags() & END:
            del self.sums[sequence]
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("OUT", np.array([[total]], np.int32))])
