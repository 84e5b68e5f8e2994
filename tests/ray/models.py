# SPDX-License-Identifier: Apache-2.0
"""The models that tests/ray serves."""

import onnx
from onnx import TensorProto, helper

# 20 ms of waiting for each request, without work: 50 requests/s for each replica.
SLOW = """backend: "identity"
max_batch_size: 0
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 4 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 4 ] }
instance_group { kind: KIND_CPU count: 1 }
parameters { key: "execute_delay_ms" value { string_value: "20" } }
"""
SUMS = """backend: "onnxruntime"
max_batch_size: 16
input { name: "IN" data_type: TYPE_INT64 dims: [ 1 ] }
output { name: "OUT" data_type: TYPE_INT64 dims: [ 1 ] }
sequence_batching {
  max_sequence_idle_microseconds: 60000000
  oldest { max_candidate_sequences: 256 }
  control_input { name: "START" control { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] } }
  state { input_name: "STATE" output_name: "NEXT" data_type: TYPE_INT64 dims: [ 1 ] }
}
"""


def _sums_graph():
    def tensor(name, kind=TensorProto.INT64):
        return helper.make_tensor_value_info(name, kind, ["batch", 1])
    nodes = [helper.make_node("Add", ["IN", "STATE"], ["OUT"]),
             helper.make_node("Identity", ["OUT"], ["NEXT"]),
             helper.make_node("Identity", ["START"], ["_start"])]
    graph = helper.make_graph(
        nodes, "sums", [tensor("IN"), tensor("STATE"), tensor("START", TensorProto.FLOAT)],
        [tensor("OUT"), tensor("NEXT")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def write(root):
    for name, text in (("slow", SLOW), ("sums", SUMS)):
        (root / name / "1").mkdir(parents=True)
        (root / name / "config.pbtxt").write_text(text)
    onnx.save(_sums_graph(), root / "sums" / "1" / "model.onnx")
