# SPDX-License-Identifier: Apache-2.0
"""Writes to the log in each of its functions, and on a thread."""

import threading

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.name = args["model_name"]
        pb_utils.Logger.log_info(f"{self.name} initializes")

    def execute(self, requests):
        thread = threading.Thread(
            target=lambda: pb_utils.Logger.log_info(f"from a thread of {self.name}"))
        thread.start()
        thread.join()
        pb_utils.Logger.log_info(f"{self.name} executes")
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "VALUE", np.array([b'{"value": null}'], np.object_))]) for _ in requests]

    def finalize(self):
        pb_utils.Logger.log_info(f"{self.name} finalizes")
