#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small ONNX models of the tests: make_models.py OUT [NAME ...]

Each becomes OUT/NAME/1/model.onnx, without a configuration. The same files every time. Needs
nothing but Python.

  mlp              x[batch,64] -> y[batch,10]         two layers with fixed weights
  add_sub_TYPE     INPUT0,INPUT1[batch,16] -> OUTPUT0 (sum), OUTPUT1 (difference);
                   TYPE: fp32 fp64 int32 int64
  copy_TYPE        x[batch,n] -> y[batch,n]           every type of the protocol
  exclaim          x[batch,1] -> y[batch,1]           texts, with "!" put behind
  accumulate       x,state[batch,4] -> y,new_state    y = new_state = x + state
  start_or_add     INPUT[batch,n],START[batch,1],INPUT_STATE[batch,m] of int32 -> OUTPUT,
                   OUTPUT_STATE    both are INPUT where START is 1, else INPUT + INPUT_STATE
  add_state        INPUT[batch,n],INPUT_STATE[batch,m] of int32 -> OUTPUT, OUTPUT_STATE: the sum
  remember         x[batch,n],list[batch,known] -> y[batch,all], new_list    list with x behind it
  append_text      x[batch,1],text[batch,1] -> y[batch,1], new_text    texts put together
  transpose        x[rows,columns] -> y[columns,rows]
  nonzero          x[n] -> y[1,count]                 the size of y depends on the values of x
  promise          x[n] -> y[n]                       but gives the non-zero elements only
  scalar           x[] -> y[]                         doubles
  any_rank         x -> y                             doubles; neither declares a shape
  fixed            x[2,3] -> y[2,3]                   no batching
  gather           index[batch,1] -> y[batch,1,2]     fails for an index outside 0..3
  OP_TYPE          x,by[batch,n] -> y[batch,n]        OP: div mod; TYPE: int8 int32 int64
  drop_rows        x[batch,1] -> y[batch,1]           but leaves out rows of zero: breaks batching
  ragged           rows[batch,1],values[n] -> y[batch,1]   y = rows + the sum of all values
  with_default     x[batch,4],bias[4] -> y[batch,4]   bias has the default 1,2,3,4
  default_row      x[batch,4],bias[batch,4] -> y[batch,4]   bias has the default [[1,2,3,4]]
  describe_TYPE    values[n] and every kind of batch input -> see describe(); TYPE: int32 fp32
  ragged_string    texts[n] -> y[n]                   for a batch output of texts
  shorten          values[n] -> y[kept]               leaves out zeros: a batch output too small
  look             x[batch,a,b] -> y[batch,a,b], seen[batch,2]   seen is [a,b] in each row
  double           x[batch] -> y[batch]
  triple           x[batch,n] -> y[batch,n]           by an operator of the domain nereid.test
  maybe            x[batch,4] of type optional(tensor) -> y[batch,4]
  sequence         x[batch,4] -> y[batch,4], parts    parts is a sequence of tensors
