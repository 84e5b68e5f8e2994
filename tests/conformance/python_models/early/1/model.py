# SPDX-License-Identifier: Apache-2.0
"""Calls another model in initialize(), and returns what it heard."""

import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        try:
            pb_utils.InferenceRequest(
                model_name="types", requested_output_names=[],
                inputs=[pb_utils.Tensor("IN_FP32", np.zeros(1, np.float32))]).exec()
            self.heard = "nothing"
        except Exception as error:  # the test decides
            self.heard = f"{type(error).__name__}: {error}"

    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("VALUE", np.array(
            [json.dumps({"value": self.heard})], np.object_))]) for _ in requests]
