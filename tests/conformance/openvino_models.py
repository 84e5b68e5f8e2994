# SPDX-License-Identifier: Apache-2.0
"""Repositories of the models in tests/data/openvino, with the results of OpenVINO itself."""

import json
import re
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
from config_models import ONE_CPU, io, reshape

DATA = Path(__file__).resolve().parents[1] / "data" / "openvino"
ANSWERS = json.loads((DATA / "answers.json").read_text())
KINDS = {"BOOL": np.bool_, "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
         "BYTES": np.object_, "BF16": ml_dtypes.bfloat16}
TYPES = [name.removeprefix("type_") for name in ANSWERS if name.startswith("type_")]
FOREIGN = ["u4", "i4", "f8"]


def parameter(key, value):
    return f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'


# By default, processors with BF16 compute FP32 in BF16.
FP32 = parameter("INFERENCE_PRECISION_HINT", "f32")


def array(tensor):
    """Returns a tensor of answers.json in the form of the clients."""
    datatype, data = tensor["datatype"], tensor["data"]
    if datatype == "BF16":
        made = np.array(data, np.uint16).view(ml_dtypes.bfloat16)
    elif datatype == "BYTES":
        made = np.array([text.encode() for text in data], np.object_)
    else:
        made = np.array(data, KINDS.get(datatype) or np.dtype(datatype.lower()))
    return made.reshape(tensor["shape"])


def copy(root, name, model, config=None, version=1):
    """Copies a model folder. With `config` None the backend completes the whole configuration."""
    folder = root / name
    shutil.copytree(DATA / model, folder / str(version))
    if config is not None:
        (folder / "config.pbtxt").write_text(f'backend: "openvino"\n{ONE_CPU}{config}')
    return folder


def name_batch(folder):
    """Gives the inputs and outputs of a model the layout [N,...]: the first dimension is the batch,
    whatever its size is."""
    file = folder / "1" / "model.xml"
    layout = '<rt_info><attribute name="layout" version="0" layout="[N,...]"/></rt_info>'
    text = re.sub(r'(<port [^>]*names="[^"]*"[^>]*>.*?)(</port>)', rf"\1{layout}\2", file.read_text(),
                  flags=re.DOTALL)
    assert text.count(layout) == 2
    file.write_text(text)


XY = io("input", "x", "FP32", [4]) + io("output", "y", "FP32", [3])
MLP = XY + io("output", "best", "INT32", [1])
OF_THREE = ("dynamic_batching { preferred_batch_size: [ 3 ] "
            "max_queue_delay_microseconds: 5000000 }\n")


def control(kind, name, extra):
    return f'{{ name: "{name}" control [ {{ kind: CONTROL_SEQUENCE_{kind} {extra} }} ] }}'


CONTROLS = ("sequence_batching { control_input [ "
            + ", ".join([control("START", "START", "int32_false_true: [ 0, 1 ]"),
                         control("END", "END", "int32_false_true: [ 0, 1 ]"),
                         control("READY", "READY", "bool_false_true: [ false, true ]"),
                         control("CORRID", "CORRID", "data_type: TYPE_UINT64")]) + " ] }\n")


def state(name_in, name_out, datatype, dims):
    return (f'sequence_batching {{ state [ {{ input_name: "{name_in}" output_name: "{name_out}" '
            f'data_type: TYPE_{datatype} dims: {list(dims)} }} ] }}\n')


def warmup(dims):
    return ('model_warmup { name: "zeros" batch_size: 2 inputs { key: "x" value '
            f'{{ data_type: TYPE_FP32 dims: {list(dims)} zero_data: true }} }} }}\n')


