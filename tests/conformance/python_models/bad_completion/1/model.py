# SPDX-License-Identifier: Apache-2.0
"""Completes its configuration with values that contradict it."""


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.set_max_batch_size(8)
        config.add_input({"name": "IN", "data_type": "TYPE_FP32", "dims": [1]})
        return config

    def execute(self, requests):
        return None
