#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the TorchScript models of the tests and what PyTorch itself computes with them.

    make_models.py FOLDER            the models of this PyTorch (made with 2.15)
    make_models.py FOLDER --old      saved_by_1_13: the same by PyTorch 1.13

Run by hand, not by the build: the files lie beside this one. A model is a folder that can be served
as it is: config.pbtxt and 1/model.pt, and cases.json beside them: requests and their answers.
"""

import argparse
import json
import sys
from pathlib import Path

import modules
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ragged_batches  # noqa: E402

TYPES = {"BOOL": torch.bool, "UINT8": torch.uint8, "INT8": torch.int8, "INT16": torch.int16,
         "INT32": torch.int32, "INT64": torch.int64, "FP16": torch.float16,
         "FP32": torch.float32, "FP64": torch.float64, "BF16": torch.bfloat16}
NAMES = {torch_type: name for name, torch_type in TYPES.items()}


def described(value, batching):
    """Returns a tensor or a list of texts in the form of cases.json."""
    if isinstance(value, torch.Tensor):
        shape = list(value.shape) or [1]
        numbers = value.detach().to(torch.float64 if value.is_floating_point() else torch.int64)
        return {"datatype": NAMES[value.dtype], "shape": shape,
                "data": numbers.reshape(-1).tolist()}
    return {"datatype": "BYTES", "shape": [len(value)] + ([1] if batching else []), "data": value}


def tensors_text(kind, tensors):
    """tensors: (name, data type, dims, further fields)."""
    text = ""
    for name, data_type, dims, *more in tensors:
        text += (f'{kind} {{ name: "{name}" data_type: TYPE_{data_type} '
                 f"dims: {json.dumps(dims)} {' '.join(more)}}}\n")
    return text


class Model:
    """A model's folder. `calls` are the requests, each a dictionary of inputs by name; `order` is
    the order of the arguments of forward."""

    def __init__(self, root, name, module, inputs, outputs, *, batch=0, more="", order=None,
                 results=None):
        self.folder = Path(root) / name
        self.module, self.batch = module, batch
        self.inputs = [entry[0] for entry in inputs]
        self.order = order or self.inputs
        self.results = results or [entry[0] for entry in outputs]
        self.cases = []
        (self.folder / "1").mkdir(parents=True, exist_ok=True)
        (self.folder / "config.pbtxt").write_text(
            f'platform: "pytorch_libtorch"\nmax_batch_size: {batch}\n'
            + tensors_text("input", inputs) + tensors_text("output", outputs) + more)
        torch.jit.save(module, self.folder / "1" / "model.pt")

    def case(self, inputs, **more):
        with torch.no_grad():
            fresh = [x.clone() if isinstance(x, torch.Tensor) else x
                     for x in (inputs[n] for n in self.order if n in inputs)]
            returned = self.module(*fresh)
        if not isinstance(returned, (tuple, dict)) and len(self.results) == 1:
            returned = [returned]
        if not isinstance(returned, dict):
            returned = dict(zip(self.results, returned))
        self.cases.append({
            "inputs": {n: described(v, self.batch) for n, v in inputs.items()},
            "outputs": {n: described(v, self.batch) for n, v in returned.items()}, **more})
        return returned

    def write(self, file="cases.json"):
        (self.folder / file).write_text(
            "[\n" + ",\n".join(json.dumps(case) for case in self.cases) + "\n]\n")


def scripted(module):
    return torch.jit.script(module.eval())


def pair(rows, columns, scale=1.0):
    first = torch.arange(rows * columns, dtype=torch.float32).reshape(rows, columns) * scale
    return first, first.flip(1) / 3


def make_naming(root):
    """Makes models for the ways in which names are assigned to arguments and results."""
    fp32 = ("FP32", [4])
    add = scripted(modules.AddSub())
    for name, inputs, outputs, order, results in [
        ("by_place", ["INPUT__0", "INPUT__1"], ["OUTPUT__0", "OUTPUT__1"], None, None),
        # The order in the configuration differs from that of forward.
        ("by_place_crossed", ["b__1", "a__0"], ["difference__1", "sum__0"], ["a__0", "b__1"],
         ["sum__0", "difference__1"]),
        ("by_argument", ["second", "first"], ["sum__0", "difference__1"], ["first", "second"], None),
        ("by_order", ["left", "right"], ["sum", "difference"], None, None),
        # Only some names contain a position, so positions are not used.
        ("by_order_mixed", ["left__1", "right"], ["sum__1", "difference"], None, None)]:
        model = Model(root, name, add, [(n, *fp32) for n in inputs], [(n, *fp32) for n in outputs],
                      batch=8, order=order, results=results,
                      more="dynamic_batching { }\n" if name == "by_place" else "")
        for rows in (1, 3):
            first, second = pair(rows, 4)
            at = order or inputs
            model.case({at[0]: first, at[1]: second})
        model.write()

    model = Model(root, "one_output_of_two", add, [(n, *fp32) for n in ("INPUT__0", "INPUT__1")],
                  [("difference__1", *fp32)], batch=8, results=["not asked for", "difference__1"])
    first, second = pair(2, 4)
    model.case({"INPUT__0": first, "INPUT__1": second})
    del model.cases[0]["outputs"]["not asked for"]
    model.write()

    optional = Model(root, "defaults", scripted(modules.Scale()),
                     [("weight", *fp32), ("bias", *fp32, "optional: true "), ("x", *fp32)],
                     [("OUTPUT__0", *fp32)], order=["x", "weight", "bias"])
    x, weight = torch.tensor([1.0, 2, 3, 4]), torch.tensor([2.0, 0, -1, 0.5])
    optional.case({"x": x, "weight": weight, "bias": torch.ones(4)})
    optional.case({"x": x, "weight": weight})
    optional.write()


def make_containers(root):
    into = Model(root, "dictionary_in", scripted(modules.DictionaryIn()),
                 [("a", "FP32", [2]), ("b", "FP32", [2])],
                 [("product", "FP32", [2]), ("sum", "FP32", [2])], batch=4)
    a, b = pair(2, 2)
    answer = into.module({"a": a, "b": b})
    into.cases.append({"inputs": {"a": described(a, 4), "b": described(b, 4)},
                       "outputs": {n: described(v, 4) for n, v in answer.items()}})
    into.write()

    out = Model(root, "dictionary_out", scripted(modules.DictionaryOut()), [("x", "FP32", [4])],
                [("place", "INT64", [1], "reshape { shape: [ ] } "),
                 ("rest", "FP32", [3]),
                 ("largest", "FP32", [1], "reshape { shape: [ ] } ")], batch=4)
    out.case({"x": pair(3, 4)[1]})
    for name in ("place", "largest"):  # the reshape, seen from outside
        out.cases[0]["outputs"][name]["shape"].append(1)
    out.write()

    casts = Model(root, "casts", scripted(modules.Casts()), [("x", "FP32", [-1])],
                  [(f"{n}__{i}", n, [-1]) for i, n in enumerate(TYPES)],
                  results=[f"{n}__{i}" for i, n in enumerate(TYPES)])
    answer = casts.module(torch.tensor([0.0, 1, 2, 100, 0.5]))
    casts.cases.append({
        "inputs": {"x": described(torch.tensor([0.0, 1, 2, 100, 0.5]), 0)},
        "outputs": {n: described(v, 0) for n, v in zip(casts.results, answer)}})
    casts.write()


def make_types(root):
    """One model, a case for each data type; the test writes the configurations."""
    echo = Model(root, "echo", scripted(modules.Echo()), [("x", "FP32", [-1])],
                 [("OUTPUT__0", "FP32", [-1])])
    for name, kind in TYPES.items():
        numbers = [0, 1, 1] if name == "BOOL" else [0, 1, 2, 60]
        if name not in ("BOOL", "UINT8"):
            numbers.append(-3)
        echo.case({"x": torch.tensor(numbers).to(kind)})
        echo.case({"x": torch.zeros(0, dtype=kind)})
    echo.write()


def make_texts(root):
    words = ["", "one", "zwei", "trois mille", "四"]
    for name, batch, dims in (("texts", 0, [-1]), ("texts_batch", 8, [1])):
        model = Model(root, name, scripted(modules.Texts()), [("texts", "STRING", dims)],
                      [("OUTPUT__0", "STRING", dims),
                       ("length__1", "INT64", [1] if batch else [-1, 1])], batch=batch,
                      more="dynamic_batching { }\n" if batch else "")
        for part in (words, words[1:2]):
            texts, lengths = model.module(part)
            model.cases.append({
                "inputs": {"texts": described(part, batch)},
                "outputs": {"OUTPUT__0": described(texts, batch),
                            "length__1": described(lengths, batch)}})
        model.write()
    only = Model(root, "only_texts", scripted(modules.OnlyTexts()), [("t", "STRING", [-1])],
                 [("out", "STRING", [-1])])
    only.cases.append({"inputs": {"t": described(words, 0)},
                       "outputs": {"out": described(only.module(words), 0)}})
    only.write()


def make_networks(root):
    torch.manual_seed(7)
    image = torch.rand(2, 3, 8, 8)
    convolution = modules.Convolution().eval()
    for name, module in (("convolution", scripted(convolution)),
                         ("convolution_traced", torch.jit.trace(convolution, image)),
                         ("convolution_frozen", torch.jit.freeze(scripted(convolution)))):
        model = Model(root, name, module, [("image__0", "FP32", [3, 8, 8])],
                      [("OUTPUT__0", "FP32", [10])], batch=4)
        model.case({"image__0": image})
        model.case({"image__0": torch.rand(1, 3, 8, 8)})
        model.write()

    loop = Model(root, "collatz", scripted(modules.Collatz()), [("start", "INT64", [1])],
                 [("steps__0", "INT64", [1]), ("seen__1", "INT64", [-1])])
    for start in (1, 6, 27):
        loop.case({"start": torch.tensor([start])})
    loop.write()

    dense = Model(root, "dense", scripted(modules.Dense()), [("x", "FP32", [16])],
                  [("OUTPUT__0", "FP32", [16])], batch=8,
                  more='parameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "1" } }\n')
    dense.case({"x": pair(1, 16)[0]})
    dense.write()

    sizes = Model(root, "product", scripted(modules.Sizes()), [("x", "FP32", [-1, -1])],
                  [("OUTPUT__0", "FP32", [-1, -1])])
    sizes.case({"x": torch.eye(3) * 2})
    sizes.write()


RAGGED_KINDS = {"count": "ELEMENT_COUNT", "ends": "ACCUMULATED_ELEMENT_COUNT",
                "bounds": "ACCUMULATED_ELEMENT_COUNT_WITH_ZERO",
                "widest": "MAX_ELEMENT_COUNT_AS_SHAPE", "shapes": "ITEM_SHAPE",
                "flat": "ITEM_SHAPE_FLATTEN"}


def make_ragged(root):
    """batches.json has the batch of the requests in each order, as forward gets it."""
    derived = "".join(
        f'batch_input {{ kind: BATCH_{kind} target_name: "{name}" data_type: TYPE_INT32 '
        f'source_input: "values" }}\n' for name, kind in RAGGED_KINDS.items())
    model = Model(root, "ragged", scripted(modules.Ragged()),
                  [("values", "FP32", [-1], "allow_ragged_batch: true ")],
                  [("doubled", "FP32", [-1])]
                  + [(name, "FP32" if name == "sums" else "INT32", [1])
                     for name in ragged_batches.COLUMNS],
                  batch=8, order=list(ragged_batches.batch(range(1))), more=derived
                  + 'batch_output { kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: "doubled" '
                  'source_input: "values" }\n')
    for order in ragged_batches.ORDERS:
        model.case({name: torch.from_numpy(value)
                    for name, value in ragged_batches.batch(order).items()})
    model.write("batches.json")


STATES = """sequence_batching {{ {strategy} max_sequence_idle_microseconds: 60000000
  state {{ input_name: "h{h}" output_name: "hn{hn}" data_type: TYPE_FP32 dims: [ 1, 5 ]
    initial_state {{ name: "zero" data_type: TYPE_FP32 dims: [ 1, 5 ] zero_data: true }} }}
  state {{ input_name: "c{c}" output_name: "cn{cn}" data_type: TYPE_FP32 dims: [ 1, 5 ]
    initial_state {{ name: "zero" data_type: TYPE_FP32 dims: [ 1, 5 ] zero_data: true }} }} }}
