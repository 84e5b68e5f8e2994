# SPDX-License-Identifier: Apache-2.0
"""Valid and invalid configurations of ensembles for test_ensemble_cases.py.

Each Case is one ensemble. The ensemble either does not load, or it answers the requests of the
case. The same is true for Triton 2.51, except for the cases in intended_differences.toml.
"""

from dataclasses import dataclass, field

import models
from config_models import put_plugin
from ensembles import X, Y, add_graph, chain, ensemble, step, tensors
from onnx import TensorProto, helper
from sequences import batching

ROW = [1, 2, 3, 4]
Z = {"z": ("INT32", [4])}


@dataclass
class Ask:
    """One request. `inputs` and `wants` map names to nested lists; `fails` is a part of the
    message."""
    inputs: dict = field(default_factory=lambda: {"x": [ROW]})
    wants: dict | None = None
    fails: str = ""
    outputs: list | None = None
    options: dict = field(default_factory=dict)
    stream: list | None = None  # what y holds in each response on a stream
    types: dict = field(default_factory=dict)  # of inputs that are not INT32


@dataclass
class Case:
    name: str
    steps: list
    asks: list = field(default_factory=list)
    loads: str = ""  # part of the message that a load fails with
    inputs: dict = field(default_factory=lambda: X)
    outputs: dict = field(default_factory=lambda: Y)
    batch: int = 8
    extra: str = ""
    text: str = ""  # the whole configuration, where ensemble() cannot write it


def same(x=None, **kwargs):
    x = [ROW] if x is None else x
    return Ask({"x": x}, {"y": x}, **kwargs)


def fails(text, x=None, **kwargs):
    return Ask({"x": [ROW] if x is None else x}, fails=text, **kwargs)


A = {"INPUT0": "x"}
INTO_Y = {"OUTPUT0": "y"}
ANY = {"x": ("INT32", [-1])}, {"y": ("INT32", [-1])}
ONE = {"x": ("INT32", [1])}, {"y": ("INT32", [1])}


