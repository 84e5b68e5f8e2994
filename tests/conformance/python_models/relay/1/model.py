# SPDX-License-Identifier: Apache-2.0
"""Sends the responses of the decoupled model "counter", multiplied by ten."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            call = pb_utils.InferenceRequest(
                model_name="counter", requested_output_names=["OUT"],
                inputs=[pb_utils.get_input_tensor_by_name(request, "COUNT")])
            for response in call.exec(decoupled=True):
                if response.has_error():
                    sender.send(pb_utils.InferenceResponse(error=response.error()))
                elif response.output_tensors():
                    value = pb_utils.get_output_tensor_by_name(response, "OUT").as_numpy()
                    sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", value * 10)]))
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return None
