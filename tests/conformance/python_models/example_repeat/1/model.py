# SPDX-License-Identifier: Apache-2.0
"""Sends each element of IN as a response of its own, with its index, after a pause (DELAY, in
milliseconds)."""

import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            values, delays = (pb_utils.get_input_tensor_by_name(request, name).as_numpy()
                              for name in ("IN", "DELAY"))
            sender = request.get_response_sender()
            for index, (value, delay) in enumerate(zip(values, delays)):
                time.sleep(delay / 1000)
                sender.send(pb_utils.InferenceResponse(output_tensors=[
                    pb_utils.Tensor("OUT", np.array([value], np.int32)),
                    pb_utils.Tensor("INDEX", np.array([index], np.uint32))]))
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