"""


def make_sequences(root):
    torch.manual_seed(11)
    module = scripted(modules.Recurrent())
    for name, strategy, x, h, c, y, hn, cn in [
        ("recurrent", "oldest { max_candidate_sequences: 4 }", "x", "", "", "y__0", "__1", "__2"),
        ("recurrent_direct", "direct { }", "INPUT__0", "__1", "__2", "y__0", "__1", "__2")]:
        model = Model(root, name, module, [(x, "FP32", [-1, 4])], [(y, "FP32", [-1, 5])], batch=4,
                      more=STATES.format(strategy=strategy, h=h, c=c, hn=hn, cn=cn))
        for sequence in (1, 2):
            state = torch.zeros(1, 1, 5), torch.zeros(1, 1, 5)
            for place in range(3):
                value = torch.rand(1, 2, 4)
                with torch.no_grad():
                    answer, *state = module(value, *state)
                model.cases.append({"inputs": {x: described(value, 4)},
                                    "outputs": {y: described(answer, 4)}, "sequence": sequence,
                                    "start": place == 0, "end": place == 2})
        model.write()

    controls = "".join(
        f'control_input {{ name: "{name}" control {{ kind: CONTROL_SEQUENCE_{name.upper()} '
        f"{values} }} }}\n"
        for name, values in [("start", "int32_false_true: [ 0, 1 ]"),
                             ("ready", "bool_false_true: [ false, true ]"),
                             ("end", "fp32_false_true: [ 0, 1 ]"),
                             ("corrid", "data_type: TYPE_INT64")])
    total = Model(root, "accumulator", scripted(modules.Accumulator()), [("value", "INT64", [1])],
                  [("sum__0", "INT64", [1]), ("controls__1", "INT64", [4])], batch=4,
                  more=f"""sequence_batching {{ direct {{ }} max_sequence_idle_microseconds: 60000000
{controls}state {{ input_name: "total" output_name: "total__2" data_type: TYPE_INT64 dims: [ 1 ]
  initial_state {{ name: "none" data_type: TYPE_INT64 dims: [ 1 ] zero_data: true }} }} }}
