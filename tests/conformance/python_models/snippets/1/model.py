# SPDX-License-Identifier: Apache-2.0
"""Executes the function body that its input contains, and returns as JSON what it returns or raises.

The body sees `request`, `model` (this object), np, pb_utils, and Python's modules. A body that
returns an InferenceResponse, or "NOTHING", answers with that.
"""

import json
import textwrap

import numpy as np
import triton_python_backend_utils as pb_utils


def function(code, kind="def"):
    scope = {"np": np, "pb_utils": pb_utils, "json": json}
    text = f"{kind} body(request, model):\n{textwrap.indent(code, '    ')}\n    return None"
    exec(compile(text, "snippet", "exec"), scope)  # the tests write the code
    return scope["body"]


def told(value):
    text = json.dumps(value, ensure_ascii=False).encode()
    return pb_utils.InferenceResponse(
        [pb_utils.Tensor("VALUE", np.array([text], np.object_))])


class TritonPythonModel:
    def initialize(self, args):
        self.args = args
        self.kept = {}

    def execute(self, requests):
        return [self.response(request) for request in requests]

    def response(self, request):
        code = pb_utils.get_input_tensor_by_name(request, "CODE").as_numpy()[0].decode()
        try:
            value = function(code)(request, self)
        except Exception as error:  # the test decides whether it is the expected one
            return told({"raised": type(error).__name__, "text": str(error)})
        if isinstance(value, pb_utils.InferenceResponse):
            return value
        return None if value == "NOTHING" else told({"value": value})
