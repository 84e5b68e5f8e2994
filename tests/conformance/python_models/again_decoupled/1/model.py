# SPDX-License-Identifier: Apache-2.0
"""Has each request executed as often as its input says, and sends a response each time."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.rounds = {}

    def execute(self, requests):
        for request in requests:
            wanted = int(pb_utils.get_input_tensor_by_name(request, "ROUNDS").as_numpy()[0, 0])
            sequence = request.correlation_id()
            done = self.rounds.pop(sequence, 0) + 1
            sender = request.get_response_sender()
            if wanted > done:
                self.rounds[sequence] = done
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
            sender.send(pb_utils.InferenceResponse(
                [pb_utils.Tensor("OUT", np.array([[done]], np.int32))]))
            if wanted <= done:
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
