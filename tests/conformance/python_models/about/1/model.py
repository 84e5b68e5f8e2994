# SPDX-License-Identifier: Apache-2.0
"""Returns as JSON what a model knows about itself and about a request."""

import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.model = {
            "name": args["model_name"],
            "version": args["model_version"],
            "kind": args["model_instance_kind"],
            "instance": args["model_instance_name"],
            "device": args["model_instance_device_id"],
            "repository": args["model_repository"],
            "colour": config["parameters"]["colour"]["string_value"],
            "inputs": [i["name"] for i in config["input"]],
            "directory": pb_utils.get_model_dir(),
        }

    def execute(self, requests):
        responses = []
        for request in requests:
            tensor = pb_utils.get_input_tensor_by_name(request, "IN")
            told = {
                "model": self.model,
                "id": request.request_id(),
                "correlation_id": request.correlation_id(),
                "flags": request.flags(),
                "timeout": request.timeout(),
                "parameters": json.loads(request.parameters()),
                "cancelled": request.is_cancelled(),
                "wanted": sorted(request.requested_output_names()),
                "input": {"name": tensor.name(), "cpu": tensor.is_cpu(),
                          "shape": list(tensor.shape())},
                "absent": pb_utils.get_input_tensor_by_name(request, "ABSENT") is None,
            }
            text = json.dumps(told, ensure_ascii=False).encode()
            outputs = [pb_utils.Tensor("ABOUT", np.array([text], np.object_)),
                       pb_utils.Tensor("SECOND", np.array([2], np.float32))]
            responses.append(pb_utils.InferenceResponse(
                [o for o in outputs if o.name() in request.requested_output_names()]))
        return responses
