# SPDX-License-Identifier: Apache-2.0
"""The errors for TensorFlow models that cannot be served; the server must survive them."""

import shutil

import numpy as np
import pytest
import raw_http
import tensorflow_models as tfm
from explicit_models import EXPLICIT, write
from protobuf_mutants import mutants
from protobuf_mutants import write as message
from tensorflow_models import FLOAT, constant, nodes, placeholder
from tritonclient.utils import InferenceServerException

MATMUL = tfm.tensors("matmul", True)
HUGE = 2**62


def sum_of(name, *inputs):
    return (name, "AddN", list(inputs), {"T": FLOAT, "N": [[3, 0, len(inputs)]]})


XY = tfm.tensor("input", "x", "FP32", [4]) + tfm.tensor("output", "y", "FP32", [4])

# Name -> (content of model.graphdef, configuration, a part of the error).
GRAPHS = {
    "empty": (b"", XY, ["model.graphdef has 0 bytes, which is no GraphDef"]),
    "garbage": (bytes(range(256)) * 8, XY, ["model.graphdef"]),
    "truncated": ((tfm.DATA / "graphs" / "matmul.graphdef").read_bytes()[:-100], MATMUL,
                  ["model.graphdef"]),
    "unknown_op": (nodes(placeholder(), ("y", "Frobnicate", ["x"], {})), XY,
                   ["model.graphdef: node 'y' is of the operation 'Frobnicate'"]),
    "cycle": (nodes(placeholder(), sum_of("y", "x", "z"), sum_of("z", "y")), XY, ["cycle"]),
    "self": (nodes(placeholder(), sum_of("y", "x", "y")), XY, ["cycle"]),
    "dangling": (nodes(placeholder(), sum_of("y", "x", "absent")), XY, ["absent"]),
    "twice": (nodes(placeholder(), placeholder(), sum_of("y", "x")), XY, ["x"]),
    "huge_constant": (nodes(placeholder(), constant("c", (HUGE, 4)), sum_of("y", "x", "c")), XY,
                      ["node 'c' (Const) holds a tensor of impossible shape"]),
    "large_constant": (nodes(placeholder(), constant("c", (2**40,)), sum_of("y", "x", "c")), XY,
                       ["node 'c' (Const) holds a tensor of impossible shape"]),
    "short_constant": (nodes(placeholder(), constant("c", (4,), b"\0" * 15),
                             sum_of("y", "x", "c")), XY, ["c"]),
    "wrong_constant": (nodes(placeholder(), constant("c", (4,), b"\0" * 16, 4),
                             sum_of("y", "x", "c")), XY,
                       ["node 'c' (Const) holds a tensor that is not of its type"]),
    "huge_placeholder": (nodes(placeholder(dims=(HUGE, HUGE)), sum_of("y", "x")), XY,
                         ["x"]),
    "huge_count": (nodes(placeholder(), ("y", "AddN", ["x"], {"T": FLOAT, "N": [[3, 0, 2**31]]})),
                   XY, ["node 'y' (AddN) counts 2147483648 inputs in its attribute 'N'"]),
    "placeholder_value": (nodes(placeholder(), ("y", "Identity", ["x"], {"T": [[9, 2, b"T"]]})), XY,
                          ["node 'y' (Identity) has no value for its attribute 'T'"]),
    "no_function": (nodes(placeholder(), ("y", "PartitionedCall", ["x"], {
        "Tin": [[1, 2, FLOAT]], "Tout": [[1, 2, FLOAT]], "f": [[10, 2, [[1, 2, b"lost"]]]]})), XY,
        ["node 'y' (PartitionedCall) calls the function 'lost', which the graph lacks"]),
}


def config(**changes):
    """Returns the configuration of matmul with some entries replaced; None removes one."""
    entries = {"x": tfm.tensor("input", "x", "FP32", [4]),
               "hidden": tfm.tensor("output", "hidden", "FP32", [8]),
               "scores": tfm.tensor("output", "scores", "FP32", [3])}
    return "".join(v for v in {**entries, **changes}.values() if v is not None)


