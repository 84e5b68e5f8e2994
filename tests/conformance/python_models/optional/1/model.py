# SPDX-License-Identifier: Apache-2.0
"""Returns the names of the inputs that it got."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("NAMES", np.array(
            [tensor.name() for tensor in request.inputs()], np.object_))]) for request in requests]
