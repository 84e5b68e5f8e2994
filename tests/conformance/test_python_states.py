# SPDX-License-Identifier: Apache-2.0
"""Python models whose state the server keeps (sequence_batching.state)."""

import numpy as np
import pytest
import raw_http
from python_server import write_model

CONFIG = """
max_batch_size: {batch}
input {{ name: "IN" data_type: TYPE_INT32 dims: [ 1 ] }}
output {{ name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] }}
{more}
instance_group {{ kind: KIND_CPU count: 2 }}
sequence_batching {{
  control_input [ {{ name: "START" control [ {{ kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] }} ] }} ]
  state [ {{
    input_name: "SUM_IN" output_name: "SUM" data_type: TYPE_INT32 dims: [ {dims} ]
    initial_state: {{ name: "zero" data_type: TYPE_INT32 dims: [ 1 ] zero_data: true }}
  }} ]
}}
"""

CODE = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    @staticmethod
    def answer(request):
        value, before, start = (pb_utils.get_input_tensor_by_name(request, name).as_numpy()
                                for name in ("IN", "SUM_IN", "START"))
        if value.item() < 0:
            return pb_utils.InferenceResponse(
                [pb_utils.Tensor("SUM", before + 1000)], error=pb_utils.TritonError("negative"))
        after = value if start.item() else before + value
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("OUT", after), pb_utils.Tensor("SUM", after)])
"""


@pytest.fixture(scope="module")
def states(start_python, python_kind):
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend writes states")

    def write(root):
        write_model(root, "single", CODE, CONFIG.format(batch=0, dims="1", more=""))
        write_model(root, "batched", CODE, CONFIG.format(batch=4, dims="1", more=""))
        write_model(root, "told", CODE, CONFIG.format(
            batch=0, dims="1", more='output { name: "SUM" data_type: TYPE_INT32 dims: [ 1 ] }'))

    server = start_python("states", write)
    yield server
    server.stop()


def send(server, model, sequence, value, start=False, end=False, outputs=None):
    shape = [1, 1] if model == "batched" else [1]
    body = {"inputs": [raw_http.tensor("IN", "INT32", shape, [value])],
            "parameters": {"sequence_id": sequence, "sequence_start": start, "sequence_end": end}}
    if outputs:
        body["outputs"] = [{"name": name} for name in outputs]
    reply = raw_http.infer(server, model, body)
    if reply.status != 200:
        return reply.error
    return {output["name"]: output["data"][0] for output in reply.json["outputs"]}


@pytest.mark.parametrize("model", ["single", "batched"])
def test_a_state_is_kept_between_requests(states, model):
    """Sequences have states of their own, and the client does not see them."""
    assert send(states, model, 1, 5, start=True) == {"OUT": 5}
    assert send(states, model, 2, 100, start=True) == {"OUT": 100}
    assert send(states, model, 1, 3) == {"OUT": 8}
    assert send(states, model, 2, 1) == {"OUT": 101}
    assert send(states, model, 1, 2, end=True) == {"OUT": 10}
    assert send(states, model, 2, 1, end=True) == {"OUT": 102}


def test_an_error_leaves_the_state_as_it_was(states):
    assert send(states, "single", 3, 5, start=True) == {"OUT": 5}
    assert send(states, "single", 3, -1) == "negative"
    assert send(states, "single", 3, 4, end=True) == {"OUT": 9}


def test_a_state_that_is_an_output_too(states):
    assert send(states, "told", 4, 5, start=True) == {"OUT": 5, "SUM": 5}
    assert send(states, "told", 4, 6, outputs=["OUT"]) == {"OUT": 11}
    assert send(states, "told", 4, 1, end=True, outputs=["SUM"]) == {"SUM": 12}
