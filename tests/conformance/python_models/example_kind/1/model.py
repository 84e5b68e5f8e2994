# SPDX-License-Identifier: Apache-2.0
"""Selects its device by the kind of its instance, and returns both with the doubled input. Writes a
line of each level to the log."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.kind = args["model_instance_kind"]
        self.device = int(args["model_instance_device_id"])
        if self.kind != "CPU":
            raise pb_utils.TritonModelException(f"expected the kind CPU, got {self.kind}")
        self.logger = pb_utils.Logger

    def execute(self, requests):
        responses = []
        for request in requests:
            name = request.request_id()
            self.logger.log_verbose(f"{name} is verbose")
            self.logger.log_info(f"{name} is information")
            self.logger.log_warn(f"{name} is a warning")
            self.logger.log_error(f"{name} is an error")
            values = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
            responses.append(pb_utils.InferenceResponse([
                pb_utils.Tensor("OUT", values * 2),
                pb_utils.Tensor("KIND", np.array([self.kind.encode()], np.object_)),
                pb_utils.Tensor("DEVICE", np.array([self.device], np.int32))]))
        return responses