def write_serving(root):
    """Writes models that load."""
    for datatype in TYPES:
        kind = "STRING" if datatype == "bytes" else datatype.upper()
        copy(root, f"type_{datatype}", f"type_{datatype}", "max_batch_size: 8\n"
             + io("input", "x", kind, [3]) + io("output", "y", kind, [6]))
        copy(root, f"flat_{datatype}", f"type_{datatype}",
             io("input", "x", kind, [-1, 3]) + io("output", "y", kind, [-1, 6]))
    for name in ("mlp", "fixed", "scalar", "places", "two_inputs", "onnx_mlp", "unnamed",
                 "only_one_row"):
        copy(root, name + "_completed", name, "" if "onnx" in name else None)
    name_batch(copy(root, "one_row_completed", "one_row", FP32))
    copy(root, "mlp", "mlp", "max_batch_size: 8\n" + MLP + FP32)
    copy(root, "mlp_dynamic", "mlp", "max_batch_size: 8\n" + MLP + FP32 + OF_THREE)
    copy(root, "mlp_warm", "mlp", "max_batch_size: 8\n" + MLP + FP32 + warmup([4]))
    copy(root, "folded", "mlp", "max_batch_size: 8\n" + FP32
         + io("input", "x", "FP32", [2, 2], reshape(4)) + io("output", "y", "FP32", [3, 1],
                                                             reshape(3)))
    copy(root, "fixed", "fixed",
         io("input", "x", "FP32", [6], reshape(2, 3)) + io("output", "y", "FP32", [2, 3]))
    copy(root, "scalar", "scalar",
         io("input", "x", "FP32", [1]) + io("output", "y", "FP32", [1]))
    copy(root, "places", "places", io("input", "x", "FP32", [-1, -1])
         + io("output", "places", "INT64", [2, -1]) + io("output", "sums", "FP32", [-1]))
    copy(root, "onnx_mlp", "onnx_mlp", "max_batch_size: 8\n" + FP32
         + io("input", "x", "FP32", [64]) + io("output", "y", "FP32", [10]))
    folder = copy(root, "renamed", "mlp", "max_batch_size: 8\n"
                  'default_model_filename: "net.xml"\n' + MLP + FP32)
    for end in ("xml", "bin"):
        (folder / "1" / f"model.{end}").rename(folder / "1" / f"net.{end}")
    # A model with the batch size 1 in its file.
    copy(root, "one_row", "one_row", "max_batch_size: 8\n" + XY + FP32)
    copy(root, "one_row_fixed", "one_row", "max_batch_size: 4\n" + XY + FP32
         + parameter("SKIP_OV_DYNAMIC_BATCHSIZE", "YES"))
    copy(root, "one_row_padded", "one_row", "max_batch_size: 4\n" + XY + FP32
         + parameter("SKIP_OV_DYNAMIC_BATCHSIZE", "YES") + parameter("ENABLE_BATCH_PADDING", "yes"))
    copy(root, "texts_padded", "type_bytes", "max_batch_size: 4\n"
         + io("input", "x", "STRING", [3]) + io("output", "y", "STRING", [6])
         + parameter("SKIP_OV_DYNAMIC_BATCHSIZE", "YES") + parameter("ENABLE_BATCH_PADDING", "YES"))
    # [2,3] in the file, [-1,5] here.
    copy(root, "reshaped", "fixed", io("input", "x", "FP32", [-1, 5])
         + io("output", "y", "FP32", [-1, 5]) + parameter("RESHAPE_IO_LAYERS", "YES"))
    copy(root, "controls", "controls", "max_batch_size: 4\n" + io("input", "x", "INT32", [1])
         + io("output", "y", "INT32", [1]) + io("output", "id", "INT32", [1]) + CONTROLS)
    copy(root, "carries", "carries", "max_batch_size: 4\n" + io("input", "x", "INT32", [2])
         + io("output", "total", "INT32", [2]) + state("before", "after", "INT32", [2]))
    remembers = (io("input", "x", "FP32", [2]) + io("output", "total", "FP32", [2]))
    copy(root, "remembers", "remembers", "max_batch_size: 4\n" + remembers
         + state("memory", "memory", "FP32", [2]))
    copy(root, "remembers_direct", "remembers", "max_batch_size: 4\n" + remembers)
    write_parameters(root)


PARAMETERS = {
    "INFERENCE_NUM_THREADS": "2", "COMPILATION_NUM_THREADS": "2", "HINT_BF16": "YES",
    "NUM_STREAMS": "AUTO", "PERFORMANCE_HINT": "THROUGHPUT", "TARGET_DEVICE": "CPU",
    "CPU_THREADS_NUM": "1", "ENFORCE_BF16": "NO", "CPU_BIND_THREAD": "NUMA",
    "CPU_THROUGHPUT_STREAMS": "auto", "EXECUTION_MODE_HINT": "ACCURACY",
    "SCHEDULING_CORE_TYPE": "ANY_CORE",
}