def wrong_cases():
    """Returns the ensembles that do not load, with the reasons."""
    yield Case("no_steps", [], loads="must specify 'step'")
    yield Case("step_without_model", [step("", A, INTO_Y)], loads="must specify 'model_name'")
    yield Case("step_without_inputs", [step("a", {}, INTO_Y)], loads="must specify 'input_map'")
    yield Case("step_without_outputs", [step("a", A, {})], loads="must specify 'output_map'")
    yield Case("two_producers", [step("a", A, INTO_Y), step("b", A, INTO_Y)],
               loads="ensemble tensor 'y' can appear in an output map only once")
    yield Case("output_nobody_makes", [step("a", A, INTO_Y)], outputs={**Y, **Z},
               loads="ensemble output 'z' for ensemble ")
    yield Case("input_nobody_reads", [step("a", A, INTO_Y)], inputs={**X, "w": X["x"]},
               loads="ensemble input 'w' for ensemble ")
    yield Case("tensor_nobody_makes", [step("add", {"A": "x", "B": "t"}, {"C": "y"})],
               loads="at least one of its depending tensors, 't', is not connected")
    yield Case("tensor_nobody_reads", [step("add", {"A": "x", "B": "x"}, {"C": "y", "D": "t"})],
               loads="ensemble tensor 't' is unused in ensemble 'tensor_nobody_reads'")
    yield Case("steps_wait_for_each_other",
               [step("add", {"A": "x", "B": "u"}, {"C": "t"}),
                step("add", {"A": "t", "B": "t"}, {"C": "u", "D": "y"})],
               loads="is not written: at least one of its depending tensors")
    yield Case("unknown_model", chain("a", "nowhere"),
               loads="contains models that are not available or ambiguous: nowhere")
    yield Case("unknown_version", [step("a", A, INTO_Y, version=7)],
               loads="depends on 'a' whose required version 7 is not loaded")
    yield Case("version_not_served", [step("numbered", {"X": "x"}, {"Y": "y"}, version=3)],
               loads="depends on 'numbered' whose required version 3 is not loaded")
    yield Case("failed_member", chain("a", "broken"),
               loads="depends on 'broken' which has no loaded version")
    yield Case("unknown_input", [step("a", {"INPUT9": "x"}, INTO_Y)],
               loads="ensemble tensor x is mapping to non-existing input INPUT9 in model a")
    yield Case("unknown_output", [step("a", A, {"OUTPUT9": "y"})],
               loads="ensemble tensor y is mapped from non-existing output OUTPUT9 in model a")
    yield Case("input_not_mapped", [step("add", {"A": "x"}, {"C": "y"})], loads="B")
    yield Case("other_type_between", chain("a", "floats"), outputs={"y": ("FP32", [4])},
               loads="inconsistent data type")
    yield Case("other_type_in", chain("a"), inputs={"x": ("FP32", [4])},
               loads="inconsistent data type")
    yield Case("other_type_out", chain("a"), outputs={"y": ("INT64", [4])},
               loads="ensemble tensor y: inconsistent data type")
    yield Case("other_shape_between", chain("a", "five"), outputs={"y": ("INT32", [5])},
               loads="inconsistent shape")
    yield Case("other_shape_in", chain("a"), inputs={"x": ("INT32", [5])},
               loads="ensemble tensor x: inconsistent shape")
    yield Case("other_shape_out", chain("a"), outputs={"y": ("INT32", [5])},
               loads="ensemble tensor y: inconsistent shape")
    yield Case("other_rank", chain("a"), outputs={"y": ("INT32", [4, 1])},
               loads="ensemble tensor y: inconsistent shape")
    yield Case("batch_of_a_member_too_small", chain("a", "small"),
               loads="allows maximum batch size 8, but it contains model small which only allows "
                     "maximum batch size to be 2")
    yield Case("instances", chain("a"), extra=models.ONE_CPU_INSTANCE, loads="instance group")
    yield Case("optimization", chain("a"), extra="optimization { priority: PRIORITY_MAX }\n",
               loads="optimization")
    yield Case("warmup", chain("a"), extra='model_warmup { name: "w" batch_size: 1 inputs { '
               'key: "x" value { data_type: TYPE_INT32 dims: 4 zero_data: true } } }\n',
               loads="model_warmup can not be specified for ensemble")
    yield Case("with_a_backend", chain("a"), extra='backend: "identity"\n', loads="backend")
    yield Case("calls_itself", [step("calls_itself", {"x": "x"}, {"y": "y"})],
               loads="circular dependency between ensembles: calls_itself -> ... -> calls_itself -> "
                     "calls_itself")
    yield Case("no_platform", [], text='name: "no_platform"\n' + tensors("input", X)
               + tensors("output", Y) + "ensemble_scheduling {" + chain("a")[0] + "}\n",
               loads="no_platform")
    yield Case("no_scheduling", [], text='name: "no_scheduling"\nplatform: "ensemble"\n'
               + tensors("input", X) + tensors("output", Y), loads="ensemble scheduling")
    yield Case("two_decoupled_origins",
               [step("square", {"IN": "x"}, {"OUT": "t"}), step("square", {"IN": "x"}, {"OUT": "u"}),
                step("sum_of_one", {"A": "t", "B": "u"}, {"C": "y"})],
               inputs=ONE[0], outputs=ONE[1], batch=0,
               loads="receives inputs originated from different decoupled models")
    yield Case("two_decoupled_origins_of_the_answer",
               [step("square", {"IN": "x"}, {"OUT": "y"}), step("square", {"IN": "x"}, {"OUT": "z"})],
               inputs=ONE[0], outputs={**ONE[1], "z": ("INT32", [1])}, batch=0,
               loads="step of model 'two_decoupled_origins_of_the_answer' receives inputs originated "
                     "from different decoupled models")
    yield Case("cached_and_decoupled_by_itself", chain("a"),
               extra="response_cache { enable: true }\nmodel_transaction_policy { decoupled: true "
                     "}\n", loads="decoupled")
    yield Case("cached_with_a_decoupled_member", [step("square", {"IN": "x"}, {"OUT": "y"})],
               inputs=ONE[0], outputs=ONE[1], batch=0, extra="response_cache { enable: true }\n",
               loads="Response Cache does not currently support model")


