# SPDX-License-Identifier: Apache-2.0
"""Loads another model in initialize()."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        pb_utils.load_model(model_name="to_load")

    def execute(self, requests):
        return [pb_utils.InferenceResponse([]) for _ in requests]
