# SPDX-License-Identifier: Apache-2.0
"""TensorFlow GraphDefs and SavedModels, compared with the results of TensorFlow's Python package.
"""

import itertools
import json
import threading

import numpy as np
import pytest
import tensorflow_models as tfm
from explicit_models import configuration, statistics
from models import DATATYPES
from sequences import batching, instances

IDS = itertools.count(1)
CONTROLS = """
  control_input { name: "START" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } }
  control_input { name: "READY" control { kind: CONTROL_SEQUENCE_READY bool_false_true: [ false, true ] } }
  control_input { name: "CORRID" control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } }
"""


def state(datatype, initial):
    return ('state { input_name: "STATE_IN" output_name: "STATE_OUT" '
            f"data_type: TYPE_{datatype} dims: [ 1 ] initial_state {{ name: \"first\" "
            f"data_type: TYPE_{datatype} dims: [ 1 ] {initial} }} }}")


def write_graphs(root):
    for kind in DATATYPES:
        config = tfm.tensors(f"types_{kind}", True)
        tfm.graphdef(root, f"types_{kind.lower()}", "types", config, batch=8)
        # The same model without a batch: the first dimension belongs to the tensor.
        tfm.graphdef(root, f"types_{kind.lower()}_flat", "types",
                     config.replace("dims: [5]", "dims: [-1, 5]"))
    matmul = tfm.tensors("matmul", True)
    tfm.graphdef(root, "matmul", "matmul", matmul + instances(2), batch=8)
    tfm.graphdef(root, "matmul_batched", "matmul", matmul + instances(1) + "dynamic_batching { "
                 "preferred_batch_size: [ 6 ] max_queue_delay_microseconds: 5000000 }", batch=6)
    tfm.graphdef(root, "matmul_warm", "matmul", matmul + instances(1) + """
      model_warmup { name: "w" batch_size: 3 inputs { key: "x" value { data_type: TYPE_FP32
        dims: [ 4 ] random_data: true } } }""", batch=8)
    # This model has no batch either, although the graph has a dimension for it.
    tfm.graphdef(root, "types_fp32_row", "types", tfm.tensors("types_FP32", True))
    tfm.graphdef(root, "open_rank", "types", tfm.tensor("input", "open_in", "FP32", [-1, 2])
                 + tfm.tensor("output", "open_out", "FP32", [-1, 2]))
    tfm.graphdef(root, "conv", "conv", tfm.tensors("conv", True), batch=4)
    tfm.graphdef(root, "fixed", "fixed", tfm.tensors("fixed", False))
    tfm.graphdef(root, "split", "split", tfm.tensors("split", True), batch=4)
    tfm.graphdef(root, "texts", "texts", tfm.tensors("texts", True), batch=4)
    tfm.graphdef(root, "pruned", "pruned", tfm.tensors("pruned", True)
                 + "dynamic_batching { }", batch=4)
    tfm.graphdef(root, "reshaped", "reshaped", batch=4, config=(
        tfm.tensor("input", "x", "FP32", [12], "reshape { shape: [ 3, 4 ] }")
        + tfm.tensor("input", "factor", "FP32", [1], "reshape { shape: [ ] }")
        + tfm.tensor("output", "turned", "FP32", [2, 6], "reshape { shape: [ 4, 3 ] }")
        + tfm.tensor("output", "total", "FP32", [1], "reshape { shape: [ ] }")))


