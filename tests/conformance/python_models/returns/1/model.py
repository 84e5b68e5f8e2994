# SPDX-License-Identifier: Apache-2.0
"""Executes the function body of its input as execute() of one request. The body sees `request`,
`model`, `answer(value)` and `error(text, code)`; what it returns is what execute() returns."""

import textwrap

import numpy as np
import triton_python_backend_utils as pb_utils


def answer(value):
    return pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([value], np.int32))])


def error(*arguments):
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(*arguments))


class TritonPythonModel:
    def initialize(self, args):
        self.kept = {}

    def execute(self, requests):
        (request,) = requests
        code = pb_utils.get_input_tensor_by_name(request, "CODE").as_numpy()[0].decode()
        scope = {"np": np, "pb_utils": pb_utils, "answer": answer, "error": error}
        text = f"def body(request, model):\n{textwrap.indent(code, '    ')}\n"
        exec(compile(text, "snippet", "exec"), scope)  # the tests write the code
        return scope["body"](request, self)