def graph_cases():
    """Returns ensembles with different graphs."""
    yield Case("one_step", chain("a"), [same(), same([ROW, ROW[::-1]])])
    yield Case("three_steps_backwards", chain("a", "b", "c")[::-1], [same()])
    yield Case("the_same_model_twice", chain("a", "a"), [same()])
    yield Case("diamond", [step("a", A, {"OUTPUT0": "l"}), step("b", A, {"OUTPUT0": "r"}),
                           step("add", {"A": "l", "B": "r"}, {"C": "y", "D": "z"})],
               [Ask(wants={"y": [[2, 4, 6, 8]], "z": [[0, 0, 0, 0]]})], outputs={**Y, **Z})
    yield Case("two_branches", [step("a", A, INTO_Y), step("b", A, {"OUTPUT0": "z"})],
               [Ask(wants={"y": [ROW], "z": [ROW]}),
                Ask(wants={"z": [ROW]}, outputs=["z"]),
                Ask(wants={"z": [ROW], "y": [ROW]}, outputs=["z", "y"])], outputs={**Y, **Z})
    yield Case("a_branch_that_fails_is_pruned",
               [step("a", A, INTO_Y), step("failing_always", A, {"OUTPUT0": "z"})],
               [Ask(wants={"y": [[0, 0, 0, 7]]}, inputs={"x": [[0, 0, 0, 7]]}, outputs=["y"])],
               outputs={**Y, "z": ("INT32", [4])})
    yield Case("one_tensor_for_two_inputs", [step("add", {"A": "x", "B": "x"}, {"C": "y"})],
               [Ask(wants={"y": [[2, 4, 6, 8]]})])
    yield Case("between_and_output",
               [step("a", A, INTO_Y), step("b", {"INPUT0": "y"}, {"OUTPUT0": "z"})],
               [Ask(wants={"y": [ROW], "z": [ROW]})], outputs={**Y, **Z})
    yield Case("between_alone",
               [step("a", A, INTO_Y), step("b", {"INPUT0": "y"}, {"OUTPUT0": "z"})],
               [same(outputs=["y"])], outputs={**Y, **Z})
    yield Case("output_of_a_member_unused",
               [step("add", {"A": "x", "B": "x"}, {"D": "y"})],
               [Ask(wants={"y": [[0, 0, 0, 0]]})])
    yield Case("nested", [step("inner", {"x": "x"}, {"y": "y"})], [same()])
    yield Case("nested_twice", [step("middle", {"x": "x"}, {"y": "t"}),
                                step("a", {"INPUT0": "t"}, INTO_Y)], [same([ROW, ROW])])
    yield Case("writes_an_input", [step("a", A, {"OUTPUT0": "w"}),
                                   step("add", {"A": "x", "B": "w"}, {"C": "y"})],
               [Ask({"x": [ROW], "w": [ROW]}, {"y": [[2, 4, 6, 8]]})],
               inputs={**X, "w": X["x"]})
    for version, factor in ((-1, 2), (1, 1), (2, 2)):
        name = f"version_{version}".replace("-1", "latest")
        yield Case(name, [step("numbered", {"X": "x"}, {"Y": "y"}, version=version)],
                   [Ask(wants={"y": [[factor * v for v in ROW]]})])