def write_parameters(root):
    """Writes models whose parameters have an effect."""
    stateful = tfm.tensors("stateful", True) + tfm.parameters(TF_INIT_OPS_FILE="init_ops.json")
    folder = tfm.graphdef(root, "stateful", "stateful", stateful, batch=4)
    (folder / "1" / "init_ops.json").write_text('{"init_ops": ["init", "init_tables"]}')
    (folder / "init_ops.json").write_text('{"init_ops": ["absent"]}')  # the version's comes first
    folder = tfm.graphdef(root, "stateful_outer", "stateful", stateful, batch=4)
    (folder / "init_ops.json").write_text(json.dumps({"init_ops": ["init", "init_tables"]}))
    folder = tfm.graphdef(root, "keeping", "stateful", tfm.parameters(
        TF_INIT_OPS_FILE="init_ops.json") + instances(1)
        + tfm.tensor("input", "x", "FP32", [1, 2]) + tfm.tensor("output", "before", "FP32", [1, 2])
        + tfm.tensor("input", "word", "BYTES", [1, 1])
        + tfm.tensor("output", "text_before", "BYTES", [1, 1]))
    (folder / "init_ops.json").write_text('{"init_ops": ["init"]}')
    for word in ("yes", "On", "True", "1", "false"):
        tfm.graphdef(root, f"threads_{word.lower()}", "matmul", tfm.tensors("matmul", True)
                     + tfm.parameters(TF_NUM_INTRA_THREADS=2, TF_NUM_INTER_THREADS=3,
                                      TF_USE_PER_SESSION_THREADS=word), batch=8)
    tfm.savedmodel(root, "norm", "linear", tfm.parameters(TF_SIGNATURE_DEF="norm"))
    tfm.savedmodel(root, "product", "linear", tfm.parameters(TF_SIGNATURE_DEF="fixed"))
    tfm.savedmodel(root, "scale", "tagged", tfm.parameters(TF_SIGNATURE_DEF="scale"))
    tfm.savedmodel(root, "copy", "tagged")  # the first one, because there is no serving_default
    for name, tags in (("other", "other"), ("fast", "fast,other")):
        tfm.savedmodel(root, name, "tagged", tfm.parameters(TF_GRAPH_TAG=tags,
                                                            TF_SIGNATURE_DEF="scale"))


def write_sequences(root):
    config = (tfm.tensor("input", "INPUT", "FP32", [1]) + tfm.tensor("output", "OUTPUT", "FP32", [1])
              + tfm.tensor("output", "WHO", "FP32", [1]))
    for strategy in ("direct", "oldest"):
        tfm.graphdef(root, f"sequence_{strategy}", "sequence", config + batching(
            f"{strategy} {{ }}", controls=CONTROLS, extra=state("FP32", "zero_data: true")), batch=4)
    texts = tfm.tensor("input", "INPUT", "BYTES", [1]) + tfm.tensor("output", "OUTPUT", "BYTES", [1])
    folder = tfm.graphdef(root, "text_sequence", "text_sequence", texts + batching(
        "oldest { }", controls="", extra=state("STRING", 'data_file: "first"')), batch=4)
    (folder / "initial_state").mkdir()
    (folder / "initial_state" / "first").write_bytes(b"\x03\0\0\0\xff->")


def write(root):
    write_graphs(root)
    write_parameters(root)
    write_sequences(root)
    tfm.savedmodel(root, "linear", "linear")
    tfm.savedmodel(root, "vocabulary", "vocabulary")
    tfm.savedmodel(root, "linear_given", "linear", "max_batch_size: 2\n"
                   + tfm.tensor("input", "input_1", "FP32", [4])
                   + tfm.tensor("output", "dense_1", "FP32", [2]))


@pytest.fixture(scope="module")
def serving(start_server, require_backends):
    require_backends("tensorflow")
    return start_server("tensorflow", write)


@pytest.fixture(params=["http", "grpc"])
def client(request, serving, connect):
    return connect(request.param, serving)


@pytest.fixture(params=["http_aio", "grpc"])
def shared_client(request, serving, connect):
    """A client that several threads may use at a time."""
    return connect(request.param, serving)


@pytest.fixture
def http(serving, connect):
    return connect("http", serving)


@pytest.mark.parametrize("kind", DATATYPES)
@pytest.mark.parametrize("suffix", ["", "_flat"])
def test_datatype(client, kind, suffix):
    (case,) = tfm.CASES[f"types_{kind}"]
    tfm.check_case(client, f"types_{kind.lower()}{suffix}", case)


@pytest.mark.parametrize("kind", sorted(set(DATATYPES) - {"FP16", "BF16"}))
def test_datatype_in_json(http, kind):
    (case,) = tfm.CASES[f"types_{kind}"]
    value = case["inputs"][f"in_{kind}"]
    if kind == "BYTES":  # JSON texts are UTF-8
        texts = ["", "größer", "x" * 100]
        want = np.array([texts[i % 3].encode() for i in range(15)], object).reshape(3, 5)
    else:
        want = tfm.array(value)
    given = http.input(f"in_{kind}", want, kind, binary=False)
    answer = http.infer(f"types_{kind.lower()}", [given],
                        outputs=[http.wanted(f"out_{kind}", binary=False)])
    got = answer.array(f"out_{kind}")
    if kind == "BYTES":
        got = np.array([t.encode() if isinstance(t, str) else t for t in got.reshape(-1)],
                       object).reshape(want.shape)
    tfm.check_array(got, want, kind)


