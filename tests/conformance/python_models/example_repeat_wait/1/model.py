# SPDX-License-Identifier: Apache-2.0
"""Sends each element of IN as a response of its own, with its index. A thread of the request pauses
before each response (DELAY, in milliseconds), while execute() returns after WAIT milliseconds."""

import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils


def send(sender, values, delays):
    for index, (value, delay) in enumerate(zip(values, delays)):
        time.sleep(delay / 1000)
        sender.send(pb_utils.InferenceResponse([
            pb_utils.Tensor("OUT", np.array([value], np.int32)),
            pb_utils.Tensor("INDEX", np.array([index], np.uint32))]))
    sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


class TritonPythonModel:
    def initialize(self, args):
        self.threads = []

    def execute(self, requests):
        for request in requests:
            values, delays, wait = (
                pb_utils.get_input_tensor_by_name(request, name).as_numpy().copy()
                for name in ("IN", "DELAY", "WAIT"))
            thread = threading.Thread(target=send,
                                      args=(request.get_response_sender(), values, delays))
            thread.start()
            self.threads.append(thread)
            time.sleep(wait[0] / 1000)

    def finalize(self):
        for thread in self.threads:
            thread.join()
