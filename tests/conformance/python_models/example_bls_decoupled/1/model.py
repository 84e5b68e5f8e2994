# SPDX-License-Identifier: Apache-2.0
"""Returns the sum of all responses of the decoupled model example_square."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            stream = pb_utils.InferenceRequest(
                model_name="example_square", requested_output_names=["OUT"],
                inputs=[pb_utils.get_input_tensor_by_name(request, "IN")]).exec(decoupled=True)
            total = 0
            for response in stream:
                if response.has_error():
                    raise pb_utils.TritonModelException(response.error().message())
                if response.output_tensors():
                    total += response.output_tensors()[0].as_numpy().sum()
            responses.append(pb_utils.InferenceResponse(
                [pb_utils.Tensor("SUM", np.array([total], np.int32))]))
        return responses
