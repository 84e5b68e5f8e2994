# SPDX-License-Identifier: Apache-2.0
"""Returns the value of an environment variable. Runs in its own environment."""

import os

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            name = pb_utils.get_input_tensor_by_name(request, "NAME").as_numpy()[0].decode()
            value = os.environ.get(name, "").encode()
            responses.append(pb_utils.InferenceResponse(
                [pb_utils.Tensor("VALUE", np.array([value], np.object_))]))
        return responses
