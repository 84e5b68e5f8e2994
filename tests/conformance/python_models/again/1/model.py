# SPDX-License-Identifier: Apache-2.0
"""Has each request executed as often as its input says, and returns the number of executions. A
negative input returns a response together with the wish to be executed again."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.rounds = {}

    def execute(self, requests):
        return [self.response(request) for request in requests]

    def response(self, request):
        wanted = int(pb_utils.get_input_tensor_by_name(request, "ROUNDS").as_numpy()[0, 0])
        sequence = request.correlation_id()
        done = self.rounds.pop(sequence, 0) + 1
        if wanted > done or wanted < 0:
            request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
        if wanted > done:
            self.rounds[sequence] = done
            return None
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("OUT", np.array([[done]], np.int32))])
