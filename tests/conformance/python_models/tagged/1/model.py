# SPDX-License-Identifier: Apache-2.0
"""Answers with the parameters that its input holds as JSON."""

import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            tags = json.loads(pb_utils.get_input_tensor_by_name(request, "TAGS").as_numpy()[0])
            responses.append(pb_utils.InferenceResponse(
                [pb_utils.Tensor("OUT", np.array([1], np.int32))], parameters=tags))
        return responses
