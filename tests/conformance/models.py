# SPDX-License-Identifier: Apache-2.0
"""The model repositories of the test suite, written by code.

Identity models (OUTPUTn = INPUTn) are used for everything that concerns the wire and the scheduler.
Three small ONNX models are the examples of the protocol documents; their outputs differ from their
inputs in type and shape.
"""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

# Datatype on the wire -> name in config.pbtxt.
DATATYPES = {
    "BOOL": "TYPE_BOOL",
    "UINT8": "TYPE_UINT8",
    "UINT16": "TYPE_UINT16",
    "UINT32": "TYPE_UINT32",
    "UINT64": "TYPE_UINT64",
    "INT8": "TYPE_INT8",
    "INT16": "TYPE_INT16",
    "INT32": "TYPE_INT32",
    "INT64": "TYPE_INT64",
    "FP16": "TYPE_FP16",
    "FP32": "TYPE_FP32",
    "FP64": "TYPE_FP64",
    "BYTES": "TYPE_STRING",
    "BF16": "TYPE_BF16",
}


def type_model(datatype: str, batching: bool) -> str:
    """Returns the name of the identity model for one data type."""
    return f"identity_{datatype.lower()}" + ("_batch" if batching else "")


def _tensor(kind: str, name: str, datatype: str, dims, extra: str = "") -> str:
    shape = ", ".join(str(d) for d in dims)
    return (f'{kind} {{ name: "{name}" data_type: {DATATYPES[datatype]} '
            f"dims: [ {shape} ] {extra} }}\n")


class Repository:
    """A model repository that is being written to `root`."""

    def __init__(self, root: Path):
        self.root = root

    def _write(self, name: str, config: str, versions) -> Path:
        folder = self.root / name
        for version in versions:
            (folder / str(version)).mkdir(parents=True)
        (folder / "config.pbtxt").write_text(config)
        return folder

    def identity(self, name, tensors, *, batch=0, versions=(1,), extra="", tensor_extra=(),
                 backend="identity"):
        """`tensors` are (datatype, dims) of each pair INPUTi and OUTPUTi."""
        config = f'name: "{name}"\nbackend: "{backend}"\nmax_batch_size: {batch}\n'
        for i, (datatype, dims) in enumerate(tensors):
            more = tensor_extra[i] if i < len(tensor_extra) else ("", "")
            config += _tensor("input", f"INPUT{i}", datatype, dims, more[0])
            config += _tensor("output", f"OUTPUT{i}", datatype, dims, more[1])
        self._write(name, config + extra, versions)

    def broken(self, name):
        """A model whose backend does not exist."""
        self._write(name, f'name: "{name}"\nbackend: "absent"\n'
                    + _tensor("input", "INPUT0", "FP32", [1])
                    + _tensor("output", "OUTPUT0", "FP32", [1]), (1,))

    def onnx(self, name, graph, config=None, labels=None, version=1):
        """Adds an ONNX model. With `config` None the backend completes the configuration."""
        folder = self.root / name
        (folder / str(version)).mkdir(parents=True)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, folder / str(version) / "model.onnx")
        if config is not None:
            (folder / "config.pbtxt").write_text(config)
        if labels is not None:
            (folder / "labels.txt").write_text(labels)


