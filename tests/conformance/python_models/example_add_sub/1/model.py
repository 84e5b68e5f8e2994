# SPDX-License-Identifier: Apache-2.0
"""Returns the sum and the difference of two tensors, in the types that the configuration gives them.
"""

import json

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.types = [
            pb_utils.triton_string_to_numpy(
                pb_utils.get_output_config_by_name(config, name)["data_type"])
            for name in ("SUM", "DIFFERENCE")]
        pb_utils.Logger.log_info("add_sub is initialized")

    def execute(self, requests):
        responses = []
        for request in requests:
            a, b = (pb_utils.get_input_tensor_by_name(request, name).as_numpy()
                    for name in ("A", "B"))
            responses.append(pb_utils.InferenceResponse(output_tensors=[
                pb_utils.Tensor("SUM", (a + b).astype(self.types[0])),
                pb_utils.Tensor("DIFFERENCE", (a - b).astype(self.types[1]))]))
        return responses

    def finalize(self):
        pb_utils.Logger.log_info("add_sub is finalized")
