# SPDX-License-Identifier: Apache-2.0
"""Calls the decoupled model example_square once for each element of IN, all calls at once. Returns
the sum of the responses of each call."""

import asyncio

import numpy as np
import triton_python_backend_utils as pb_utils


def total(stream):
    found = 0
    for response in stream:
        if response.has_error():
            raise pb_utils.TritonModelException(response.error().message())
        if response.output_tensors():
            found += int(pb_utils.get_output_tensor_by_name(response, "OUT").as_numpy()[0])
    return found


class TritonPythonModel:
    async def execute(self, requests):
        responses = []
        for request in requests:
            numbers = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
            streams = await asyncio.gather(*(
                pb_utils.InferenceRequest(
                    model_name="example_square", requested_output_names=["OUT"],
                    inputs=[pb_utils.Tensor("IN", np.array([number], np.int32))],
                ).async_exec(decoupled=True) for number in numbers))
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor(
                "SUMS", np.array([total(stream) for stream in streams], np.int32))]))
        return responses
