# SPDX-License-Identifier: Apache-2.0
"""A model without a configuration file and without batches: it completes its own configuration.
Returns the sum and the difference of two tensors."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        for name in ("A", "B"):
            config.add_input({"name": name, "data_type": "TYPE_FP32", "dims": [4]})
        for name in ("SUM", "DIFFERENCE"):
            config.add_output({"name": name, "data_type": "TYPE_FP32", "dims": [4]})
        config.set_max_batch_size(0)
        return config

    def execute(self, requests):
        responses = []
        for request in requests:
            a, b = (pb_utils.get_input_tensor_by_name(request, name).as_numpy()
                    for name in ("A", "B"))
            responses.append(pb_utils.InferenceResponse([
                pb_utils.Tensor("SUM", a + b), pb_utils.Tensor("DIFFERENCE", a - b)]))
        return responses