def shape_cases():
    """Returns ensembles for batches, reshapes, sizes and types."""
    two = [ROW, ROW[::-1]]
    yield Case("to_a_model_without_batches", chain("a", "flat"),
               [same(), fails("flat", two)])
    yield Case("to_rows", chain("a", "rows"), [same(), same(two)])
    yield Case("from_a_model_without_batches", chain("flat", "a"), [same(ROW)], batch=0)
    yield Case("from_rows", chain("rows", "a"), [same([ROW]), same(two)],
               inputs={"x": ("INT32", [-1, 4])}, outputs={"y": ("INT32", [-1, 4])}, batch=0)
    yield Case("no_batches_around_one_with", chain("a"), [same(ROW)], batch=0)
    yield Case("smaller_batch_than_its_members", chain("a"),
               [same([ROW]), fails("batch-size must be <= 2", [ROW] * 3)], batch=2)
    yield Case("any_size", chain("any"), [same([[5]]), same([[5, 6, 7]])], inputs=ANY[0],
               outputs=ANY[1])
    yield Case("any_size_to_four", chain("any", "a"),
               [same(), fails("for model 'a'", [[1, 2, 3]])], inputs=ANY[0])
    yield Case("nothing_in_it", chain("any"), [same([[]])], inputs=ANY[0], outputs=ANY[1])
    yield Case("a_member_with_reshape", chain("reshaped"), [same(), same(two)])
    yield Case("reshaped_between", chain("a", "reshaped", "b"), [same()])
    yield Case("reshaped_itself", [], [Ask({"x": [[[1, 2], [3, 4]]]}, {"y": [[[1], [2], [3], [4]]]}),
                                       fails("unexpected shape for input 'x'", [ROW])],
               text='name: "reshaped_itself"\nplatform: "ensemble"\nmax_batch_size: 8\n'
               'input { name: "x" data_type: TYPE_INT32 dims: [ 2, 2 ] reshape { shape: [ 4 ] } }\n'
               'output { name: "y" data_type: TYPE_INT32 dims: [ 4, 1 ] reshape { shape: [ 4 ] } }\n'
               "ensemble_scheduling {" + chain("a", "b")[0] + chain("a", "b")[1] + "}\n")
    yield Case("of_texts", chain("texts"), [same([["a", "", "long"]], types={"x": "BYTES"})],
               inputs={"x": ("BYTES", [3])}, outputs={"y": ("BYTES", [3])})
    yield Case("of_floats", chain("floats"), [same([[1.5, 2, 3, 4]], types={"x": "FP32"})],
               inputs={"x": ("FP32", [4])}, outputs={"y": ("FP32", [4])})
    yield Case("what_a_client_gets_wrong", chain("a"), [
        fails("unexpected shape for input 'x' for model 'what_a_client_gets_wrong'", [[1, 2]]),
        fails("batch-size must be <= 8", [ROW] * 9),
        Ask({"x": [ROW]}, fails="unexpected inference output 'q'", outputs=["q"]),
        Ask({"w": [ROW]}, fails="input"),
        Ask({"x": [ROW]}, fails="inference input", types={"x": "FP32"})])
    yield Case("member_of_another_shape", chain("other_shape"), [
        same([[1, 2, 3, 4]]),
        fails("output 'OUTPUT0' for the tensor 'y' has the shape [1,3], expected [-1,4] (step 0, "
              "model 'other_shape')", [[1, 2, 3]])], inputs=ANY[0], outputs=ANY[1])


