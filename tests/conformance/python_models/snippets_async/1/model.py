# SPDX-License-Identifier: Apache-2.0
"""As snippets, with `async def` in place of `def`."""

import json
import textwrap

import numpy as np
import triton_python_backend_utils as pb_utils


def function(code):
    scope = {"np": np, "pb_utils": pb_utils, "json": json}
    text = f"async def body(request, model):\n{textwrap.indent(code, '    ')}\n    return None"
    exec(compile(text, "snippet", "exec"), scope)  # the tests write the code
    return scope["body"]


def told(value):
    text = json.dumps(value, ensure_ascii=False).encode()
    return pb_utils.InferenceResponse(
        [pb_utils.Tensor("VALUE", np.array([text], np.object_))])


class TritonPythonModel:
    def initialize(self, args):
        self.kept = {}

    async def execute(self, requests):
        return [await self.response(request) for request in requests]

    async def response(self, request):
        code = pb_utils.get_input_tensor_by_name(request, "CODE").as_numpy()[0].decode()
        if code.startswith("# fail"):
            return await function(code)(request, self)
        try:
            return told({"value": await function(code)(request, self)})
        except Exception as error:  # the test decides whether it is the expected one
            return told({"raised": type(error).__name__, "text": str(error)})