""")
    for place, value in enumerate((3, 4, -9)):
        total.cases.append({
            "inputs": {"value": described(torch.tensor([[value]]), 4)},
            "outputs": {"sum__0": described(torch.tensor([[(3, 7, -2)[place]]]), 4),
                        "controls__1": described(
                            torch.tensor([[place == 0, 1, place == 2, 5]]).long(), 4)},
            "sequence": 5, "start": place == 0, "end": place == 2})
    total.write()


def make_odd(root):
    any_row = [("x", "FP32", [-1])]
    raises = Model(root, "raises", scripted(modules.Raises()), [("x", "FP32", [2])],
                   [("OUTPUT__0", "FP32", [2])], batch=8,
                   more="dynamic_batching { max_queue_delay_microseconds: 200000 "
                        "preferred_batch_size: [ 8 ] }\n")
    raises.case({"x": torch.tensor([[4.0, 9.0]])})
    raises.write()
    views = Model(root, "views", scripted(modules.Views()), [("x", "FP32", [-1, -1])],
                  [("transposed__0", "FP32", [-1, -1]), ("every_second__1", "FP32", [-1, -1]),
                   ("repeated__2", "FP32", [-1, 3]), ("itself__3", "FP32", [-1, -1])])
    views.case({"x": torch.arange(10.0).reshape(2, 5)})
    views.case({"x": torch.zeros(0, 5)})
    views.write()
    for name, module, batch in (("whole_batch", modules.WholeBatch(), 4), ("keeps", modules.Keeps(), 0),
                                ("in_place", modules.InPlace(), 0), ("same", modules.Same(), 0)):
        model = Model(root, name, scripted(module), any_row, [("OUTPUT__0", "FP32", [-1])],
                      batch=batch)
        if batch == 0:
            model.case({"x": torch.tensor([1.0, 2.0])})
        if name == "keeps":
            model.case({"x": torch.tensor([3.0])})
        model.write()
    Model(root, "odd", scripted(modules.Odd()), [("kind", "INT64", [1])],
          [("OUTPUT__0", "FP32", [-1])])
    Model(root, "mixed", scripted(modules.Mixed()), any_row, [("OUTPUT__1", "FP32", [-1])])
    Model(root, "number", scripted(modules.Number()), any_row, [("OUTPUT__0", "INT64", [1])])
    Model(root, "wants_number", scripted(modules.WantsNumber()),
          any_row + [("times", "INT64", [1])], [("OUTPUT__0", "FP32", [-1])])
    Model(root, "wants_text", scripted(modules.WantsText()),
          any_row + [("mode", "INT64", [1])], [("OUTPUT__0", "FP32", [-1])])
    Model(root, "tensor_list", scripted(modules.TensorList()), any_row,
          [("OUTPUT__0", "FP32", [-1])])
    Model(root, "no_forward", scripted(modules.NoForward()), any_row, [("OUTPUT__0", "FP32", [-1])])
    open_outputs = Model(root, "open_outputs", scripted(modules.Variable()),
                         [("count", "INT64", [1])], [])
    for count in (1, 3):
        answer = open_outputs.module(torch.tensor([count]))
        open_outputs.cases.append({
            "inputs": {"count": described(torch.tensor([count]), 0)},
            "outputs": {f"OUTPUT__{i}": described(v, 0) for i, v in enumerate(answer)}})
    open_outputs.write()


def make_old(root):
    torch.manual_seed(3)
    model = Model(root, "saved_by_1_13", scripted(modules.Convolution()),
                  [("image", "FP32", [3, 8, 8])], [("OUTPUT__0", "FP32", [10])], batch=4)
    model.case({"image": torch.rand(3, 3, 8, 8)})
    model.write()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--old", action="store_true")
    options = parser.parse_args()
    if options.old:
        make_old(options.folder)
        return
    for make in (make_naming, make_containers, make_types, make_texts, make_networks,
                 make_sequences, make_ragged, make_odd):
        make(options.folder)


if __name__ == "__main__":
    sys.exit(main())
