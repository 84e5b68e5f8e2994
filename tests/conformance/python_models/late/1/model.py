# SPDX-License-Identifier: Apache-2.0
"""Calls another model in finalize(), and writes to the log what it heard."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "VALUE", np.array([b'{"value": null}'], np.object_))]) for _ in requests]

    def finalize(self):
        for decoupled in (False, True):
            try:
                pb_utils.InferenceRequest(
                    model_name="types", requested_output_names=[],
                    inputs=[pb_utils.Tensor("IN_FP32", np.zeros(1, np.float32))]).exec(decoupled)
                heard = "nothing"
            except Exception as error:  # the test decides
                heard = f"{type(error).__name__}: {error}"
            pb_utils.Logger.log_info(f"late decoupled={decoupled} heard {heard}")
