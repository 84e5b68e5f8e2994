# SPDX-License-Identifier: Apache-2.0
"""Calls the model summed, which keeps a sum for each sequence, with the sequence of the client."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            response = pb_utils.InferenceRequest(
                model_name="summed", requested_output_names=["OUT"],
                inputs=[pb_utils.get_input_tensor_by_name(request, "IN")],
                correlation_id=request.correlation_id(), flags=request.flags()).exec()
            if response.has_error():
                responses.append(pb_utils.InferenceResponse(error=response.error()))
            else:
                responses.append(pb_utils.InferenceResponse(response.output_tensors()))
        return responses
