# SPDX-License-Identifier: Apache-2.0
"""A model without a configuration file: it completes its own. Returns the number of requests of the
execution."""

import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "IN", "data_type": "TYPE_INT32", "dims": [-1]})
        config.add_output({"name": "SUM", "data_type": "TYPE_INT32", "dims": [1]})
        config.add_output({"name": "TOGETHER", "data_type": "TYPE_INT32", "dims": [1]})
        config.set_max_batch_size(8)
        config.set_dynamic_batching()
        return config

    def initialize(self, args):
        config = json.loads(args["model_config"])
        assert [tensor["name"] for tensor in config["input"]] == ["IN"], config
        assert config["dynamic_batching"]["preferred_batch_size"] == [8], config

    def execute(self, requests):
        responses = []
        for request in requests:
            values = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
            total = values.sum(axis=1, keepdims=True, dtype=np.int32)
            together = np.full_like(total, len(requests))
            responses.append(pb_utils.InferenceResponse([
                pb_utils.Tensor("SUM", total), pb_utils.Tensor("TOGETHER", together)]))
        return responses