def behavior_cases():
    """Returns ensembles for optional inputs, failures, caches, sequences and several responses."""
    optional = dict(inputs={**X}, outputs={**Y, **Z},
                    extra=models._tensor("input", "w", "INT32", [4], "optional: true"))
    yield Case("optional_input",
               [step("optional", {**A, "INPUT1": "w"}, {**INTO_Y, "OUTPUT1": "z"})],
               [Ask({"x": [ROW], "w": [ROW[::-1]]}, {"y": [ROW], "z": [ROW[::-1]]}),
                Ask(wants={"y": [ROW]}, outputs=["y"])], **optional)
    yield Case("optional_input_that_a_member_needs",
               [step("a", A, INTO_Y), step("b", {"INPUT0": "w"}, {"OUTPUT0": "z"})],
               [Ask({"x": [ROW], "w": [ROW]}, {"y": [ROW], "z": [ROW]}), fails("expected")],
               **optional)
    yield Case("optional_input_not_mapped", [step("optional", A, INTO_Y)], [same()])
    yield Case("failing_member", chain("echo", "a"), [
        fails("in ensemble 'failing_member', out of luck",
              options={"parameters": {"fail": "out of luck"}}), same()])
    yield Case("failing_in_the_middle", chain("any", "echo"), [
        fails("in ensemble 'failing_in_the_middle', no",
              options={"parameters": {"fail": "no"}})], inputs=ANY[0])
    yield Case("cached_member", chain("cached"), [same(), same()])
    yield Case("cached_whole", chain("a", "b"), [same(), same(), same([ROW[::-1]])],
               extra="response_cache { enable: true }\n")
    yield Case("sequence", [step("sum", {"INPUT": "x"}, {"OUTPUT": "y"})], [
        Ask({"x": [[v]]}, {"y": [[total]]}, options=dict(
            sequence_id=7, sequence_start=v == 5, sequence_end=v == 9))
        for v, total in ((5, 5), (2, 7), (9, 16))], inputs=ONE[0], outputs=ONE[1])
    yield Case("sequence_without_start", [step("sum", {"INPUT": "x"}, {"OUTPUT": "y"})],
               [fails("sequence", [[5]], options=dict(sequence_id=11))],
               inputs=ONE[0], outputs=ONE[1])
    yield Case("sequence_without_id", [step("sum", {"INPUT": "x"}, {"OUTPUT": "y"})],
               [fails("sequence", [[5]])], inputs=ONE[0], outputs=ONE[1])
    one = dict(inputs=ONE[0], outputs=ONE[1], batch=0)
    square = step("square", {"IN": "x"}, {"OUT": "y"})
    yield Case("decoupled", [square], [
        Ask({"x": [n]}, stream=[[n]] * n) for n in (0, 1, 5)]
        + [fails("decoupled", [3])], **one)
    yield Case("decoupled_first", [step("square", {"IN": "x"}, {"OUT": "t"}),
                                   step("one", {"INPUT0": "t"}, INTO_Y)],
               [Ask({"x": [n]}, stream=[[n]] * n) for n in (0, 1, 4)], **one)
    yield Case("decoupled_last", [step("one", A, {"OUTPUT0": "t"}),
                                  step("square", {"IN": "t"}, {"OUT": "y"})],
               [Ask({"x": [3]}, stream=[[3]] * 3)], **one)
    yield Case("decoupled_diamond", [step("square", {"IN": "x"}, {"OUT": "t"}),
                                     step("one", {"INPUT0": "t"}, {"OUTPUT0": "u"}),
                                     step("sum_of_one", {"A": "t", "B": "u"}, {"C": "y"})],
               [Ask({"x": [3]}, stream=[[6]] * 3)], **one)
    yield Case("decoupled_beside_what_is_not",
               [step("square", {"IN": "x"}, {"OUT": "t"}), step("one", A, {"OUTPUT0": "u"}),
                step("sum_of_one", {"A": "t", "B": "u"}, {"C": "y"})],
               [Ask({"x": [3]}, stream=[[6]] * 3)], **one)
    yield Case("decoupled_and_an_input",
               [step("square", {"IN": "x"}, {"OUT": "t"}),
                step("sum_of_one", {"A": "t", "B": "x"}, {"C": "y"})],
               [Ask({"x": [1]}, stream=[[2]])], **one)
    yield Case("decoupled_nested", [step("inner_square", {"x": "x"}, {"y": "t"}),
                                    step("one", {"INPUT0": "t"}, INTO_Y)],
               [Ask({"x": [3]}, stream=[[3]] * 3)], **one)
    yield Case("decoupled_failing", [square], [
        Ask({"x": [-1]}, fails="expected one element of IN that is at least 0", stream=[])], **one)
    yield Case("repeated", [
        step("repeat", {"IN": "x", "DELAY": "d", "WAIT": "w"}, {"OUT": "y"})],
        [Ask({"x": [7, 8, 9], "d": [0, 0, 0], "w": [0]}, stream=[[7], [8], [9]],
             types={"d": "UINT32", "w": "UINT32"})], batch=0, outputs=ONE[1],
        inputs={**ANY[0], "d": ("UINT32", [-1]), "w": ("UINT32", [1])})


CASES = {case.name: case for cases in (wrong_cases, graph_cases, shape_cases, behavior_cases)
         for case in cases()}


def _versions(root):
    """Y = X times the number of the version; only versions 1 and 2 are served."""
    repository = models.Repository(root)
    config = ('backend: "onnxruntime"\nmax_batch_size: 8\n' + tensors("input", {"X": X["x"]})
              + tensors("output", {"Y": X["x"]})
              + "version_policy { specific { versions: [ 1, 2 ] } }\n" + models.ONE_CPU_INSTANCE)
    shape = ["batch", 4]
    for version in (1, 2, 3):
        graph = helper.make_graph(
            [helper.make_node("Mul", ["X", "factor"], ["Y"])], "numbered",
            [helper.make_tensor_value_info("X", TensorProto.INT32, shape)],
            [helper.make_tensor_value_info("Y", TensorProto.INT32, shape)],
            [helper.make_tensor("factor", TensorProto.INT32, [], [version])])
        repository.onnx("numbered", graph, config, version=version)


