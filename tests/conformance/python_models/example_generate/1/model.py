# SPDX-License-Identifier: Apache-2.0
"""Generates numbers, one in each execution: the request is executed again until all are sent."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.left = {}

    def execute(self, requests):
        for request in requests:
            sequence = request.correlation_id()
            if sequence not in self.left:
                self.left[sequence] = int(
                    pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()[0, 0])
            self.left[sequence] -= 1
            left = self.left[sequence]
            flags = 0
            if left > 0:
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
            else:
                del self.left[sequence]
                flags = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
            request.get_response_sender().send(pb_utils.InferenceResponse(
                [pb_utils.Tensor("OUT", np.array([[left]], np.int32))]), flags)
