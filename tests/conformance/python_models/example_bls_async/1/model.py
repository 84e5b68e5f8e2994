# SPDX-License-Identifier: Apache-2.0
"""Asks another model twice at once: for the sum, and for the difference of the inputs in reverse."""

import asyncio

import triton_python_backend_utils as pb_utils


def call(first, second, output):
    return pb_utils.InferenceRequest(
        model_name="example_add_sub", requested_output_names=[output],
        inputs=[pb_utils.Tensor("A", first), pb_utils.Tensor("B", second)]).async_exec()


class TritonPythonModel:
    async def execute(self, requests):
        responses = []
        for request in requests:
            a, b = (pb_utils.get_input_tensor_by_name(request, name).as_numpy()
                    for name in ("A", "B"))
            inner = await asyncio.gather(call(a, b, "SUM"), call(b, a, "DIFFERENCE"))
            if any(response.has_error() for response in inner):
                raise pb_utils.TritonModelException("a called model failed")
            responses.append(pb_utils.InferenceResponse(output_tensors=[
                response.output_tensors()[0] for response in inner]))
        return responses
