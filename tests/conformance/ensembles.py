# SPDX-License-Identifier: Apache-2.0
"""Configurations of ensembles, and the repository of test_ensembles.py."""

import models
from onnx import TensorProto, helper


def step(model, inputs, outputs, version=-1):
    """`inputs` and `outputs` map the model's tensors to the ensemble's tensors."""
    maps = "".join(f' input_map {{ key: "{k}" value: "{v}" }}' for k, v in inputs.items())
    maps += "".join(f' output_map {{ key: "{k}" value: "{v}" }}' for k, v in outputs.items())
    return f'  step {{ model_name: "{model}" model_version: {version}{maps} }}\n'


def tensors(kind, described, extra=""):
    """`described` maps names to (datatype, dims)."""
    return "".join(models._tensor(kind, name, datatype, dims, extra)
                   for name, (datatype, dims) in described.items())


def ensemble(name, steps, inputs, outputs, *, batch=0, extra="", limit=0):
    text = f'name: "{name}"\nplatform: "ensemble"\nmax_batch_size: {batch}\n'
    text += tensors("input", inputs) + tensors("output", outputs) + extra
    bound = f"  max_inflight_requests: {limit}\n" if limit else ""
    return text + "ensemble_scheduling {\n" + "".join(steps) + bound + "}\n"


def write_ensemble(root, name, *args, **kwargs):
    folder = root / name
    (folder / "1").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(ensemble(name, *args, **kwargs))


X = {"x": ("INT32", [4])}
Y = {"y": ("INT32", [4])}


def chain(*names):
    """Returns steps that pass x through these identity models to y."""
    inner = ["x"] + [f"t{i}" for i in range(len(names) - 1)] + ["y"]
    return [step(model, {"INPUT0": inner[i]}, {"OUTPUT0": inner[i + 1]})
            for i, model in enumerate(names)]


def add_graph():
    """Returns the graph of a model with C = A + B and D = A - B."""
    dims = ["batch", 4]
    a, b, c, d = (helper.make_tensor_value_info(n, TensorProto.INT32, dims) for n in "ABCD")
    return helper.make_graph([helper.make_node("Add", ["A", "B"], ["C"]),
                              helper.make_node("Sub", ["A", "B"], ["D"])],
                             "add", [a, b], [c, d])


def write(root, bounded=True):
    """`bounded` adds an ensemble with a field that Triton 2.51 does not have."""
    repository = models.Repository(root)
    one = models.ONE_CPU_INSTANCE
    for name in ("a", "b", "c"):
        repository.identity(name, [("INT32", [4])], batch=8, extra=one)
    repository.identity("fixed", [("INT32", [4])], extra=one)
    repository.identity("rows", [("INT32", [-1, 4])], extra=one)
    repository.identity("slow", [("INT32", [4])], batch=8, extra=one +
                        'parameters { key: "execute_delay_ms" value: { string_value: "300" } }\n')
    repository.identity("optional", [("INT32", [4]), ("INT32", [4])], batch=8, extra=one,
                        tensor_extra=(("", ""), ("optional: true", "")))
    repository.identity("echo", [("INT32", [4])], batch=8, extra=one +
                        'parameters { key: "echo_parameters" value: { string_value: "true" } }\n')
    repository.onnx("add", add_graph(), 'backend: "onnxruntime"\nmax_batch_size: 8\n' + one)
    four = dict(batch=8)
    write_ensemble(root, "pipeline", chain("a", "b", "c")[::-1], X, Y, **four)
    write_ensemble(root, "diamond", [
        step("a", {"INPUT0": "x"}, {"OUTPUT0": "left"}),
        step("b", {"INPUT0": "x"}, {"OUTPUT0": "right"}),
        step("add", {"A": "left", "B": "right"}, {"C": "y", "D": "z"}),
    ], X, {**Y, "z": ("INT32", [4])}, **four)
    write_ensemble(root, "outer", [
        step("pipeline", {"x": "x"}, {"y": "inner"}),
        step("diamond", {"x": "inner"}, {"y": "y"}),
    ], X, Y, **four)
    write_ensemble(root, "two", [
        step("a", {"INPUT0": "x"}, {"OUTPUT0": "y"}),
        step("b", {"INPUT0": "x"}, {"OUTPUT0": "z"}),
    ], X, {**Y, "z": ("INT32", [4])}, **four)
    write_ensemble(root, "to_fixed", chain("a", "fixed"), X, Y, **four)
    write_ensemble(root, "to_rows", chain("a", "rows"), X, Y, **four)
    write_ensemble(root, "from_fixed", chain("fixed", "a"), X, Y)
    if bounded:
        write_ensemble(root, "bounded", chain("slow", "a"), X, Y, limit=1, **four)
    write_ensemble(root, "twice", [
        step("add", {"A": "x", "B": "x"}, {"C": "y"})], X, Y, **four)
    write_ensemble(root, "maybe", [
        step("optional", {"INPUT0": "x", "INPUT1": "w"}, {"OUTPUT0": "y", "OUTPUT1": "z"}),
    ], X, {**Y, "z": ("INT32", [4])}, extra=models._tensor("input", "w", "INT32", [4],
                                                          "optional: true"), **four)
    write_ensemble(root, "failing", chain("a", "echo", "b"), X, Y, **four)
