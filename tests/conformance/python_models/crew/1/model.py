# SPDX-License-Identifier: Apache-2.0
"""Returns the name and the process of the executing instance after a delay."""

import os
import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.name = args["model_instance_name"]

    def execute(self, requests):
        responses = []
        for request in requests:
            time.sleep(float(pb_utils.get_input_tensor_by_name(request, "MS").as_numpy()[0]) / 1e3)
            responses.append(pb_utils.InferenceResponse(
                [pb_utils.Tensor("WHO", np.array([self.name.encode()], np.object_)),
                 pb_utils.Tensor("PID", np.array([os.getpid()], np.int32))]))
        return responses