def _ints(name, values):
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def document_graph():
    """Returns the model of the binary extension's example: UINT32 [2,2] and BOOL [3] -> FP32 [3,2].

    The output is the first six of the seven input elements, in order, as floats.
    """
    nodes = [
        helper.make_node("Cast", ["input0"], ["wide0"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["wide0", "four"], ["flat0"]),
        helper.make_node("Cast", ["input1"], ["flat1"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["flat0", "flat1"], ["seven"], axis=0),
        helper.make_node("Slice", ["seven", "zero", "six"], ["six_values"]),
        helper.make_node("Reshape", ["six_values", "out_shape"], ["output0"]),
    ]
    return helper.make_graph(
        nodes, "document",
        [helper.make_tensor_value_info("input0", TensorProto.UINT32, [2, 2]),
         helper.make_tensor_value_info("input1", TensorProto.BOOL, [3])],
        [helper.make_tensor_value_info("output0", TensorProto.FLOAT, [3, 2])],
        [_ints("four", [4]), _ints("zero", [0]), _ints("six", [6]), _ints("out_shape", [3, 2])])


DOCUMENT_CONFIG = """\
backend: "onnxruntime"
input { name: "input0" data_type: TYPE_UINT32 dims: [ 2, 2 ] }
input { name: "input1" data_type: TYPE_BOOL dims: [ 3 ] }
output { name: "output0" data_type: TYPE_FP32 dims: [ 3, 2 ] }
"""


def raw_document_graph():
    """Returns the model of the raw request's example: an input of 16 bytes (FP32 [4]), two outputs
    FP32 [3,1].

    output0 is the first three elements, output1 the last three.
    """
    nodes = [
        helper.make_node("Slice", ["input", "zero", "three"], ["head"]),
        helper.make_node("Slice", ["input", "one", "four"], ["tail"]),
        helper.make_node("Reshape", ["head", "column"], ["output0"]),
        helper.make_node("Reshape", ["tail", "column"], ["output1"]),
    ]
    return helper.make_graph(
        nodes, "raw_document",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("output0", TensorProto.FLOAT, [3, 1]),
         helper.make_tensor_value_info("output1", TensorProto.FLOAT, [3, 1])],
        [_ints("zero", [0]), _ints("one", [1]), _ints("three", [3]), _ints("four", [4]),
         _ints("column", [3, 1])])


RAW_DOCUMENT_CONFIG = """\
backend: "onnxruntime"
input { name: "input" data_type: TYPE_FP32 dims: [ 4 ] }
output { name: "output0" data_type: TYPE_FP32 dims: [ 3, 1 ] }
output { name: "output1" data_type: TYPE_FP32 dims: [ 3, 1 ] }
"""


def sum_graph():
    """Returns SUM = A + B over [batch, 4] floats; the model is served without a configuration file.
    """
    shape = ["batch", 4]
    return helper.make_graph(
        [helper.make_node("Add", ["A", "B"], ["SUM"])], "sum",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("A", "B")],
        [helper.make_tensor_value_info("SUM", TensorProto.FLOAT, shape)])


CLASSES = 6


def classifier_graph(batch: bool):
    """Returns a model that doubles its input: FP32 scores of six classes, for each batch item if
    there is a batch."""
    shape = ["batch", CLASSES] if batch else [CLASSES]
    return helper.make_graph(
        [helper.make_node("Add", ["features", "features"], ["scores"])], "classifier",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, shape)])


def classifier_config(batch: int) -> str:
    return (f'backend: "onnxruntime"\nmax_batch_size: {batch}\n'
            + _tensor("input", "features", "FP32", [CLASSES])
            + _tensor("output", "scores", "FP32", [CLASSES], 'label_filename: "labels.txt"'))


# Labels of six classes: one is empty, one has a colon, and the last class has no label.
LABELS = "cat\ndog\n\nbird: small\n\N{SNOWMAN}\n"


def _delay(milliseconds: int) -> str:
    return (f'parameters {{ key: "execute_delay_ms" value: '
            f'{{ string_value: "{milliseconds}" }} }}\n')


ONE_CPU_INSTANCE = "instance_group { kind: KIND_CPU count: 1 }\n"


