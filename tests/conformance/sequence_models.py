# SPDX-License-Identifier: Apache-2.0
"""ONNX models with states and control inputs: the worked examples of the sequence document, and
further ones. sequences.py provides the means to hold their executions."""

import shutil
import struct
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from sequences import Notes, batching, instances, parameter

ONE_CPU = instances(1)
START_FP32 = ('control_input { name: "START" control { kind: CONTROL_SEQUENCE_START '
              "fp32_false_true: [ 0, 1 ] } }\n")
READY_FP32 = ('control_input { name: "READY" control { kind: CONTROL_SEQUENCE_READY '
              "fp32_false_true: [ 0, 1 ] } }\n")
END_FP32 = ('control_input { name: "END" control { kind: CONTROL_SEQUENCE_END '
            "fp32_false_true: [ 0, 1 ] } }\n")
CORRID_UINT64 = ('control_input { name: "CORRID" control { kind: CONTROL_SEQUENCE_CORRID '
                 "data_type: TYPE_UINT64 } }\n")
FILE_STATE = 100  # the initial state in the file
OLDEST = "oldest { max_candidate_sequences: 4 }"


def tensor(kind, name, datatype, *dims) -> str:
    shape = ", ".join(map(str, dims))
    return f'{kind} {{ name: "{name}" data_type: TYPE_{datatype} dims: [ {shape} ] }}\n'


def state(datatype="INT32", dims="-1", initial="", name="STATE", extra="") -> str:
    """Returns one entry of `state`. `initial` is the source of the initial state of one element."""
    if initial:
        initial = (f"initial_state: {{ data_type: TYPE_{datatype} dims: [ 1 ] {initial} "
                   'name: "initial state" }')
    return (f'state [ {{ input_name: "INPUT_{name}" output_name: "OUTPUT_{name}" data_type: '
            f"TYPE_{datatype} dims: [ {dims} ] {initial} {extra} }} ]\n")


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def ints(name, *numbers):
    return helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)


def save(root: Path, name, config, nodes, inputs, outputs, constants=(), *, opset=17, domains=()):
    folder = root / name
    (folder / "1").mkdir(parents=True)
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    model = helper.make_model(helper.make_graph(nodes, name, inputs, outputs, list(constants)),
                              opset_imports=imports)
    model.ir_version = 9
    onnx.save(model, folder / "1" / "model.onnx")
    (folder / "config.pbtxt").write_text(config)
    return folder


def accumulator(root: Path, name, states, *, has_start, batch=8, strategy=OLDEST,
                shows_state=False):
    """OUTPUT = OUTPUT_STATE = INPUT + INPUT_STATE; with a control START, INPUT alone at the start.
    """
    shape = ["batch", "n"] if batch else ["n"]
    one = ["batch", 1] if batch else [1]
    nodes = [helper.make_node("Add", ["INPUT", "INPUT_STATE"], ["sum"])]
    inputs = [value("INPUT", TensorProto.INT32, shape),
              value("INPUT_STATE", TensorProto.INT32, shape if batch else ["m"])]
    if batch:
        inputs[1] = value("INPUT_STATE", TensorProto.INT32, ["batch", "m"])
    if has_start:
        inputs.append(value("START", TensorProto.FLOAT, one))
        nodes += [helper.make_node("Cast", ["START"], ["starts"], to=TensorProto.BOOL),
                  helper.make_node("Where", ["starts", "INPUT", "sum"], ["next"])]
    else:
        nodes.append(helper.make_node("Identity", ["sum"], ["next"]))
    nodes += [helper.make_node("Identity", ["next"], ["OUTPUT"]),
              helper.make_node("Identity", ["next"], ["OUTPUT_STATE"])]
    config = (f'backend: "onnxruntime"\nmax_batch_size: {batch}\n'
              + tensor("input", "INPUT", "INT32", -1) + tensor("output", "OUTPUT", "INT32", -1)
              + (tensor("output", "OUTPUT_STATE", "INT32", -1) if shows_state else "")
              + batching(strategy, controls=START_FP32 if has_start else "", extra=states)
              + ONE_CPU)
    return save(root, name, config, nodes, inputs,
                [value("OUTPUT", TensorProto.INT32, shape),
                 value("OUTPUT_STATE", TensorProto.INT32, shape)])


