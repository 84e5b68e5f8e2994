# SPDX-License-Identifier: Apache-2.0
"""Sends COUNT responses from its own thread. A negative COUNT ends with an error."""

import threading

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.threads = []

    def execute(self, requests):
        for request in requests:
            count = int(pb_utils.get_input_tensor_by_name(request, "COUNT").as_numpy()[0])
            thread = threading.Thread(target=self.answer,
                                      args=(request.get_response_sender(), count))
            thread.start()
            self.threads.append(thread)
        return None

    @staticmethod
    def answer(sender, count):
        for i in range(abs(count)):
            tensor = pb_utils.Tensor("OUT", np.array([i], np.int32))
            sender.send(pb_utils.InferenceResponse([tensor]))
        if count < 0:
            sender.send(pb_utils.InferenceResponse(
                error=pb_utils.TritonError("counted down", pb_utils.TritonError.UNAVAILABLE)))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def finalize(self):
        for thread in self.threads:
            thread.join()
