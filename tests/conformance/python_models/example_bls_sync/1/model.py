# SPDX-License-Identifier: Apache-2.0
"""Sends its inputs to the model that a request names, and returns the outputs of that model."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            name = pb_utils.get_input_tensor_by_name(request, "MODEL").as_numpy()[0].decode()
            inner = pb_utils.InferenceRequest(
                model_name=name, requested_output_names=["SUM", "DIFFERENCE"],
                inputs=[pb_utils.get_input_tensor_by_name(request, n) for n in ("A", "B")]).exec()
            if inner.has_error():
                raise pb_utils.TritonModelException(inner.error().message())
            responses.append(pb_utils.InferenceResponse(output_tensors=[
                pb_utils.get_output_tensor_by_name(inner, n) for n in ("SUM", "DIFFERENCE")]))
        return responses
