# SPDX-License-Identifier: Apache-2.0
"""Returns the tensor that its inputs describe: the array that MADE evaluates to; CHANGED with another
first element; BF16 through DLPack."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([self.output(request)]) for request in requests]

    @staticmethod
    def output(request):
        (tensor,) = request.inputs()
        if tensor.name() == "BF16":
            return pb_utils.Tensor.from_dlpack("BF16_OUT", tensor.to_dlpack())
        if tensor.name() == "CHANGED":
            array = tensor.as_numpy()
            assert array.flags.writeable and not array.flags.owndata
            array[0] = 100
            return pb_utils.Tensor("NUMBERS", array)
        array = eval(tensor.as_numpy()[0].decode(), {"np": np})  # the tests write it
        return pb_utils.Tensor("NUMBERS" if array.dtype == np.float32 else "STRINGS", array)
