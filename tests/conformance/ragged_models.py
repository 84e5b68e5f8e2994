# SPDX-License-Identifier: Apache-2.0
"""The model of tests/data/ragged_batches.py in every framework that batches ragged requests, with
the answers that the framework itself computes for whole batches, and wrong configurations."""

import json
import shutil
import sys
from pathlib import Path

import config_models
import numpy as np
import onnxruntime
from config_models import ONE_CPU, OF_THREE, batch_input, batch_output, io

DATA = Path(__file__).resolve().parents[1] / "data"
sys.path.insert(0, str(DATA))

import ragged_batches  # noqa: E402

KINDS = {"count": "ELEMENT_COUNT", "ends": "ACCUMULATED_ELEMENT_COUNT",
         "bounds": "ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", "widest": "MAX_ELEMENT_COUNT_AS_SHAPE",
         "shapes": "ITEM_SHAPE", "flat": "ITEM_SHAPE_FLATTEN"}
# Name of the model on the server -> the backend that it needs, the fields that select it, the names
# of backend and model in messages.
FRAMEWORKS = {
    "onnx": ("onnxruntime", 'backend: "onnxruntime"\n', "ONNX model"),
    "graphdef": ("tensorflow", 'platform: "tensorflow_graphdef"\n', "TensorFlow model"),
    "savedmodel": ("tensorflow", 'platform: "tensorflow_savedmodel"\n', "TensorFlow model"),
    "torchscript": ("pytorch", 'platform: "pytorch_libtorch"\n', "PyTorch model"),
    "openvino": ("openvino", 'backend: "openvino"\n', "OpenVINO model"),
}


def put_file(framework, folder):
    """Writes the model of a framework into a version's folder."""
    folder.mkdir(parents=True)
    if framework == "onnx":
        (folder / "model.onnx").write_bytes(config_models.make_models.MODELS["describe_int32"]())
    elif framework == "graphdef":
        shutil.copy(DATA / "tensorflow" / "graphs" / "ragged.graphdef", folder / "model.graphdef")
    elif framework == "savedmodel":
        shutil.copytree(DATA / "tensorflow" / "savedmodels" / "ragged", folder / "model.savedmodel")
    elif framework == "torchscript":
        shutil.copy(DATA / "pytorch" / "ragged" / "1" / "model.pt", folder)
    else:
        shutil.copytree(DATA / "openvino" / "ragged", folder, dirs_exist_ok=True)


def parts(framework):
    """The parts of a configuration, by name, for a wrong one to replace."""
    widest = "INT64" if framework == "onnx" else "INT32"
    kinds = {"sums": "FP32", "out_widest": widest}
    return {
        "scheduler": ONE_CPU + OF_THREE,
        "values": io("input", "values", "FP32", [-1], "allow_ragged_batch: true"),
        "doubled": io("output", "doubled", "FP32", [-1]),
        **{name: io("output", name, kinds.get(name, "INT32"), [1])
           for name in ragged_batches.COLUMNS},
        **{name: batch_input(kind, name, "INT32") for name, kind in KINDS.items()},
        "batch_output": batch_output("doubled", "values")}


def write(root, framework, name, **changes):
    put_file(framework, root / name / "1")
    text = "".join({**parts(framework), **changes}.values())
    (root / name / "config.pbtxt").write_text(
        FRAMEWORKS[framework][1] + "max_batch_size: 8\n" + text)


def write_serving(root, frameworks):
    for framework in frameworks:
        write(root, framework, framework)
        write(root, framework, f"{framework}_direct", scheduler=ONE_CPU)
        # One result for each request, which the configuration claims to have one for each value.
        write(root, framework, f"{framework}_short", doubled="",
              batch_output=batch_output("sums", "values"),
              sums=io("output", "sums", "FP32", [-1]))


def refused(root, frameworks):
    """Writes models that do not load. Name -> part of the reason."""
    reasons = {}

    def add(framework, case, reason, **changes):
        name = f"{framework}_{case}"
        reasons[name] = reason
        write(root, framework, name, **changes)

    for framework in frameworks:
        backend, _, model = FRAMEWORKS[framework]
        add(framework, "optional",
            "input 'values' cannot be both optional and allow_ragged_batch",
            values=io("input", "values", "FP32", [-1], "allow_ragged_batch: true optional: true"))
        add(framework, "twice", "are both the argument 'count'" if framework == "torchscript" else
            "batch_input names the target 'count', which clients are to send as well",
            ends=batch_input("ELEMENT_COUNT", "count", "INT32"))
        if framework == "torchscript":  # it declares neither names nor types
            continue
        add(framework, "no_target", "the graph has no tensor 'nowhere' for batch_input 'nowhere'"
            if framework == "graphdef" else "batch_input names the target 'nowhere', which the "
            f"{model} lacks; its inputs are: ", count=batch_input("ELEMENT_COUNT", "nowhere", "INT32"))
        add(framework, "other_type", "configuration expects datatype TYPE_FP32 for batch_input "
            "'count', model provides TYPE_INT32", count=batch_input("ELEMENT_COUNT", "count", "FP32"))
        if backend != "tensorflow":  # it adds inputs, or does without
            add(framework, "too_few", "configuration expects 6 inputs, model provides 7", flat="")
        add(framework, "other_rank", f"batch_input 'flat' has rank 2, but the {model} declares [-1]",
            flat=batch_input("ITEM_SHAPE", "flat", "INT32"))
        add(framework, "matrix", "configuration expects model provides input with shape [-1]  for "
            "ragged input 'shapes', model provides [-1,-1]",
            shapes=io("input", "shapes", "INT32", [-1], "allow_ragged_batch: true"))
    if "openvino" in frameworks:
        add("openvino", "fixed_batch", "SKIP_OV_DYNAMIC_BATCHSIZE gives each run max_batch_size rows, "
            "so there can be no allow_ragged_batch",
            scheduler='parameters { key: "SKIP_OV_DYNAMIC_BATCHSIZE" '
                      'value { string_value: "YES" } }\n')
    return reasons


def answers(framework):
    """Order of the requests -> {output: what the framework computes for their batch}."""
    if framework == "onnx":
        session = onnxruntime.InferenceSession(config_models.make_models.MODELS["describe_int32"](),
                                               providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return {order: dict(zip(names, session.run(names, ragged_batches.batch(order))))
                for order in ragged_batches.ORDERS}
    if framework == "torchscript":
        cases = json.loads((DATA / "pytorch" / "ragged" / "batches.json").read_text())
    elif framework == "openvino":
        cases = json.loads((DATA / "openvino" / "answers.json").read_text())["ragged"]
    else:
        cases = json.loads((DATA / "tensorflow" / "cases.json").read_text())["ragged"]
    return {order: {name: np.array(tensor["data"]).reshape(tensor["shape"])
                    for name, tensor in case["outputs"].items()}
            for order, case in zip(ragged_batches.ORDERS, cases)}
