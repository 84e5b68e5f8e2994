# SPDX-License-Identifier: Apache-2.0
"""A decoupled model that executes the function body of its input. The body sees `request`, `model`,
`sender`, `told(value)` (a response) and FINAL; what it raises and returns is what execute() raises and
returns."""

import json
import textwrap

import numpy as np
import triton_python_backend_utils as pb_utils


def told(value):
    text = json.dumps(value, ensure_ascii=False).encode()
    return pb_utils.InferenceResponse(
        [pb_utils.Tensor("VALUE", np.array([text], np.object_))])


def function(code):
    scope = {"np": np, "pb_utils": pb_utils, "json": json, "told": told,
             "FINAL": pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL}
    text = f"def body(request, model, sender):\n{textwrap.indent(code, '    ')}\n    return None"
    exec(compile(text, "snippet", "exec"), scope)  # the tests write the code
    return scope["body"]


class TritonPythonModel:
    def initialize(self, args):
        self.kept = {}

    def execute(self, requests):
        result = None
        for request in requests:
            code = pb_utils.get_input_tensor_by_name(request, "CODE").as_numpy()[0].decode()
            result = function(code)(request, self, request.get_response_sender())
        return result