@pytest.mark.parametrize("model", ["matmul", "conv", "fixed", "split", "texts", "pruned"])
def test_graphdef(client, model):
    for case in tfm.CASES[model]:
        if model == "fixed":  # a scalar is [1] in the configuration
            case = json.loads(json.dumps(case))
            case["inputs"]["b"]["shape"] = case["outputs"]["sum"]["shape"] = [1]
        tfm.check_case(client, model, case)


def test_a_graph_for_batches_runs_without_one(client):
    case = json.loads(json.dumps(tfm.CASES["types_FP32"][0]))
    for tensors in (case["inputs"], case["outputs"]):
        for tensor in tensors.values():
            tensor["shape"] = tensor["shape"][1:]
            tensor["data"] = tensor["data"][:tensor["shape"][0]]
    tfm.check_case(client, "types_fp32_row", case)


def test_open_rank(client):
    given = np.arange(6, dtype=np.float32).reshape(3, 2)
    answer = client.infer("open_rank", [client.input("open_in", given)])
    np.testing.assert_array_equal(answer.array("open_out"), given)


def test_reshape(client):
    case = json.loads(json.dumps(tfm.CASES["reshaped"][0]))
    case["inputs"]["x"]["shape"] = [2, 12]
    case["inputs"]["factor"]["shape"] = case["outputs"]["total"]["shape"] = [2, 1]
    case["outputs"]["turned"]["shape"] = [2, 2, 6]
    tfm.check_case(client, "reshaped", case)


def test_dynamic_batches_equal_single_requests(shared_client):
    before = statistics(shared_client, "matmul_batched")["1"]
    (case,) = [c for c in tfm.CASES["matmul"] if c["inputs"]["x"]["shape"][0] == 3]
    x = tfm.array(case["inputs"]["x"])
    rows = [x[:1], x[1:3], x[2:3], x[:2]]  # six requests are one execution
    answers = [None] * len(rows)

    def ask(i):
        answers[i] = shared_client.infer("matmul_batched", [shared_client.input("x", rows[i])])

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(rows))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for row, answer in zip(rows, answers):
        alone = shared_client.infer("matmul", [shared_client.input("x", row)])
        for name in ("scores", "hidden"):
            tfm.check_array(answer.array(name), alone.array(name), name)
    after = statistics(shared_client, "matmul_batched")["1"]
    assert (after[0] - before[0], after[1] - before[1]) == (6, 1)
    assert 6 in after[2]


def test_only_what_is_wanted_is_computed(client):
    texts = np.array([[b"no number"]], object)
    answer = client.infer("pruned", [client.input("a", texts)], outputs=["length"])
    assert answer.array("length").tolist() == [[9]]
    message = client.expect("INVALID_ARG", "no number", client.infer, "pruned",
                            [client.input("a", texts)], outputs=["number"])
    assert "model 'pruned'" in message


def test_a_bad_request_does_not_spoil_its_batch(shared_client):
    given = [b"1", b"what?", b"3", b"4"]
    results = [None] * 4

    def ask(i):
        try:
            answer = shared_client.infer("pruned", [shared_client.input("a", np.array([[given[i]]], object))],
                                  outputs=["number"])
            results[i] = answer.array("number").tolist()
        except Exception as error:
            results[i] = str(error)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[i] for i in (0, 2, 3)] == [[[1]], [[3]], [[4]]]
    assert "what?" in results[1]


def test_warmup(http):
    assert statistics(http, "matmul_warm")["1"] == (3, 1, [3])


@pytest.mark.parametrize("model", ["stateful", "stateful_outer"])
def test_initializing_operations(client, model):
    tfm.check_case(client, model, tfm.CASES["stateful"][0])


def test_what_the_graph_keeps_outlives_its_request(client):
    """Variables are set to the inputs; the next request reads the values."""
    for number in range(20):
        given = np.array([[number, -number]], np.float32)
        text = np.array([[b"a text that is longer than 22 bytes: %d" % number]], object)
        answer = client.infer("keeping", [client.input("x", given), client.input("word", text)])
        if number > 0:
            assert answer.array("before").tolist() == [[number - 1, 1 - number]]
            assert answer.array("text_before").tolist() == [
                [b"a text that is longer than 22 bytes: %d" % (number - 1)]]


