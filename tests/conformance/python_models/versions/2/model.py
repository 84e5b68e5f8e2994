# SPDX-License-Identifier: Apache-2.0
"""Returns the version of the model that executes the request."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.version = int(args["model_version"])

    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "VERSION", np.array([self.version], np.int32))]) for _ in requests]
