#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the OpenVINO models of the tests, with inputs and the outputs that OpenVINO computes.

The models are committed; this script makes them anew:

    python3 -m venv v && v/bin/pip install openvino==2026.4.* && v/bin/python make_models.py

Beside this script come NAME/model.xml and model.bin (or model.onnx), and answers.json: for each
model a list of runs, which follow each other in one infer request, each with
{"inputs": {NAME: {"datatype", "shape", "data"}}, "outputs": likewise}.
FP32 is computed as FP32 also where the processor could do BF16.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset15 as op

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "models"), str(HERE.parent)]

import make_models as onnx_models  # noqa: E402
import ragged_batches  # noqa: E402

CORE = ov.Core()
CORE.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
ANSWERS = {}

# Name on the wire -> (OpenVINO's type, NumPy's, values that show its range). OpenVINO computes
# 64-bit numbers in 32 bits.
TYPES = {
    "BOOL": ("boolean", np.bool_, [True, False, True]),
    "UINT8": ("u8", np.uint8, [0, 200, 255]),
    "UINT16": ("u16", np.uint16, [0, 40000, 65535]),
    "UINT32": ("u32", np.uint32, [0, 3, 4294967295]),
    "UINT64": ("u64", np.uint64, [0, 3, 2147483647]),
    "INT8": ("i8", np.int8, [-128, 0, 127]),
    "INT16": ("i16", np.int16, [-32768, 1, 32767]),
    "INT32": ("i32", np.int32, [-2147483648, 1, 2147483647]),
    "INT64": ("i64", np.int64, [-2147483648, 5, 2147483647]),
    "FP16": ("f16", np.float16, [0.5, -2, 65504]),
    "BF16": ("bf16", np.uint16, [0x3F80, 0xC000, 0x7F7F]),  # the bits
    "FP32": ("f32", np.float32, [1e30, -0.1, 3]),
    "FP64": ("f64", np.float64, [0.25, 1e30, -3]),
    "BYTES": ("string", np.object_, ["a", "b\u00e9", ""]),
}
FOREIGN = {"u4": "u4", "i4": "i4", "f8": "f8e4m3"}


def parameter(name, kind, shape):
    node = op.parameter(ov.PartialShape(shape), getattr(ov.Type, kind), name=name)
    node.output(0).get_tensor().set_names({name})
    return node


def result(name, node):
    made = op.result(node)
    made.input_value(0).get_tensor().add_names({name})
    return made


def f32(values):
    return op.constant(np.array(values, np.float32))


def i64(values):
    return op.constant(np.array(values, np.int64))


def weights(shape, seed):
    return f32(np.random.default_rng(seed).uniform(-0.5, 0.5, shape))


def tensor_of(datatype, values):
    values = np.array(values, TYPES[datatype][1])
    if datatype == "BYTES":
        return ov.Tensor(np.array(values.tolist()))
    if datatype == "BF16":
        tensor = ov.Tensor(ov.Type.bf16, ov.Shape(values.shape))
        tensor.data.view(np.uint16)[:] = values
        return tensor
    return ov.Tensor(values)


def written(tensor):
    (datatype,) = [d for d, (kind, _, _) in TYPES.items()
                   if getattr(ov.Type, kind) == tensor.element_type]
    if datatype == "BYTES":
        data = tensor.str_data
    elif datatype == "BF16":
        data = tensor.data.view(np.uint16)
    else:
        data = tensor.data
    return {"datatype": datatype, "shape": list(tensor.shape), "data": data.ravel().tolist()}


def write(name, model, *runs):
    """Saves a model, and what it answers to `runs` ({input: (datatype, values)}) in turn."""
    folder = HERE / name
    folder.mkdir()
    if isinstance(model, bytes):
        (folder / "model.onnx").write_bytes(model)
        model = CORE.read_model(folder / "model.onnx")
    else:
        ov.save_model(model, folder / "model.xml", compress_to_fp16=False)
        model = CORE.read_model(folder / "model.xml")
    if not runs:
        return
    request = CORE.compile_model(model, "CPU").create_infer_request()
    ANSWERS[name] = []
    for run in runs:
        tensors = {n: tensor_of(*given) for n, given in run.items()}
        for n, tensor in tensors.items():
            request.set_tensor(n, tensor)
        request.infer()
        ANSWERS[name].append({
            "inputs": {n: written(t) for n, t in tensors.items()},
            "outputs": {o.get_any_name(): written(request.get_tensor(o)) for o in model.outputs}})


def types():
    """y = x followed by x, for each data type that a client can send."""
    for datatype, (kind, _, values) in TYPES.items():
        x = parameter("x", kind, [-1, 3])
        model = ov.Model([result("y", op.concat([x, x], 1))], [x], "type")
        write("type_" + datatype.lower(), model, {"x": (datatype, [values, values[::-1]])})
    for name, kind in FOREIGN.items():
        x = parameter("x", kind, [-1, 4])
        write("foreign_" + name, ov.Model([result("y", op.concat([x, x], 1))], [x], "type"))