@pytest.mark.parametrize("word", ["yes", "on", "true", "1", "false"])
def test_thread_parameters(client, word):
    tfm.check_case(client, f"threads_{word}", tfm.CASES["matmul"][0])


@pytest.mark.parametrize("model,cases", [("linear", "linear"), ("norm", "linear_norm"),
                                         ("product", "linear_fixed"), ("vocabulary", "vocabulary")])
def test_savedmodel(client, model, cases):
    for case in tfm.CASES[cases]:
        if model in ("product", "norm"):  # the protocol's [1] for TensorFlow's scalar
            case = json.loads(json.dumps(case))
            for output in {"product", "length"} & set(case["outputs"]):
                case["outputs"][output]["shape"].append(1)
        tfm.check_case(client, model, case)


def test_savedmodel_with_its_configuration(client):
    tfm.check_case(client, "linear_given", tfm.CASES["linear"][0])
    config = configuration(client, "linear_given")
    assert config["max_batch_size"] == 2
    client.expect("INVALID_ARG", "batch-size must be <= 2", client.infer, "linear_given",
                  [client.input("input_1", np.zeros((3, 4), np.float32))])


@pytest.mark.parametrize("model,factor", [("scale", 2), ("other", 20), ("fast", 200)])
def test_tags(client, model, factor):
    x = np.array([[1, 2], [3, 4]], np.float32)
    answer = client.infer(model, [client.input("x", x)])
    np.testing.assert_array_equal(answer.array("y"), x * factor)


def test_an_output_that_is_an_input(client):
    x = np.array([[1, 2]], np.float32)
    assert client.infer("copy", [client.input("from", x)]).array("to").tolist() == [[1, 2]]


def test_completed_configuration(client):
    config = configuration(client, "linear")
    assert (config["platform"], config["backend"]) == ("tensorflow_savedmodel", "tensorflow")
    assert config["max_batch_size"] == 4 and "dynamic_batching" in config
    assert [(t["name"], t["data_type"], t["dims"]) for t in config["input"] + config["output"]] == [
        ("input_1", "TYPE_FP32", [4]), ("dense_1", "TYPE_FP32", [2])]
    config = configuration(client, "product")
    assert config.get("max_batch_size", 0) == 0 and "dynamic_batching" not in config
    assert [(t["name"], t["data_type"], t["dims"]) for t in config["input"] + config["output"]] == [
        ("dims", "TYPE_INT32", [3]), ("product", "TYPE_INT32", [1])]
    norm = configuration(client, "norm")  # a scalar beside its batch is [1], reshaped
    length = next(t for t in norm["output"] if t["name"] == "length")
    assert (length["dims"], length["reshape"].get("shape", [])) == ([1], [])


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_state_and_controls(client, strategy):
    model, ids = f"sequence_{strategy}", [next(IDS) + 1000, next(IDS) + 1000]
    sums = {i: 0 for i in ids}
    for step in range(4):
        for i in ids:
            sums[i] += i + step
            answer = client.infer(
                model, [client.input("INPUT", np.array([[i + step]], np.float32))], sequence_id=i,
                sequence_start=step == 0, sequence_end=step == 3)
            assert answer.array("OUTPUT").tolist() == [[sums[i]]]
            assert answer.array("WHO").tolist() == [[i + 0.5]]


def test_state_of_texts(client):
    sequence, want = next(IDS), b"\xff->"
    for step, text in enumerate([b"a", b"", b"\xfe" * 300]):
        want += text
        answer = client.infer("text_sequence", [client.input("INPUT", np.array([[text]], object))],
                              sequence_id=sequence, sequence_start=step == 0, sequence_end=step == 2)
        assert answer.array("OUTPUT").tolist() == [[want]]


def test_instances(http):
    (group,) = configuration(http, "matmul")["instance_group"]
    assert group["count"] == 2
    # Without a group, TensorFlow models get two instances on the CPU, like in Triton.
    (group,) = configuration(http, "conv")["instance_group"]
    assert (group["kind"], group["count"]) == ("KIND_CPU", 2)