CONFIGS = {
    # As in Triton: the names that are given must be in the graph, others may be missing.
    "no_lists": ("", None),
    "no_inputs": (config(x=None), None),
    "no_outputs": (config(hidden=None, scores=None), None),
    "wrong_input": (config(x=tfm.tensor("input", "X", "FP32", [4])),
                    ["the graph has no tensor 'X' for input 'X'"]),
    "wrong_output": (config(scores=tfm.tensor("output", "scores:1", "FP32", [3])),
                     ["the graph has no tensor 'scores:1' for output 'scores:1'"]),
    "wrong_type": (config(x=tfm.tensor("input", "x", "FP64", [4])),
                   ["configuration expects datatype TYPE_FP64 for input 'x', model provides "
                    "TYPE_FP32"]),
    "wrong_output_type": (config(scores=tfm.tensor("output", "scores", "INT32", [3])),
                          ["configuration expects datatype TYPE_INT32 for output 'scores', model provides "
                           "TYPE_FP32"]),
    "wrong_dims": (config(x=tfm.tensor("input", "x", "FP32", [5])),
                   ["model 'wrong_dims', tensor 'x': the model expects 2 dimensions (shape [-1,4]) but "
                    "the model configuration specifies 2 dimensions", "[-1,5]"]),
    "wrong_rank": (config(x=tfm.tensor("input", "x", "FP32", [4, 1])), ["[-1,4,1]", "[-1,4]"]),
    "ragged": (config(x=tfm.tensor("input", "x", "FP32", [4], "allow_ragged_batch: true")),
               ["configuration expects model provides input with shape [-1]  for ragged input 'x', "
                "model provides [-1,4]"]),
    "decoupled": (config() + "model_transaction_policy { decoupled: true }",
                  ["model_transaction_policy.decoupled is not supported"]),
    "batch_input": (config() + 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "n" '
                    'data_type: TYPE_FP32 source_input: "x" }',
                    ["the graph has no tensor 'n' for batch_input 'n'"]),
    "bad_threads": (config() + tfm.parameters(TF_NUM_INTRA_THREADS="many"),
                    ["'TF_NUM_INTRA_THREADS' is 'many'"]),
    "negative_threads": (config() + tfm.parameters(TF_NUM_INTER_THREADS="-1"),
                         ["'TF_NUM_INTER_THREADS' is '-1'"]),
    "bad_switch": (config() + tfm.parameters(TF_USE_PER_SESSION_THREADS="perhaps"),
                   ["'TF_USE_PER_SESSION_THREADS' is 'perhaps'"]),
    "no_init_file": (config() + tfm.parameters(TF_INIT_OPS_FILE="absent.json"), ["absent.json"]),
    "accelerator": (config() + "optimization { execution_accelerators { gpu_execution_accelerator "
                    '{ name: "abacus" } } }', ["unknown Execution Accelerator 'abacus'"]),
    "cpu_accelerator": (config() + "optimization { execution_accelerators { "
                        'cpu_execution_accelerator { name: "openvino" } } }', ["'openvino'"]),
    "other_parameter": (config() + tfm.parameters(MAX_SESSION_SHARE_COUNT=2), None),
    "gpu_accelerator": (config() + "optimization { execution_accelerators { "
                        'gpu_execution_accelerator { name: "gpu_io" } } }', None),
}
FOREIGN = {"complex64": "DT_COMPLEX64", "complex128": "DT_COMPLEX128", "qint8": "DT_QINT8",
           "quint8": "DT_QUINT8", "qint16": "DT_QINT16", "quint16": "DT_QUINT16",
           "qint32": "DT_QINT32", "resource": "DT_RESOURCE", "variant": "DT_VARIANT"}


@pytest.fixture(scope="module")
def serving(start_server, require_backends):
    require_backends("tensorflow")
    return start_server("tensorflow_loading", lambda root: root.mkdir(), *EXPLICIT)


@pytest.fixture
def http(serving, connect):
    return connect("http", serving)


def refusal(http, name):
    status, text = http.error(http.call, "load_model", name)
    assert status == 400 and text.startswith(f"load failed for model '{name}'"), text
    reason = text.split("state:")[-1]
    assert f"'{name}'" in reason or "unexpected inference" in reason, text
    return text


def expect_refusal(http, name, words):
    text = refusal(http, name)
    assert all(word in text for word in words), text


@pytest.mark.parametrize("name", GRAPHS)
def test_graphdef_that_is_none(serving, http, name):
    content, settings, words = GRAPHS[name]
    batch = 0 if name == "huge_placeholder" else 4
    tfm.graphdef(serving.repository, name, None, settings, batch, content)
    expect_refusal(http, name, words)


def test_missing_graphdef(serving, http):
    folder = tfm.graphdef(serving.repository, "missing", "matmul", MATMUL, 4)
    (folder / "1" / "model.graphdef").unlink()
    expect_refusal(http, "missing", ["there is no file", "1/model.graphdef"])


