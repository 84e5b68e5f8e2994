# SPDX-License-Identifier: Apache-2.0
"""As snippets_decoupled, with `async def` in place of `def`."""

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
    text = (f"async def body(request, model, sender):\n{textwrap.indent(code, '    ')}\n"
            "    return None")
    exec(compile(text, "snippet", "exec"), scope)  # the tests write the code
    return scope["body"]


class TritonPythonModel:
    def initialize(self, args):
        self.kept = {}

    async def execute(self, requests):
        for request in requests:
            code = pb_utils.get_input_tensor_by_name(request, "CODE").as_numpy()[0].decode()
            await function(code)(request, self, request.get_response_sender())