def networks():
    """Models with weights, one or two outputs, batches and none."""
    def layers(shape):
        x = parameter("x", "f32", shape)
        hidden = op.relu(op.add(op.matmul(x, weights([4, 8], 1), False, False), weights([8], 2)))
        return x, op.add(op.matmul(hidden, weights([8, 3], 3), False, False), weights([3], 4))

    rows = [[1, 2, 3, 4], [-1, 0.5, 0, 2], [0, 0, 0, 0]]
    x, y = layers([-1, 4])
    best = op.topk(y, op.constant(np.int64(1)), 1, "max", "value", index_element_type="i32")
    write("mlp", ov.Model([result("y", y), result("best", best.output(1))], [x], "mlp"),
          {"x": ("FP32", rows)})
    x, y = layers([1, 4])
    write("one_row", ov.Model([result("y", y)], [x], "one_row"), {"x": ("FP32", rows[:1])})
    # The number of rows must be one, because the number of elements is a constant.
    x = parameter("x", "f32", [1, 4])
    write("only_one_row", ov.Model([result("y", op.reshape(x, i64([1, 2, 2]), False))], [x], "one"),
          {"x": ("FP32", rows[:1])})
    x = parameter("x", "f32", [2, 3])
    write("fixed", ov.Model([result("y", op.multiply(x, f32(2)))], [x], "fixed"),
          {"x": ("FP32", [[1, 2, 3], [4, 5, 6]])})
    x = parameter("x", "f32", [])
    write("scalar", ov.Model([result("y", op.multiply(x, f32(3)))], [x], "scalar"),
          {"x": ("FP32", 1.5)})
    # The shape of `places` depends on the data.
    x = parameter("x", "f32", [-1, -1])
    write("places", ov.Model([result("places", op.non_zero(x, "i64")),
                              result("sums", op.reduce_sum(x, i64([1]), False))], [x], "places"),
          {"x": ("FP32", [[0, 1, 2], [3, 0, 0]])}, {"x": ("FP32", [[0, 0]])})
    a, b = parameter("a", "f32", [-1, 2]), parameter("b", "i32", [-1, 2])
    write("two_inputs", ov.Model([result("y", op.add(a, op.convert(b, "f32")))], [a, b], "two"),
          {"a": ("FP32", [[1, 2]]), "b": ("INT32", [[30, 40]])})
    x = op.parameter(ov.PartialShape([-1, 2]), ov.Type.f32)
    write("unnamed", ov.Model([op.result(op.relu(x))], [x], "unnamed"))
    file = HERE / "unnamed" / "model.xml"  # names that were generated when the model was saved
    file.write_text(re.sub(' (output_)?names="[^"]*"', "", file.read_text()))
    write("onnx_mlp", onnx_models.MODELS["mlp"](),
          {"x": ("FP32", np.linspace(-1, 1, 128).reshape(2, 64))})


def states():
    """Models that remember, inside and through their inputs and outputs."""
    x = parameter("x", "f32", [-1, 2])
    read = op.read_value(op.multiply(x, f32(0)), "memory", ov.Type.f32, ov.PartialShape([-1, 2]))
    total = op.add(read, x)
    write("remembers", ov.Model([result("total", total)], [op.assign(total, "memory")], [x], "r"),
          {"x": ("FP32", [[1, 2]])}, {"x": ("FP32", [[1, 2]])}, {"x": ("FP32", [[10, 20]])})
    x, before = parameter("x", "i32", [-1, 2]), parameter("before", "i32", [-1, 2])
    after = op.add(x, before)
    write("carries", ov.Model([result("total", op.add(after, op.constant(np.int32(100)))),
                               result("after", after)], [x, before], "carries"),
          {"x": ("INT32", [[1, 2]]), "before": ("INT32", [[5, 6]])})
    x = parameter("x", "i32", [-1, 1])
    start, end = parameter("START", "i32", [-1, 1]), parameter("END", "i32", [-1, 1])
    ready, number = parameter("READY", "boolean", [-1, 1]), parameter("CORRID", "u64", [-1, 1])
    y = op.add(op.add(x, op.multiply(start, op.constant(np.int32(100)))),
               op.add(op.multiply(end, op.constant(np.int32(1000))),
                      op.multiply(op.convert(ready, "i32"), op.constant(np.int32(10000)))))
    write("controls", ov.Model([result("y", y), result("id", op.relu(op.convert(number, "i32")))],
                               [x, start, end, ready, number], "controls"))


def ragged():
    """The model of ragged_batches.py."""
    inputs = {name: parameter(name, "f32" if name == "values" else "i32",
                              [-1, -1] if name == "shapes" else [-1])
              for name in ragged_batches.batch(range(1))}
    values, bounds = inputs["values"], inputs["bounds"]

    def column(node):
        return op.unsqueeze(node, i64([1]))

    def cut(begin, end):
        return op.slice(bounds, i64([begin]), i64([end]), i64([1]), i64([0]))

    largest = np.iinfo(np.int64).max
    totals = op.concat([f32([0]), op.cum_sum(values, i64(0))], 0)
    sums = op.subtract(op.gather(totals, cut(1, largest), i64(0)),
                       op.gather(totals, cut(0, -1), i64(0)))
    zeros = op.multiply(inputs["count"], op.constant(np.int32(0)))
    outputs = {
        "doubled": op.multiply(values, f32(2)), "sums": column(sums),
        "out_count": column(inputs["count"]), "out_end": column(inputs["ends"]),
        "out_begin": column(cut(0, -1)),
        "out_shape": op.multiply(inputs["shapes"], op.constant(np.int32(1))),
        "out_flat": column(inputs["flat"]),
        "out_widest": column(op.add(zeros, op.shape_of(inputs["widest"], "i32")))}
    write("ragged", ov.Model([result(name, node) for name, node in outputs.items()],
                             list(inputs.values()), "ragged"),
          *({name: ("FP32" if name == "values" else "INT32", value)
             for name, value in ragged_batches.batch(order).items()}
            for order in ragged_batches.ORDERS))


def main():
    for folder in HERE.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
    types()
    networks()
    states()
    ragged()
    lines = [f'  "{name}": [\n    ' + ",\n    ".join(json.dumps(run) for run in runs) + "\n  ]"
             for name, runs in ANSWERS.items()]
    (HERE / "answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