@pytest.mark.parametrize("name", CONFIGS)
def test_configuration_that_does_not_fit(serving, http, name):
    settings, words = CONFIGS[name]
    tfm.graphdef(serving.repository, name, "matmul", settings, 8)
    if words is None:
        http.call("load_model", name)
        http.call("unload_model", name)
    else:
        expect_refusal(http, name, words)


def test_graphdef_without_any_configuration(serving, http):
    (tfm.graphdef(serving.repository, "unconfigured", "matmul", "") / "config.pbtxt").unlink()
    expect_refusal(http, "unconfigured",
                   ["model configuration is not provided for model 'unconfigured'"])


@pytest.mark.parametrize("kind", FOREIGN)
def test_type_that_the_protocol_lacks(serving, http, kind):
    settings = (tfm.tensor("input", f"foreign_in_{kind}", "FP32", [5])
                + tfm.tensor("output", f"foreign_out_{kind}", "FP32", [5]))
    tfm.graphdef(serving.repository, f"foreign_{kind}", "types", settings, 8)
    expect_refusal(http, f"foreign_{kind}", [
        f"input 'foreign_in_{kind}' is {FOREIGN[kind]} [-1,5] in the TensorFlow model, which the "
        "inference protocol cannot carry"])


def test_batch_that_the_graph_does_not_have(serving, http):
    tfm.graphdef(serving.repository, "fixed", "fixed", tfm.tensors("fixed", False), 4)
    expect_refusal(http, "fixed", ["tensor 'a': for the model to support batching", "[2,3]"])


@pytest.mark.parametrize("content,words", [
    ("not JSON", ["init_ops"]), ('{"init_ops": "init"}', ['the list "init_ops"']),
    ('{"init_ops": ["gone"]}', ["the graph has no operation 'gone'"])])
def test_bad_initializing_operations(serving, http, content, words):
    name = f"init_{len(content)}"
    folder = tfm.graphdef(serving.repository, name, "matmul",
                          MATMUL + tfm.parameters(TF_INIT_OPS_FILE="ops.json"), 8)
    (folder / "1" / "ops.json").write_text(content)
    expect_refusal(http, name, [*words, "TF_INIT_OPS_FILE"])


SAVED = {
    "no_file": (lambda f: (f / "saved_model.pb").unlink(), "", ["holds no saved_model.pb"]),
    "no_folder": (lambda f: shutil.rmtree(f), "", ["model.savedmodel is not a directory"]),
    "empty_file": (lambda f: (f / "saved_model.pb").write_bytes(b""), "",
                   ["saved_model.pb has 0 bytes"]),
    "garbage_file": (lambda f: (f / "saved_model.pb").write_bytes(b"\xff" * 300), "",
                     ["saved_model.pb is no SavedModel"]),
    "cut_file": (lambda f: (f / "saved_model.pb").write_bytes(
        (f / "saved_model.pb").read_bytes()[:5000]), "", ["saved_model.pb"]),
    "no_data": (lambda f: (f / "variables" / "variables.data-00000-of-00001").unlink(), "",
                ["variables"]),
    "cut_data": (lambda f: (f / "variables" / "variables.data-00000-of-00001").write_bytes(b"1"),
                 "", ["model.savedmodel"]),
    "bad_index": (lambda f: (f / "variables" / "variables.index").write_bytes(b"1" * 99), "",
                  ["model.savedmodel"]),
    "wrong_tag": (lambda f: None, tfm.parameters(TF_GRAPH_TAG="train"),
                  ["no graph with the tags 'train'", "TF_GRAPH_TAG", "its graphs have: 'serve'"]),
    "wrong_signature": (lambda f: None, tfm.parameters(TF_SIGNATURE_DEF="predict"),
                        ["no signature 'predict'", "'fixed', 'norm', 'serving_default'",
                         "TF_SIGNATURE_DEF"]),
    "signature_name": (lambda f: None, tfm.tensor("input", "input_2", "FP32", [4])
                       + tfm.tensor("output", "dense_1", "FP32", [2]),
                       ["unexpected inference input 'input_2', allowed inputs are: input_1"]),
    "signature_lacks": (lambda f: None, tfm.tensor("input", "input_1", "FP32", [-1, 4])
                        + tfm.tensor("output", "dense", "FP32", [-1, 2]),
                        ["unexpected inference output 'dense', allowed outputs are: dense_1"]),
}


@pytest.mark.parametrize("name", SAVED)
def test_savedmodel_that_is_none(serving, http, name):
    spoil, settings, words = SAVED[name]
    folder = tfm.savedmodel(serving.repository, name, "linear", settings)
    spoil(folder / "1" / "model.savedmodel")
    expect_refusal(http, name, words)