def write_file_state(folder: Path, content: bytes):
    (folder / "initial_state").mkdir()
    (folder / "initial_state" / "initial_state_data").write_bytes(content)


def write_accumulators(root: Path):
    """Writes the three accumulators of the document: one for each strategy, and one without
    batching."""
    for suffix, strategy, batch in (("", OLDEST, 8), ("_direct", "direct { }", 8),
                                    ("_flat", "direct { }", 0)):
        accumulator(root, "sum" + suffix, state(), has_start=True, batch=batch, strategy=strategy)
        accumulator(root, "sum_zero" + suffix, state(initial="zero_data: true"), has_start=False,
                    batch=batch, strategy=strategy)
        folder = accumulator(root, "sum_file" + suffix,
                             state(initial='data_file: "initial_state_data"'), has_start=False,
                             batch=batch, strategy=strategy)
        write_file_state(folder, struct.pack("<i", FILE_STATE))
    accumulator(root, "sum_shown", state(), has_start=True, shows_state=True)


ONE_BUFFER = "use_same_buffer_for_input_output: true"


def write_one_buffer(root: Path, library: Path):
    """Writes states that use one buffer for input and output: of ONNX models, and of a backend that
    writes into its input. `written_twice` is the model of that backend with two buffers."""
    for suffix, strategy in (("", OLDEST), ("_direct", "direct { }")):
        accumulator(root, "sum_in_place" + suffix, state(extra=ONE_BUFFER), has_start=True,
                    strategy=strategy)
    write_growing(root, "growing_in_place", ONE_BUFFER)
    write_growing(root, "growing_ahead", ONE_BUFFER + " use_growable_memory: true")
    for name, keep, extra in (("written_in_place", "state", ONE_BUFFER),
                              ("written_twice", "state", ""),
                              ("list_in_place", "list", ONE_BUFFER),
                              ("list_ahead", "list", ONE_BUFFER + " use_growable_memory: true")):
        dims = "1" if keep == "state" else "-1"
        config = ('backend: "sequence"\nmax_batch_size: 4\n' + tensor("input", "INPUT", "INT32", 1)
                  + tensor("output", "OUTPUT", "INT32", 1)
                  + tensor("output", "OUTPUT_STATE", "INT32", dims)
                  + parameter("keep", keep)
                  + batching(OLDEST, extra=state(dims=dims, extra=extra)) + ONE_CPU)
        folder = root / name
        (folder / "1").mkdir(parents=True)
        (folder / "config.pbtxt").write_text(config)
        shutil.copy(library, folder / library.name)


def write_texts(root: Path):
    """OUTPUT = OUTPUT_STATE = INPUT_STATE + INPUT for texts; the initial state is empty."""
    shape = ["batch", 1]
    save(root, "texts", 'backend: "onnxruntime"\nmax_batch_size: 4\n'
         + tensor("input", "INPUT", "STRING", 1) + tensor("output", "OUTPUT", "STRING", 1)
         + batching(OLDEST, controls="", extra=state("STRING", "1")) + ONE_CPU,
         [helper.make_node("StringConcat", ["INPUT_STATE", "INPUT"], ["OUTPUT"]),
          helper.make_node("Identity", ["OUTPUT"], ["OUTPUT_STATE"])],
         [value("INPUT", TensorProto.STRING, shape),
          value("INPUT_STATE", TensorProto.STRING, shape)],
         [value("OUTPUT", TensorProto.STRING, shape),
          value("OUTPUT_STATE", TensorProto.STRING, shape)], opset=20)


