# SPDX-License-Identifier: Apache-2.0
"""Sends the number n of a request n times, from a thread for each request."""

import threading

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.running = 0
        self.lock = threading.Lock()

    def execute(self, requests):
        for request in requests:
            with self.lock:
                self.running += 1
            number = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()[0]
            threading.Thread(target=self.send, args=(request.get_response_sender(), number),
                             daemon=True).start()

    def send(self, sender, number):
        for _ in range(number):
            sender.send(pb_utils.InferenceResponse(
                [pb_utils.Tensor("OUT", np.array([number], np.int32))]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        with self.lock:
            self.running -= 1

    def finalize(self):
        while self.running:
            pass
