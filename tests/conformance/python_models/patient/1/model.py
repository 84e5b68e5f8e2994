# SPDX-License-Identifier: Apache-2.0
"""Waits until its request is cancelled, if the input requests this; otherwise returns the number of
cancelled requests."""

import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.cancelled = 0

    def execute(self, requests):
        return [self.response(request) for request in requests]

    def response(self, request):
        if pb_utils.get_input_tensor_by_name(request, "WAIT").as_numpy()[0]:
            end = time.monotonic() + 30
            while not request.is_cancelled():
                if time.monotonic() > end:
                    return pb_utils.InferenceResponse(error=pb_utils.TritonError("never cancelled"))
                time.sleep(0.005)
            self.cancelled += 1
            return pb_utils.InferenceResponse(
                error=pb_utils.TritonError("given up", pb_utils.TritonError.CANCELLED))
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("CANCELLED", np.array([self.cancelled], np.int32))])