def write_several(root: Path):
    """Three states of three types: the sum (INT32), the number (FP32) and the maximum (INT64)."""
    shape = ["batch", 1]
    states = (state("INT32", "1", "zero_data: true", "SUM") + state("FP32", "1", "zero_data: true",
                                                                     "COUNT")
              + state("INT64", "1", "zero_data: true", "MOST"))
    kinds = {"SUM": TensorProto.INT32, "COUNT": TensorProto.FLOAT, "MOST": TensorProto.INT64}
    save(root, "several", 'backend: "onnxruntime"\nmax_batch_size: 4\n'
         + tensor("input", "INPUT", "INT32", 1)
         + tensor("output", "SUM", "INT32", 1) + tensor("output", "COUNT", "FP32", 1)
         + tensor("output", "MOST", "INT64", 1)
         + batching("direct { }", controls="", extra=states) + ONE_CPU,
         [helper.make_node("Add", ["INPUT", "INPUT_SUM"], ["SUM"]),
          helper.make_node("Add", ["INPUT_COUNT", "one"], ["COUNT"]),
          helper.make_node("Cast", ["INPUT"], ["wide"], to=TensorProto.INT64),
          helper.make_node("Max", ["wide", "INPUT_MOST"], ["MOST"])]
         + [helper.make_node("Identity", [n], [f"OUTPUT_{n}"]) for n in kinds],
         [value("INPUT", TensorProto.INT32, shape)]
         + [value(f"INPUT_{n}", k, shape) for n, k in kinds.items()],
         [value(n, k, shape) for n, k in kinds.items()]
         + [value(f"OUTPUT_{n}", k, shape) for n, k in kinds.items()],
         [helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0])])


def write_growing(root: Path, name="growing", extra=""):
    """The state contains every INPUT so far, one element more in each request; OUTPUT returns all
    of them."""
    save(root, name, 'backend: "onnxruntime"\nmax_batch_size: 1\n'
         + tensor("input", "INPUT", "INT32", 1) + tensor("output", "OUTPUT", "INT32", -1)
         + batching(OLDEST, controls=START_FP32, extra=state(extra=extra)) + ONE_CPU,
         [helper.make_node("Concat", ["INPUT_STATE", "INPUT"], ["all"], axis=1),
          helper.make_node("Cast", ["START"], ["wide"], to=TensorProto.INT64),
          helper.make_node("Reshape", ["wide", "flat"], ["skipped"]),
          helper.make_node("Slice", ["all", "skipped", "end", "axis"], ["OUTPUT"]),
          helper.make_node("Identity", ["OUTPUT"], ["OUTPUT_STATE"])],
         [value("INPUT", TensorProto.INT32, ["batch", 1]),
          value("INPUT_STATE", TensorProto.INT32, ["batch", "n"]),
          value("START", TensorProto.FLOAT, ["batch", 1])],
         [value("OUTPUT", TensorProto.INT32, ["batch", "m"]),
          value("OUTPUT_STATE", TensorProto.INT32, ["batch", "m"])],
         [ints("flat", 1), ints("end", 2**62), ints("axis", 1)])


def write_failing(root: Path):
    """OUTPUT = OUTPUT_STATE = 100 / INPUT + INPUT_STATE with a table: an INPUT outside of 0..3
    fails in the middle of the graph. After that the old state must still exist."""
    save(root, "failing", 'backend: "onnxruntime"\nmax_batch_size: 1\n'
         + tensor("input", "INPUT", "INT64", 1) + tensor("output", "OUTPUT", "INT32", 1)
         + batching(OLDEST, controls="", extra=state(dims="1", initial="zero_data: true"))
         + ONE_CPU,
         [helper.make_node("Gather", ["table", "INPUT"], ["found"]),
          helper.make_node("Add", ["found", "INPUT_STATE"], ["OUTPUT"]),
          helper.make_node("Identity", ["OUTPUT"], ["OUTPUT_STATE"])],
         [value("INPUT", TensorProto.INT64, ["batch", 1]),
          value("INPUT_STATE", TensorProto.INT32, ["batch", 1])],
         [value("OUTPUT", TensorProto.INT32, ["batch", 1]),
          value("OUTPUT_STATE", TensorProto.INT32, ["batch", 1])],
         [helper.make_tensor("table", TensorProto.INT32, [4], [1, 10, 100, 1000])])