def write(plugins):
    """Returns a function that writes the members and every case. `plugins` is the folder with the
    libraries."""
    def write_models(root):
        repository = models.Repository(root)
        one = models.ONE_CPU_INSTANCE
        for name in ("a", "b", "c"):
            repository.identity(name, [("INT32", [4])], batch=8, extra=one)
        repository.identity("small", [("INT32", [4])], batch=2, extra=one)
        repository.identity("five", [("INT32", [5])], batch=8, extra=one)
        repository.identity("any", [("INT32", [-1])], batch=8, extra=one)
        repository.identity("flat", [("INT32", [4])], extra=one)
        repository.identity("one", [("INT32", [1])], extra=one)
        repository.identity("rows", [("INT32", [-1, 4])], extra=one)
        repository.identity("floats", [("FP32", [4])], batch=8, extra=one)
        repository.identity("texts", [("BYTES", [3])], batch=8, extra=one)
        reshape = "reshape { shape: [ 2, 2 ] }"
        repository.identity("reshaped", [("INT32", [4])], batch=8, extra=one,
                            tensor_extra=[(reshape, reshape)])
        repository.identity("optional", [("INT32", [4])] * 2, batch=8, extra=one,
                            tensor_extra=(("", ""), ("optional: true", "")))
        repository.identity("echo", [("INT32", [4])], batch=8, extra=one)
        repository.identity("cached", [("INT32", [4])], batch=8, extra=one + models.CACHED)
        repository.broken("broken")
        repository.onnx("add", add_graph(), 'backend: "onnxruntime"\nmax_batch_size: 8\n' + one)
        repository.onnx("sum_of_one", helper.make_graph(
            [helper.make_node("Add", ["A", "B"], ["C"])], "sum_of_one",
            [helper.make_tensor_value_info(n, TensorProto.INT32, [1]) for n in "AB"],
            [helper.make_tensor_value_info("C", TensorProto.INT32, [1])]),
            'backend: "onnxruntime"\n' + one)
        _versions(root)
        _plugins(repository, plugins)
        for case in CASES.values():
            _ensemble(root, case.name, case.text or ensemble(
                case.name, case.steps, case.inputs, case.outputs, batch=case.batch,
                extra=case.extra))
        for name, steps, tensor_sets, batch in (
                ("inner", chain("a", "b"), (X, Y), 8),
                ("middle", [step("inner", {"x": "x"}, {"y": "y"})], (X, Y), 8),
                ("inner_square", [step("square", {"IN": "x"}, {"OUT": "y"})], ONE, 0)):
            _ensemble(root, name, ensemble(name, steps, *tensor_sets, batch=batch))
    return write_models


def _plugins(repository, plugins):
    described = {
        "repeat": ({"IN": ("INT32", [-1]), "DELAY": ("UINT32", [-1]), "WAIT": ("UINT32", [1])},
                   {"OUT": ("INT32", [1]), "IDX": ("UINT32", [1])}),
        "square": ({"IN": ("INT32", [1])}, {"OUT": ("INT32", [1])})}
    for name, (inputs, outputs) in described.items():
        config = (f'backend: "{name}"\n' + tensors("input", inputs) + tensors("output", outputs)
                  + "model_transaction_policy { decoupled: true }\n" + models.ONE_CPU_INSTANCE)
        put_plugin(repository._write(name, config, (1,)), plugins / f"libtriton_{name}.so")
    sums = ('backend: "sequence"\nmax_batch_size: 8\n' + tensors("input", {"INPUT": ONE[0]["x"]})
            + tensors("output", {"OUTPUT": ONE[0]["x"]})
            + batching("oldest { max_candidate_sequences: 4 }") + models.ONE_CPU_INSTANCE)
    put_plugin(repository._write("sum", sums, (1,)), plugins / "libtriton_sequence.so")
    # The backend copies its input even if the configuration declares another output.
    for name, size, promised in (("other_shape", -1, 4), ("failing_always", 4, 4)):
        fault = "" if name == "other_shape" else "fail"
        config = ('backend: "faulty"\nmax_batch_size: 8\n'
                  + tensors("input", {"INPUT0": ("INT32", [size])})
                  + tensors("output", {"OUTPUT0": ("INT32", [promised])})
                  + f'parameters {{ key: "fault" value: {{ string_value: "{fault}" }} }}\n'
                  + models.ONE_CPU_INSTANCE)
        put_plugin(repository._write(name, config, (1,)), plugins / "libtriton_faulty.so")


def _ensemble(root, name, text):
    (root / name / "1").mkdir(parents=True)
    (root / name / "config.pbtxt").write_text(text)
