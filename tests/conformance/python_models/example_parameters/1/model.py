# SPDX-License-Identifier: Apache-2.0
"""Returns the parameters that a request asks for (JSON) with its response."""

import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            text = pb_utils.get_input_tensor_by_name(request, "PARAMETERS").as_numpy()[0]
            responses.append(pb_utils.InferenceResponse(
                output_tensors=[pb_utils.Tensor("OUT", np.array([text], np.object_))],
                parameters=json.loads(text)))
        return responses