def write_parameters(root):
    for key, value in PARAMETERS.items():
        copy(root, f"with_{key.lower()}", "mlp",
             "max_batch_size: 8\n" + MLP + parameter(key, value))
    copy(root, "with_all", "mlp", "max_batch_size: 8\n" + MLP + "".join(
        parameter(k, v) for k, v in PARAMETERS.items()))


def refused(root):
    """Writes models that do not load. Returns a part of the reason for each name."""
    reasons = {}

    def add(name, model, config, reason):
        reasons[name] = reason
        return copy(root, name, model, config) / "1"

    batch = "max_batch_size: 8\n"
    for kind in FOREIGN:
        add(f"foreign_{kind}", f"foreign_{kind}", batch + io("input", "x", "UINT8", [4])
            + io("output", "y", "UINT8", [8]), "which the inference protocol cannot carry")
        add(f"foreign_{kind}_completed", f"foreign_{kind}", None,
            "which the inference protocol cannot carry")
    for datatype in TYPES:
        other = "FP32" if datatype != "fp32" else "INT32"
        kind = "STRING" if datatype == "bytes" else datatype.upper()
        add(f"not_{datatype}", f"type_{datatype}", batch + io("input", "x", other, [3])
            + io("output", "y", kind, [6]),
            f"unable to load model 'not_{datatype}', configuration expects datatype TYPE_{other} for "
            f"input 'x', model provides TYPE_{'BYTES' if kind == 'STRING' else kind}")
    add("other_input", "mlp", batch + MLP.replace('"x"', '"z"'),
        "unexpected inference input 'z', allowed inputs are: x")
    add("other_output", "mlp", batch + MLP.replace('"y"', '"z"'),
        "unexpected inference output 'z', allowed outputs are: best, y")
    add("other_dims", "mlp", batch + MLP.replace("[ 4 ]", "[ 5 ]"),
        "model 'other_dims', tensor 'x': the model expects 2 dimensions (shape [-1,4]) but the model "
        "configuration specifies 2 dimensions")
    add("too_few_inputs", "two_inputs", batch + io("input", "a", "FP32", [2])
        + io("output", "y", "FP32", [2]), "unable to load model 'too_few_inputs', configuration expects 1 "
        "inputs, model provides 2")
    add("no_batch", "only_one_row", batch + io("input", "x", "FP32", [4])
        + io("output", "y", "FP32", [2, 2]),
        "for the model to support batching the shape should have at least 1 dimension and the first "
        "dimension must be -1; but shape expected by the model is [1,2,2]")
    add("no_batch_fixed", "only_one_row", batch + io("input", "x", "FP32", [4])
        + io("output", "y", "FP32", [2, 2]) + parameter("SKIP_OV_DYNAMIC_BATCHSIZE", "YES"),
        "SKIP_OV_DYNAMIC_BATCHSIZE fixes the batch to max_batch_size 8, which the model does not")
    add("ragged", "mlp", batch + MLP.replace("dims: [ 4 ]", "dims: [ 4 ] allow_ragged_batch: true"),
        "configuration expects model provides input with shape [-1]  for ragged input 'x', model "
        "provides [-1,4]")
    add("warmed_wrongly", "one_row", "max_batch_size: 4\n" + XY + warmup([4])
        + parameter("SKIP_OV_DYNAMIC_BATCHSIZE", "YES"), "takes batches of 4 rows")
    add("other_file", "mlp", batch + MLP + 'default_model_filename: "absent.xml"\n',
        "unable to find")
    for key, value, reason in [
            ("NUM_STREAMS", "many", "is 'many', but must be AUTO, NUMA or an integer"),
            ("INFERENCE_NUM_THREADS", "-1", "is '-1', but must be an integer from 0 to 1024"),
            ("PERFORMANCE_HINT", "FAST", "is 'FAST', but must be LATENCY, THROUGHPUT or"),
            ("HINT_BF16", "MAYBE", "is 'MAYBE', but must be YES or NO"),
            ("TARGET_DEVICE", "GPU", "the device 'GPU' is not among those that OpenVINO finds"),
            ("CPU_EXTENSION_PATH", "/absent.so", "CPU_EXTENSION_PATH '/absent.so' cannot be used"),
            ("INFERENCE_PRECISION_HINT", "f31", "cannot be compiled")]:
        add(f"bad_{key.lower()}", "mlp", batch + MLP + parameter(key, value), reason)
    return reasons
