# SPDX-License-Identifier: Apache-2.0
"""Returns each input and the number of requests of the execution; an error for negative inputs. An
input of 90, 91 or 92 makes the whole execution fail."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = [self.response(request, len(requests)) for request in requests]
        values = [int(request.inputs()[0].as_numpy()[0, 0]) for request in requests]
        if 90 in values:
            raise ValueError("all of them")
        if 91 in values:
            responses.pop()
        if 92 in values:
            responses[values.index(92)] = "text"
        return responses

    @staticmethod
    def response(request, count):
        value = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
        if value[0, 0] < 0:
            return pb_utils.InferenceResponse(error=pb_utils.TritonError(
                f"negative: {value[0, 0]}", pb_utils.TritonError.INVALID_ARG))
        return pb_utils.InferenceResponse([pb_utils.Tensor(
            "OUT", np.concatenate([value, np.full_like(value, count)], axis=1))])