def test_savedmodel_without_its_variables_is_completed(serving, http):
    """As in Triton, TensorFlow treats the model as one without variables, and operations that need
    them fail."""
    folder = tfm.savedmodel(serving.repository, "no_variables", "linear", "")
    shutil.rmtree(folder / "1" / "model.savedmodel" / "variables")
    http.call("load_model", "no_variables")
    assert [tensor["name"] for tensor in http.json("get_model_config", "no_variables")["input"]]
    with pytest.raises(InferenceServerException):
        tfm.check_case(http, "no_variables", tfm.CASES["linear"][0])


def rewritten(content, path, change):
    """Returns a protobuf message in which the length-delimited fields at `path` (field numbers from
    the outside in) are replaced by change(content)."""
    out, at = b"", 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = content[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def written(value):
        more = b""
        while value >= 128:
            more += bytes([value & 127 | 128])
            value >>= 7
        return more + bytes([value])

    while at < len(content):
        begin = at
        key = varint()
        if key & 7 != 2:
            at += {1: 8, 5: 4}.get(key & 7, 0)
            if key & 7 == 0:
                varint()
            out += content[begin:at]
            continue
        size = varint()
        inner, at = content[at:at + size], at + size
        if key >> 3 != path[0]:
            out += content[begin:at]
            continue
        inner = change(inner) if len(path) == 1 else rewritten(inner, path[1:], change)
        out += written(key) + written(len(inner)) + inner
    return out


# SavedModel.meta_graphs, MetaGraphDef.signature_def (a map: 2 is the value), SignatureDef.inputs
# and .outputs (maps), TensorInfo.tensor_shape.
SHAPES = [(2, 5, 2, which, 2, 3) for which in (1, 2)]
OPEN = b"\x18\x01"  # TensorShapeProto.unknown_rank


@pytest.mark.parametrize("name, dims, runs", [("as_in_the_graph", [-1, 4], True),
                                              ("otherwise", [4], False)])
def test_savedmodel_of_open_ranks_takes_the_configured_shapes(serving, http, name, dims, runs):
    name = f"open_{name}"
    folder = tfm.savedmodel(
        serving.repository, name, "linear", tfm.tensor("input", "input_1", "FP32", dims)
        + tfm.tensor("output", "dense_1", "FP32", [-1, 2] if len(dims) == 2 else [2]))
    file = folder / "1" / "model.savedmodel" / "saved_model.pb"
    for path in SHAPES:
        file.write_bytes(rewritten(file.read_bytes(), path, lambda _: OPEN))
    http.call("load_model", name)
    assert http.json("get_model_config", name)["max_batch_size"] == 0
    if runs:
        tfm.check_case(http, name, tfm.CASES["linear"][0])


UNDECLARED = {"absent": None, "empty": (), "open": [[3, 0, 1]]}


@pytest.mark.parametrize("rank", ["scalar", "unknown"])
@pytest.mark.parametrize("declared", UNDECLARED)
def test_signature_without_a_shape_takes_the_configured_one(serving, http, rank, declared):
    """Triton compares shapes only where the signature has dimensions."""
    name = f"{declared}_shape_{rank}_graph"
    placed = {"dtype": FLOAT, "shape": [[7, 2, [[3, 0, 1]] if rank == "unknown" else []]]}
    graph = nodes(("x", "Placeholder", [], placed), ("y", "Neg", ["x"], {"T": FLOAT}))
    graph += message([[4, 2, [[1, 0, 1000]]]])  # GraphDef.versions, in which no shape is a scalar
    folder = serving.repository / name
    (folder / "1" / "model.savedmodel").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(
        'platform: "tensorflow_savedmodel"\nmax_batch_size: 4\n' + tfm.tensor("input", "in", "FP32", [2])
        + tfm.tensor("output", "out", "FP32", [2]))
    (folder / "1" / "model.savedmodel" / "saved_model.pb").write_bytes(tfm.saved_model(
        graph, serving_default=tfm.signature({"in": ("x:0", 1, UNDECLARED[declared])},
                                             {"out": ("y:0", 1, UNDECLARED[declared])})))
    http.call("load_model", name)
    answer = http.infer(name, [http.input("in", np.array([[1, 2], [3, 4]], np.float32))])
    assert answer.array("out").tolist() == [[-1, -2], [-3, -4]]


@pytest.mark.parametrize("name, given, batch", [
    ("type", 'input { name: "input_1" data_type: TYPE_FP32 }', 4),
    ("dims", 'input { name: "input_1" dims: [ 4 ] }', 4),
    ("output", 'output { name: "dense_1" data_type: TYPE_FP32 }', 4),
    ("no_batch", 'output { name: "dense_1" dims: [ -1, 2 ] }', 0)])
def test_entries_of_a_savedmodel_are_completed(serving, http, name, given, batch):
    name = f"partly_{name}"
    tfm.savedmodel(serving.repository, name, "linear", given)
    http.call("load_model", name)
    config = http.json("get_model_config", name)
    assert config["max_batch_size"] == batch
    rows = [] if batch else [-1]
    assert [(t["name"], t["data_type"], t["dims"]) for t in config["input"] + config["output"]] == [
        ("input_1", "TYPE_FP32", rows + [4]), ("dense_1", "TYPE_FP32", rows + [2])]
    tfm.check_case(http, name, tfm.CASES["linear"][0])


def test_entries_that_contradict_each_other(serving, http):
    tfm.savedmodel(serving.repository, "contradicting", "linear", 'input { name: "input_1" dims: [ 4 ] }'
                   'output { name: "dense_1" dims: [ -1, 2 ] }')
    expect_refusal(http, "contradicting", [
        "unable to autofill for 'contradicting', model tensor configurations are contradicting each "
        "other in terms of whether batching is supported"])


def test_an_input_that_is_listed_twice(serving, http):
    tfm.savedmodel(serving.repository, "listed_twice", "linear",
                   tfm.tensor("input", "input_1", "FP32", [-1, 4]) * 2
                   + tfm.tensor("output", "dense_1", "FP32", [-1, 2]))
    expect_refusal(http, "listed_twice", ["unable to load model 'listed_twice', configuration expects "
                                          "2 inputs, model provides 1"])


def test_savedmodel_without_its_assets(serving, http):
    folder = tfm.savedmodel(serving.repository, "no_assets", "vocabulary", "")
    shutil.rmtree(folder / "1" / "model.savedmodel" / "assets")
    expect_refusal(http, "no_assets", ["words.txt"])


def test_a_model_that_was_repaired(serving, http):
    """The same name is refused, then served, changed and served, and unloaded."""
    wrong = config(x=tfm.tensor("input", "X", "FP32", [4]))
    folder = tfm.graphdef(serving.repository, "repaired", "matmul", wrong, 8)
    refusal(http, "repaired")
    write(folder / "config.pbtxt", 'platform: "tensorflow_graphdef"\nmax_batch_size: 8\n' + MATMUL)
    http.call("load_model", "repaired")
    tfm.check_case(http, "repaired", tfm.CASES["matmul"][0])
    http.call("unload_model", "repaired")


def memory(server):
    for line in open(f"/proc/{server.process.pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def test_loading_again_and_again_keeps_nothing(serving, http):
    tfm.savedmodel(serving.repository, "again", "linear", "")

    def turn(count):
        for _ in range(count):
            http.call("load_model", "again")
            tfm.check_case(http, "again", tfm.CASES["linear"][0])
            http.call("unload_model", "again")

    turn(20)
    before = memory(serving)
    turn(40)
    # A leaked session has several hundred KiB, with its graph and the optimized copies.
    assert memory(serving) - before < 40 * 100


# Kind and name of the models from which mutants are made.
MUTATED = {"matmul": 50, "split": 30, "texts": 40, "types": 30, "linear": 50, "vocabulary": 40}


@pytest.mark.parametrize("source", MUTATED)
def test_mutants_do_not_kill_the_server(serving, http, source):
    saved = (tfm.DATA / "savedmodels" / source).is_dir()
    case = tfm.CASES["types_FP32" if source == "types" else source][0]
    request = {"inputs": [raw_http.tensor(name, t["datatype"], t["shape"], t["data"])
                          for name, t in case["inputs"].items()]}
    if saved:
        folder = tfm.savedmodel(serving.repository, f"mutant_{source}", source)
        file = folder / "1" / "model.savedmodel" / "saved_model.pb"
    else:
        settings = tfm.tensors("types_FP32" if source == "types" else source, True)
        folder = tfm.graphdef(serving.repository, f"mutant_{source}", source, settings, 8)
        file = folder / "1" / "model.graphdef"
    served = 0
    for number, content in enumerate(mutants(file.read_bytes(), 1, MUTATED[source])):
        write(file, content)
        loaded = raw_http.request(serving, "POST", f"/v2/repository/models/{folder.name}/load", "")
        if loaded.status == 200:
            served += raw_http.infer(serving, folder.name, request).status == 200
        else:
            assert "load failed for model" in loaded.error, number
    assert serving.alive()
    shutil.rmtree(folder)
    assert 0 < served < MUTATED[source]