def write_main(root: Path):
    """Writes the repository that most of the tests use. Every model in it loads."""
    repo = Repository(root)
    for datatype in DATATYPES:
        repo.identity(type_model(datatype, False), [(datatype, [-1])])
        repo.identity(type_model(datatype, True), [(datatype, [-1])], batch=8)

    repo.identity("fixed", [("FP32", [4])], batch=8)
    repo.identity("fixed_bytes", [("BYTES", [2])])
    repo.identity("single_bytes", [("BYTES", [1])])
    repo.identity("matrix", [("INT32", [2, -1])])
    repo.identity("free_matrix", [("INT32", [-1, -1])])
    repo.identity("victim", [("INT32", [-1])])
    repo.identity("mixed", [("INT32", [-1]), ("FP32", [2, -1]), ("BYTES", [-1])])
    repo.identity("pair", [("INT32", [4]), ("INT32", [4])], batch=8)
    repo.identity("optional", [("INT32", [4]), ("INT32", [4])], batch=8,
                  tensor_extra=[("", ""), ("optional: true", "")])
    repo.identity("scalar", [("FP32", [1])], batch=8,
                  tensor_extra=[("reshape: { shape: [ ] }", "reshape: { shape: [ ] }")])
    repo.identity("versions", [("INT32", [4])], versions=(1, 2, 3),
                  extra="version_policy: { specific: { versions: [ 1, 3 ] } }\n")
    repo.identity("latest", [("INT32", [4])], versions=(1, 2, 10))
    repo.identity("all_versions", [("INT32", [4])], versions=(1, 2),
                  extra="version_policy: { all: { } }\n")
    # The delay of five seconds never passes, because four requests fill the preferred size.
    repo.identity("batched", [("INT32", [4])], batch=4, extra=ONE_CPU_INSTANCE
                  + "dynamic_batching { preferred_batch_size: [ 4 ] "
                    "max_queue_delay_microseconds: 5000000 }\n")
    repo.identity("queued", [("INT32", [4])], batch=4, extra=ONE_CPU_INSTANCE + _delay(400)
                  + "dynamic_batching { default_queue_policy { max_queue_size: 1 } }\n")
    repo.identity("expiring", [("INT32", [4])], batch=4, extra=ONE_CPU_INSTANCE + _delay(400)
                  + "dynamic_batching { default_queue_policy { "
                    "default_timeout_microseconds: 100000 } }\n")
    repo.identity("hasty", [("INT32", [4])], batch=4, extra=ONE_CPU_INSTANCE
                  + "dynamic_batching { max_queue_delay_microseconds: 500000 default_queue_policy "
                    "{ default_timeout_microseconds: 100000 } }\n")
    repo.identity("before_timeout", [("INT32", [4])], batch=4, extra=ONE_CPU_INSTANCE
                  + "dynamic_batching { max_queue_delay_microseconds: 60000000 "
                    "default_queue_policy { default_timeout_microseconds: 200000 } }\n"
                    'parameters { key: "batch_before_timeout" value: { string_value: "true" } }\n')
    repo.identity("levels", [("INT32", [4])], batch=4, extra=ONE_CPU_INSTANCE + _delay(100)
                  + "dynamic_batching { priority_levels: 3 default_priority_level: 2 }\n")
    # The second instance takes six times as long as the first.
    repo.identity("ordered", [("INT32", [4])], batch=4, extra=_delay(50)
                  + 'parameters { key: "instance_wise_delay_multiplier" '
                    'value: { string_value: "6" } }\n'
                  + "instance_group { kind: KIND_CPU count: 2 }\n"
                  + "dynamic_batching { preserve_ordering: true }\n")
    repo.identity("slow", [("INT32", [4])], extra=_delay(400))
    repo.identity("given_up", [("INT32", [4])], extra=ONE_CPU_INSTANCE + _delay(400))
    repo.identity("counted", [("INT32", [4])], batch=8, extra=ONE_CPU_INSTANCE)
    repo.identity("counted_flat", [("INT32", [4])], extra=ONE_CPU_INSTANCE)
    repo.identity("counted_metrics", [("INT32", [4])], batch=8, extra=ONE_CPU_INSTANCE)
    repo.identity("untouched", [("INT32", [4])], batch=8)
    repo.identity("decoupled", [("INT32", [4])],
                  extra="model_transaction_policy { decoupled: true }\n")
    repo.identity("dotted.name-1", [("INT32", [4])])
    repo.onnx("mymodel", document_graph(), DOCUMENT_CONFIG)
    repo.onnx("sum", sum_graph())
    repo.onnx("classifier", classifier_graph(True), classifier_config(8), LABELS)
    repo.onnx("flat_classifier", classifier_graph(False), classifier_config(0), LABELS)


CACHED = "response_cache { enable: true }\n"


def write_cached(root: Path):
    """Writes models whose responses are cached if the server has a cache, and one model without
    caching."""
    repo = Repository(root)
    repo.identity("cached", [("FP32", [-1, -1])], extra=CACHED + ONE_CPU_INSTANCE
                  + 'parameters { key: "echo_parameters" value: { string_value: "true" } }\n')
    repo.identity("cached_pair", [("INT32", [4]), ("BYTES", [-1])], extra=CACHED)
    repo.identity("cached_batch", [("INT32", [4])], batch=8, extra=CACHED + "dynamic_batching { }\n")
    repo.identity("cached_ordered", [("INT32", [4])], batch=1, extra=CACHED + _delay(300)
                  + "instance_group { kind: KIND_CPU count: 2 }\n"
                    "dynamic_batching { preserve_ordering: true }\n")
    repo.identity("not_cached", [("INT32", [4])], extra=ONE_CPU_INSTANCE)


def write_second(root: Path):
    """Writes a repository for a server that is not ready, because one of its models cannot load."""
    repo = Repository(root)
    repo.onnx("mymodel", raw_document_graph(), RAW_DOCUMENT_CONFIG)
    repo.identity("good", [("INT32", [4])])
    repo.broken("broken")
