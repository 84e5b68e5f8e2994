# SPDX-License-Identifier: Apache-2.0
"""Violates the rule that its input names."""

import os
import signal

import numpy as np
import triton_python_backend_utils as pb_utils

CODES = ("UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE", "UNSUPPORTED",
         "ALREADY_EXISTS", "CANCELLED")


def answer(values, dtype=np.int32, name="OUT"):
    return pb_utils.InferenceResponse([pb_utils.Tensor(name, np.array(values, dtype))])


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0, 0].decode()
            if how == "raise":
                raise ValueError("a Gruß from execute")
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "nothing":
                return None
            if how == "too_few":
                return []
            if how == "no_response":
                return ["text"]
            responses.append(self.response(how))
        return responses

    def response(self, how):
        if how in CODES:
            return pb_utils.InferenceResponse(
                error=pb_utils.TritonError(f"said {how}", getattr(pb_utils.TritonError, how)))
        if how == "error":
            return pb_utils.InferenceResponse(error=pb_utils.TritonError("plain ärror"))
        if how == "shape":
            return answer([[1, 2, 3]])
        if how == "rank":
            return answer([1, 2])
        if how == "batch":
            return answer([[1, 2], [3, 4]])
        if how == "type":
            return answer([[1, 2]], np.float64)
        if how == "name":
            return answer([[1, 2]], name="OTHER")
        if how == "no_output":
            return pb_utils.InferenceResponse([])
        return answer([[1, 2]])