"""

import pathlib
import struct
import sys

import onnx_writer as onnx

TYPES = {
    "bool": onnx.BOOL, "uint8": onnx.UINT8, "uint16": onnx.UINT16, "uint32": onnx.UINT32,
    "uint64": onnx.UINT64, "int8": onnx.INT8, "int16": onnx.INT16, "int32": onnx.INT32,
    "int64": onnx.INT64, "fp16": onnx.FLOAT16, "fp32": onnx.FLOAT, "fp64": onnx.DOUBLE,
    "string": onnx.STRING, "bf16": onnx.BFLOAT16,
}


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def weights(count, seed):
    """Numbers in [-0.125, 0.125) from a linear congruential generator: the same everywhere."""
    out = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2**31
        out.append((seed >> 8) % 4096 / 16384 - 0.125)
    return out


def mlp():
    return onnx.model(
        "mlp",
        [onnx.node("Gemm", ["x", "w1", "b1"], ["h1"]), onnx.node("Relu", ["h1"], ["h2"]),
         onnx.node("Gemm", ["h2", "w2", "b2"], ["y"])],
        [onnx.value("x", onnx.FLOAT, ["batch", 64])],
        [onnx.value("y", onnx.FLOAT, ["batch", 10])],
        [onnx.tensor("w1", onnx.FLOAT, [64, 64], floats(weights(64 * 64, 1))),
         onnx.tensor("b1", onnx.FLOAT, [64], floats(weights(64, 2))),
         onnx.tensor("w2", onnx.FLOAT, [64, 10], floats(weights(64 * 10, 3))),
         onnx.tensor("b2", onnx.FLOAT, [10], floats(weights(10, 4)))])


def add_sub(kind):
    shape = ["batch", 16]
    return onnx.model(
        "add_sub",
        [onnx.node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]),
         onnx.node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"])],
        [onnx.value("INPUT0", kind, shape), onnx.value("INPUT1", kind, shape)],
        [onnx.value("OUTPUT0", kind, shape), onnx.value("OUTPUT1", kind, shape)])


def one_to_one(op, kind, given, made, **attributes):
    return onnx.model("one", [onnx.node(op, ["x"], ["y"], **attributes)],
                      [onnx.value("x", kind, given)], [onnx.value("y", kind, made)])


def two_to_one(op, kind):
    shape = ["batch", "n"]
    return onnx.model("two", [onnx.node(op, ["x", "by"], ["y"])],
                      [onnx.value("x", kind, shape), onnx.value("by", kind, shape)],
                      [onnx.value("y", kind, shape)])


def exclaim():
    return onnx.model(
        "exclaim", [onnx.node("StringConcat", ["x", "mark"], ["y"])],
        [onnx.value("x", onnx.STRING, ["batch", 1])],
        [onnx.value("y", onnx.STRING, ["batch", 1])],
        [onnx.tensor("mark", onnx.STRING, [1], ["!"])], opset=20, ir=9)


def accumulate():
    shape = ["batch", 4]
    return onnx.model(
        "accumulate",
        [onnx.node("Add", ["x", "state"], ["y"]), onnx.node("Identity", ["y"], ["new_state"])],
        [onnx.value("x", onnx.FLOAT, shape), onnx.value("state", onnx.FLOAT, shape)],
        [onnx.value("y", onnx.FLOAT, shape), onnx.value("new_state", onnx.FLOAT, shape)])


def start_or_add():
    state = onnx.value("INPUT_STATE", onnx.INT32, ["batch", "m"])
    return onnx.model(
        "start_or_add",
        [onnx.node("Add", ["INPUT", "INPUT_STATE"], ["sum"]),
         onnx.node("Cast", ["START"], ["starts"], to=onnx.BOOL),
         onnx.node("Where", ["starts", "INPUT", "sum"], ["OUTPUT"]),
         onnx.node("Identity", ["OUTPUT"], ["OUTPUT_STATE"])],
        [onnx.value("INPUT", onnx.INT32, ["batch", "n"]),
         onnx.value("START", onnx.INT32, ["batch", 1]), state],
        [onnx.value("OUTPUT", onnx.INT32, ["batch", "k"]),
         onnx.value("OUTPUT_STATE", onnx.INT32, ["batch", "k"])])


def add_state():
    return onnx.model(
        "add_state",
        [onnx.node("Add", ["INPUT", "INPUT_STATE"], ["OUTPUT"]),
         onnx.node("Identity", ["OUTPUT"], ["OUTPUT_STATE"])],
        [onnx.value("INPUT", onnx.INT32, ["batch", "n"]),
         onnx.value("INPUT_STATE", onnx.INT32, ["batch", "m"])],
        [onnx.value("OUTPUT", onnx.INT32, ["batch", "k"]),
         onnx.value("OUTPUT_STATE", onnx.INT32, ["batch", "k"])])


def remember():
    return onnx.model(
        "remember",
        [onnx.node("Concat", ["list", "x"], ["y"], axis=1),
         onnx.node("Identity", ["y"], ["new_list"])],
        [onnx.value("x", onnx.FLOAT, ["batch", "n"]),
         onnx.value("list", onnx.FLOAT, ["batch", "known"])],
        [onnx.value("y", onnx.FLOAT, ["batch", "all"]),
         onnx.value("new_list", onnx.FLOAT, ["batch", "all"])])


def append_text():
    shape = ["batch", 1]
    return onnx.model(
        "append_text",
        [onnx.node("StringConcat", ["text", "x"], ["y"]),
         onnx.node("Identity", ["y"], ["new_text"])],
        [onnx.value("x", onnx.STRING, shape), onnx.value("text", onnx.STRING, shape)],
        [onnx.value("y", onnx.STRING, shape), onnx.value("new_text", onnx.STRING, shape)],
        opset=20, ir=9)


def nonzero():
    return onnx.model("nonzero", [onnx.node("NonZero", ["x"], ["y"])],
                      [onnx.value("x", onnx.FLOAT, ["n"])],
                      [onnx.value("y", onnx.INT64, [1, "count"])])


def promise():
    return onnx.model(
        "promise",
        [onnx.node("Cast", ["x"], ["keep"], to=onnx.BOOL),
         onnx.node("Compress", ["x", "keep"], ["y"], axis=0)],
        [onnx.value("x", onnx.FLOAT, ["n"])], [onnx.value("y", onnx.FLOAT, ["n"])])


def scalar():
    return onnx.model("scalar", [onnx.node("Add", ["x", "x"], ["y"])],
                      [onnx.value("x", onnx.INT64, [])], [onnx.value("y", onnx.INT64, [])])


def any_rank():
    return onnx.model("any_rank", [onnx.node("Add", ["x", "x"], ["y"])],
                      [onnx.value("x", onnx.FLOAT, None)], [onnx.value("y", onnx.FLOAT, None)])


def gather():
    return onnx.model(
        "gather", [onnx.node("Gather", ["table", "index"], ["y"], axis=0)],
        [onnx.value("index", onnx.INT64, ["batch", 1])],
        [onnx.value("y", onnx.FLOAT, ["batch", 1, 2])],
        [onnx.tensor("table", onnx.FLOAT, [4, 2], floats([0, 1, 10, 11, 20, 21, 30, 31]))])


def drop_rows():
    return onnx.model(
        "drop_rows",
        [onnx.node("Cast", ["x"], ["truth"], to=onnx.BOOL),
         onnx.node("Squeeze", ["truth", "axes"], ["keep"]),
         onnx.node("Compress", ["x", "keep"], ["y"], axis=0)],
        [onnx.value("x", onnx.FLOAT, ["batch", 1])], [onnx.value("y", onnx.FLOAT, ["batch", 1])],
        [onnx.tensor("axes", onnx.INT64, [1], struct.pack("<q", 1))])


def ragged():
    return onnx.model(
        "ragged",
        [onnx.node("ReduceSum", ["values"], ["sum"], keepdims=1),
         onnx.node("Add", ["rows", "sum"], ["y"])],
        [onnx.value("rows", onnx.FLOAT, ["batch", 1]), onnx.value("values", onnx.FLOAT, ["n"])],
        [onnx.value("y", onnx.FLOAT, ["batch", 1])])


def with_default():
    return onnx.model(
        "with_default", [onnx.node("Add", ["x", "bias"], ["y"])],
        [onnx.value("x", onnx.FLOAT, ["batch", 4]), onnx.value("bias", onnx.FLOAT, [4])],
        [onnx.value("y", onnx.FLOAT, ["batch", 4])],
        [onnx.tensor("bias", onnx.FLOAT, [4], floats([1, 2, 3, 4]))])


def default_row():
    shape = ["batch", 4]
    return onnx.model(
        "default_row", [onnx.node("Add", ["x", "bias"], ["y"])],
        [onnx.value("x", onnx.FLOAT, shape), onnx.value("bias", onnx.FLOAT, shape)],
        [onnx.value("y", onnx.FLOAT, shape)],
        [onnx.tensor("bias", onnx.FLOAT, [1, 4], floats([1, 2, 3, 4]))])


def describe(kind):
    """Shows the batch inputs to the clients: one row for each request, if all are of batch size 1.

    values[n], count[requests], ends[requests], bounds[requests+1], widest[w], shapes[items,rank],
    flat[items*rank] -> doubled[n] (2 * values), sums (of each request's values), out_count, out_end,
    out_begin, out_shape, out_flat and out_widest, all [batch,1].
    """
    def ints(name, *numbers):
        return onnx.tensor(name, onnx.INT64, [len(numbers)], struct.pack(f"<{len(numbers)}q",
                                                                          *numbers))
    made = ["count", "ends", "bounds", "widest", "flat"]
    column = ["batch", 1]
    return onnx.model(
        "describe",
        [onnx.node("Add", ["values", "values"], ["doubled"]),
         onnx.node("CumSum", ["values", "axis"], ["totals"]),
         onnx.node("Concat", ["nothing", "totals"], ["totals_from_0"], axis=0),
         onnx.node("Cast", ["bounds"], ["places"], to=onnx.INT64),
         onnx.node("Slice", ["places", "one", "last"], ["after"]),
         onnx.node("Slice", ["places", "zero", "minus_one"], ["before"]),
         onnx.node("Gather", ["totals_from_0", "after"], ["until_after"]),
         onnx.node("Gather", ["totals_from_0", "before"], ["until_before"]),
         onnx.node("Sub", ["until_after", "until_before"], ["row_sums"]),
         onnx.node("Unsqueeze", ["row_sums", "one"], ["sums"]),
         onnx.node("Unsqueeze", ["count", "one"], ["out_count"]),
         onnx.node("Unsqueeze", ["ends", "one"], ["out_end"]),
         onnx.node("Slice", ["bounds", "zero", "minus_one"], ["begins"]),
         onnx.node("Unsqueeze", ["begins", "one"], ["out_begin"]),
         onnx.node("Identity", ["shapes"], ["out_shape"]),
         onnx.node("Unsqueeze", ["flat", "one"], ["out_flat"]),
         onnx.node("Shape", ["widest"], ["width"]),
         onnx.node("Shape", ["out_count"], ["out_dims"]),
         onnx.node("Expand", ["width", "out_dims"], ["out_widest"])],
        [onnx.value("values", onnx.FLOAT, ["n"])] +
        [onnx.value(name, kind, ["of_" + name]) for name in made] +
        [onnx.value("shapes", kind, ["items", "rank"])],
        [onnx.value("doubled", onnx.FLOAT, ["n"]), onnx.value("sums", onnx.FLOAT, column)] +
        [onnx.value(name, kind, column)
         for name in ("out_count", "out_end", "out_begin", "out_shape", "out_flat")] +
        [onnx.value("out_widest", onnx.INT64, column)],
        [ints("one", 1), ints("zero", 0), ints("minus_one", -1), ints("last", 2**62),
         onnx.tensor("axis", onnx.INT64, [], struct.pack("<q", 0)),
         onnx.tensor("nothing", onnx.FLOAT, [1], floats([0]))])


def ragged_string():
    return onnx.model("ragged_string", [onnx.node("Identity", ["texts"], ["y"])],
                      [onnx.value("texts", onnx.STRING, ["n"])],
                      [onnx.value("y", onnx.STRING, ["n"])])


def shorten():
    return onnx.model(
        "shorten",
        [onnx.node("Cast", ["values"], ["keep"], to=onnx.BOOL),
         onnx.node("Compress", ["values", "keep"], ["y"], axis=0)],
        [onnx.value("values", onnx.FLOAT, ["n"])], [onnx.value("y", onnx.FLOAT, ["kept"])])


def look():
    return onnx.model(
        "look",
        [onnx.node("Identity", ["x"], ["y"]), onnx.node("Shape", ["x"], ["dims"], start=1),
         onnx.node("Shape", ["x"], ["rows"], end=1),
         onnx.node("Concat", ["rows", "two"], ["target"], axis=0),
         onnx.node("Expand", ["dims", "target"], ["seen"])],
        [onnx.value("x", onnx.FLOAT, ["batch", "a", "b"])],
        [onnx.value("y", onnx.FLOAT, ["batch", "a", "b"]),
         onnx.value("seen", onnx.INT64, ["batch", 2])],
        [onnx.tensor("two", onnx.INT64, [1], struct.pack("<q", 2))])


def double():
    return onnx.model("double", [onnx.node("Add", ["x", "x"], ["y"])],
                      [onnx.value("x", onnx.FLOAT, ["batch"])],
                      [onnx.value("y", onnx.FLOAT, ["batch"])])


def triple():
    return onnx.model("triple", [onnx.node("Triple", ["x"], ["y"], domain="nereid.test")],
                      [onnx.value("x", onnx.FLOAT, ["batch", "n"])],
                      [onnx.value("y", onnx.FLOAT, ["batch", "n"])], domains=["nereid.test"])


def maybe():
    return onnx.model("maybe", [onnx.node("OptionalGetElement", ["x"], ["y"])],
                      [onnx.optional("x", onnx.FLOAT, ["batch", 4])],
                      [onnx.value("y", onnx.FLOAT, ["batch", 4])])


def sequence():
    return onnx.model(
        "sequence",
        [onnx.node("Identity", ["x"], ["y"]),
         onnx.node("SplitToSequence", ["x"], ["parts"], axis=0)],
        [onnx.value("x", onnx.FLOAT, ["batch", 4])],
        [onnx.value("y", onnx.FLOAT, ["batch", 4]), onnx.sequence("parts", onnx.FLOAT)])


MODELS = {
    "mlp": mlp, "exclaim": exclaim, "accumulate": accumulate, "nonzero": nonzero,
    "promise": promise, "scalar": scalar, "any_rank": any_rank, "gather": gather, "drop_rows": drop_rows,
    "ragged": ragged, "with_default": with_default, "sequence": sequence,
    "default_row": default_row, "ragged_string": ragged_string, "shorten": shorten, "look": look,
    "double": double, "triple": triple, "maybe": maybe,
    "start_or_add": start_or_add, "add_state": add_state, "remember": remember,
    "append_text": append_text,
    "describe_int32": lambda: describe(onnx.INT32), "describe_fp32": lambda: describe(onnx.FLOAT),
    "transpose": lambda: one_to_one("Transpose", onnx.FLOAT, ["rows", "columns"],
                                    ["columns", "rows"]),
    "fixed": lambda: one_to_one("Identity", onnx.FLOAT, [2, 3], [2, 3]),
}
for _name, _kind in TYPES.items():
    MODELS["copy_" + _name] = lambda kind=_kind: one_to_one("Identity", kind, ["batch", "n"],
                                                            ["batch", "n"])
for _op in ("Div", "Mod"):
    for _name in ("int8", "int32", "int64"):
        MODELS[f"{_op.lower()}_{_name}"] = lambda op=_op, kind=TYPES[_name]: two_to_one(op, kind)
for _name in ("fp32", "fp64", "int32", "int64"):
    MODELS["add_sub_" + _name] = lambda kind=TYPES[_name]: add_sub(kind)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    wanted = sys.argv[2:] or list(MODELS)
    for name in wanted:
        if name not in MODELS:
            sys.exit(f"make_models: no model '{name}'; there are: {', '.join(sorted(MODELS))}")
        folder = pathlib.Path(sys.argv[1]) / name / "1"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(MODELS[name]())


if __name__ == "__main__":
    main()