def write_leaking(root: Path):
    """OUTPUT is the old state: at the start of a sequence it must contain nothing of an earlier
    sequence. The next state is INPUT."""
    shape = ["batch", 4096]
    save(root, "leaking", 'backend: "onnxruntime"\nmax_batch_size: 4\n'
         + tensor("input", "INPUT", "INT32", 4096) + tensor("output", "OUTPUT", "INT32", 4096)
         + batching(OLDEST, controls="", extra=state(dims="4096")) + ONE_CPU,
         [helper.make_node("Identity", ["INPUT_STATE"], ["OUTPUT"]),
          helper.make_node("Identity", ["INPUT"], ["OUTPUT_STATE"])],
         [value("INPUT", TensorProto.INT32, shape), value("INPUT_STATE", TensorProto.INT32, shape)],
         [value("OUTPUT", TensorProto.INT32, shape),
          value("OUTPUT_STATE", TensorProto.INT32, shape)])


def rows_model(root: Path, name, operators: Path, strategy, controls: dict, *, batch=2, count=1):
    """Returns the stateful model of the document's figures: INPUT FP32 [100,100] -> OUTPUT FP32
    [10] (ten times the sum of INPUT), and the values of each control for the whole batch as
    <CONTROL>_ROW."""
    notes = Notes(root.parent / "notes", name)
    nodes = [
        helper.make_node("ReduceSum", ["INPUT", "last_two"], ["sums"], keepdims=0),
        helper.make_node("Unsqueeze", ["sums", "one"], ["columns"]),
        helper.make_node("Hold", ["columns"], ["held"], domain="nereid.test",
                         gate=str(notes.gate), trace=str(notes.trace)),
        helper.make_node("Shape", ["held"], ["rows"], start=0, end=1),
        helper.make_node("Concat", ["rows", "ten"], ["wide"], axis=0),
        helper.make_node("Expand", ["held", "wide"], ["OUTPUT"]),
        helper.make_node("Concat", ["rows", "rows"], ["square"], axis=0),
    ]
    inputs = [value("INPUT", TensorProto.FLOAT, ["batch", 100, 100])]
    outputs = [value("OUTPUT", TensorProto.FLOAT, ["batch", 10])]
    config = (f'backend: "onnxruntime"\nmax_batch_size: {batch}\n'
              + tensor("input", "INPUT", "FP32", 100, 100) + tensor("output", "OUTPUT", "FP32", 10))
    text = ""
    for control, (entry, kind, datatype) in controls.items():
        inputs.append(value(control, kind, ["batch", 1]))
        outputs.append(value(f"{control}_ROW", kind, ["batch", "all"]))
        nodes += [helper.make_node("Reshape", [control, "one_row"], [f"{control}_line"]),
                  helper.make_node("Expand", [f"{control}_line", "square"], [f"{control}_ROW"])]
        config += tensor("output", f"{control}_ROW", datatype, -1)
        text += entry
    config += (batching(strategy, idle=5_000_000, controls=text) + instances(count)
               + f'model_operations {{ op_library_filename: "{operators.name}" }}\n')
    folder = save(root, name, config, nodes, inputs, outputs,
                  [ints("last_two", 1, 2), ints("one", 1), ints("ten", 10), ints("one_row", 1, -1)],
                  domains=["nereid.test"])
    shutil.copy(operators, folder / operators.name)
    return notes


FLOAT_CONTROLS = {"START": (START_FP32, TensorProto.FLOAT, "FP32"),
                  "END": (END_FP32, TensorProto.FLOAT, "FP32"),
                  "READY": (READY_FP32, TensorProto.FLOAT, "FP32"),
                  "CORRID": (CORRID_UINT64, TensorProto.UINT64, "UINT64")}


def write_figures(root: Path, operators: Path) -> dict:
    """The models of the document's two figures; {name: notes}."""
    def some(*names):
        return {name: FLOAT_CONTROLS[name] for name in names}
    return {
        "direct_stateful_model": rows_model(root, "direct_stateful_model", operators, "direct { }",
                                            some("START", "READY")),
        "direct_two_instances": rows_model(root, "direct_two_instances", operators, "direct { }",
                                           some("START", "READY"), count=2),
        "oldest_stateful_model": rows_model(root, "oldest_stateful_model", operators, OLDEST,
                                            some("START", "END", "CORRID")),
    }


def picture(number) -> np.ndarray:
    """Returns an INPUT for the models of the figures whose OUTPUT is ten times `number`."""
    made = np.zeros((1, 100, 100), np.float32)
    made[0, 0, 0] = number
    return made
