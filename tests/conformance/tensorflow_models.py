# SPDX-License-Identifier: Apache-2.0
"""Repositories of the models in tests/data/tensorflow, and their cases as numpy arrays."""

import json
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
from models import DATATYPES
from protobuf_mutants import write as message
from tritonclient.utils import triton_to_np_dtype

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "tensorflow"
CASES = json.loads((DATA / "cases.json").read_text())


def array(tensor):
    """Returns a tensor of cases.json in tritonclient's form."""
    if tensor["datatype"] == "BYTES":
        values = np.empty(len(tensor["data"]), object)
        values[:] = [text.encode("latin-1") for text in tensor["data"]]
    else:
        dtype = ml_dtypes.bfloat16 if tensor["datatype"] == "BF16" else triton_to_np_dtype(
            tensor["datatype"])
        values = np.array(tensor["data"], dtype)
    return values.reshape(tensor["shape"])


def tensor(kind, name, datatype, dims, extra=""):
    """Returns one entry of `input` or `output`; `datatype` is the name on the wire."""
    return (f'{kind} {{ name: "{name}" data_type: {DATATYPES[datatype]} '
            f"dims: {list(dims)} {extra} }}\n")


def tensors(case, batch, **dims):
    """Returns the `input` and `output` entries of a case; `dims` overrides those of some tensors.
    """
    text = ""
    for kind in ("input", "output"):
        for name, value in CASES[case][0][f"{kind}s"].items():
            shape = value["shape"][1 if batch else 0:] or [1]
            text += tensor(kind, name, value["datatype"], dims.get(name, shape))
    return text


def parameters(**values):
    return "".join(f'parameters {{ key: "{k}" value {{ string_value: "{v}" }} }}\n'
                   for k, v in values.items())


def graphdef(root, name, source, config, batch=0, content=None):
    """Writes a model with graphs/SOURCE.graphdef, or with the given bytes."""
    folder = root / name
    (folder / "1").mkdir(parents=True)
    if content is None:
        content = (DATA / "graphs" / f"{source}.graphdef").read_bytes()
    (folder / "1" / "model.graphdef").write_bytes(content)
    (folder / "config.pbtxt").write_text(
        f'platform: "tensorflow_graphdef"\nmax_batch_size: {batch}\n{config}')
    return folder


def savedmodel(root, name, source, config=None):
    """Writes a model with savedmodels/SOURCE, without a configuration by default."""
    folder = root / name
    (folder / "1").mkdir(parents=True)
    shutil.copytree(DATA / "savedmodels" / source, folder / "1" / "model.savedmodel")
    if config is not None:
        (folder / "config.pbtxt").write_text('platform: "tensorflow_savedmodel"\n' + config)
    return folder


def check_case(client, model, case):
    """Sends every input of the case and compares the outputs with TensorFlow's."""
    inputs = [client.input(name, array(value), value["datatype"])
              for name, value in case["inputs"].items()]
    answer = client.infer(model, inputs, outputs=list(case["outputs"]))
    for name, value in case["outputs"].items():
        check_array(answer.array(name), array(value), name)
        assert answer.output(name)["datatype"] == value["datatype"]


def check_array(got, want, name=""):
    assert list(got.shape) == list(want.shape), name
    if want.dtype == ml_dtypes.bfloat16:
        got, want = got.astype(np.float32), want.astype(np.float32)
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=name)
    else:
        np.testing.assert_array_equal(got, want, err_msg=name)


def nodes(*given):
    """Returns a GraphDef with (name, op, inputs, attributes as fields of AttrValue)."""
    return message([[1, 2, [
        [1, 2, name.encode()], [2, 2, op.encode()], *[[3, 2, i.encode()] for i in inputs],
        *[[5, 2, [[1, 2, key.encode()], [2, 2, value]]] for key, value in attributes.items()]]]
        for name, op, inputs, attributes in given])


def shape(*dims):
    return [[2, 2, [[1, 0, dim]]] for dim in dims]


FLOAT = [[6, 0, 1]]


def placeholder(name="x", dims=(2**64 - 1, 4)):
    return (name, "Placeholder", [], {"dtype": FLOAT, "shape": [[7, 2, shape(*dims)]]})


def constant(name, dims, content=b"", dtype=1, declared=FLOAT):
    tensor = [[1, 0, dtype], [2, 2, shape(*dims)], [4, 2, content]]
    return (name, "Const", [], {"dtype": declared, "value": [[8, 2, tensor]]})


def signature(inputs, outputs):
    """Returns the fields of a SignatureDef. A tensor is (tensor of the graph, type, shape); the shape
    is a list of dims, None for a TensorInfo without one, or the fields of a TensorShapeProto."""
    def entries(field, tensors):
        return [[field, 2, [[1, 2, key.encode()], [2, 2, [
            [1, 2, name.encode()], [2, 0, kind],
            *([] if dims is None else [[3, 2, shape(*dims) if isinstance(dims, tuple) else dims]])]]]]
            for key, (name, kind, dims) in tensors.items()]
    return entries(1, inputs) + entries(2, outputs)


def saved_model(graph, **signatures):
    """Returns the bytes of a saved_model.pb with one graph, of the tag "serve"."""
    return message([[1, 0, 1], [2, 2, [
        [1, 2, [[4, 2, b"serve"]]], [2, 2, graph],
        *[[5, 2, [[1, 2, name.encode()], [2, 2, fields]]] for name, fields in signatures.items()]]]])


def accumulator():
    """Returns a GraphDef that adds INPUT to a variable, which START resets, and returns the sum. The
    operation `init` sets the variable to 0."""
    kind = {"dtype": FLOAT}
    one = np.float32(1).tobytes()
    return nodes(
        placeholder("INPUT", (2**64 - 1, 1)), placeholder("START", (2**64 - 1, 1)),
        ("v", "VarHandleOp", [], {**kind, "shape": [[7, 2, [[3, 0, 1]]]],
                                  "shared_name": [[2, 2, b"total"]]}),
        constant("zero", (1, 1), bytes(4)), constant("one", (1, 1), one),
        ("init", "AssignVariableOp", ["v", "zero"], kind),
        ("read", "ReadVariableOp", ["v"], kind),
        ("keep", "Sub", ["one", "START"], {"T": FLOAT}),
        ("kept", "Mul", ["read", "keep"], {"T": FLOAT}),
        ("total", "AddV2", ["kept", "INPUT"], {"T": FLOAT}),
        ("set", "AssignVariableOp", ["v", "total"], kind),
        ("OUTPUT", "Identity", ["total", "^set"], {"T": FLOAT}))
