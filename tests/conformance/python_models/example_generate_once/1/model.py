# SPDX-License-Identifier: Apache-2.0
"""Generates numbers, one in each execution: the request is executed again until all are there, and
then has its only response."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.made = {}

    def execute(self, requests):
        responses = []
        for request in requests:
            sequence = request.correlation_id()
            wanted = int(pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()[0, 0])
            made = self.made.setdefault(sequence, [])
            made.append(wanted - len(made))
            if len(made) < wanted:
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
                responses.append(None)
            else:
                responses.append(pb_utils.InferenceResponse([pb_utils.Tensor(
                    "NUMBERS", np.array([self.made.pop(sequence)], np.int32))]))
        return responses
