# SPDX-License-Identifier: Apache-2.0
"""Inference with the official clients: batches, tensors, subsets, ids, versions."""

import numpy as np
import pytest


def mixed_inputs(client, binary=(True, True, True)):
    return [
        client.input("INPUT0", np.array([1, -2, 3], dtype=np.int32), binary=binary[0]),
        client.input("INPUT1", np.array([[0.5], [1.5]], dtype=np.float32), binary=binary[1]),
        client.input("INPUT2", np.array([b"one", b"two"], dtype=np.object_), "BYTES",
                     binary=binary[2]),
    ]


def check_mixed(answer, names=("OUTPUT0", "OUTPUT1", "OUTPUT2")):
    assert sorted(answer.names) == sorted(names)
    if "OUTPUT0" in names:
        assert answer.array("OUTPUT0").tolist() == [1, -2, 3]
    if "OUTPUT1" in names:
        assert answer.array("OUTPUT1").tolist() == [[0.5], [1.5]]
    if "OUTPUT2" in names:
        got = [g.encode() if isinstance(g, str) else g for g in answer.array("OUTPUT2").tolist()]
        assert got == [b"one", b"two"]


@pytest.mark.parametrize("batch", [1, 2, 7, 8])
def test_batch_sizes(client, batch):
    array = np.arange(batch * 4, dtype=np.float32).reshape(batch, 4)
    answer = client.infer("fixed", [client.input("INPUT0", array)], ["OUTPUT0"])
    assert answer.output("OUTPUT0")["shape"] == [batch, 4]
    assert (answer.array("OUTPUT0") == array).all()


def test_answer_names_model_and_version(client):
    answer = client.infer("fixed", [client.input("INPUT0", np.zeros((1, 4), np.float32))])
    assert answer.header["model_name"] == "fixed"
    assert answer.header["model_version"] == "1"


def test_name_with_dots_and_dashes(client):
    answer = client.infer("dotted.name-1", [client.input("INPUT0", np.arange(4, dtype=np.int32))])
    assert answer.header["model_name"] == "dotted.name-1"


def test_several_tensors(client):
    check_mixed(client.infer("mixed", mixed_inputs(client)))


def test_inputs_in_any_order(client):
    check_mixed(client.infer("mixed", mixed_inputs(client)[::-1]))


@pytest.mark.parametrize("names", [
    ["OUTPUT0"], ["OUTPUT1"], ["OUTPUT2"], ["OUTPUT2", "OUTPUT0"],
    ["OUTPUT0", "OUTPUT1", "OUTPUT2"]], ids=lambda n: "+".join(n))
def test_requested_outputs(client, names):
    check_mixed(client.infer("mixed", mixed_inputs(client), names), names)


@pytest.mark.parametrize("in_binary", [
    (True, False, True), (False, True, False), (False, False, True), (False, False, False)],
    ids=lambda b: "".join("b" if x else "j" for x in b))
@pytest.mark.parametrize("out_binary", [
    (True, False, True), (False, True, False), (True, True, True), (False, False, False)],
    ids=lambda b: "".join("b" if x else "j" for x in b))
def test_binary_and_json_mixed(http, in_binary, out_binary):
    outputs = [http.wanted(f"OUTPUT{i}", binary=b) for i, b in enumerate(out_binary)]
    answer = http.infer("mixed", mixed_inputs(http, in_binary), outputs)
    check_mixed(answer)
    for i, binary in enumerate(out_binary):
        output = next(o for o in answer.header["outputs"] if o["name"] == f"OUTPUT{i}")
        assert ("data" in output) is not binary
        assert ("parameters" in output) is binary


@pytest.mark.parametrize("request_id", ["1", "a-request", "x" * 500, "ид/id?&"])
def test_request_id_comes_back(client, request_id):
    answer = client.infer("fixed", [client.input("INPUT0", np.zeros((1, 4), np.float32))],
                          request_id=request_id)
    assert answer.header["id"] == request_id


def test_no_id_asked_none_given(client):
    answer = client.infer("fixed", [client.input("INPUT0", np.zeros((1, 4), np.float32))])
    assert answer.header.get("id", "") == ""


@pytest.mark.parametrize("parameters", [
    {"text": "value"}, {"number": 12}, {"flag": True}, {"a": 1, "b": "2", "c": False}],
    ids=["text", "number", "flag", "three"])
def test_custom_parameters_are_taken(client, parameters):
    answer = client.infer("fixed", [client.input("INPUT0", np.ones((1, 4), np.float32))],
                          parameters=parameters)
    assert answer.array("OUTPUT0").tolist() == [[1, 1, 1, 1]]


def test_priority_and_timeout_are_taken(client):
    answer = client.infer("fixed", [client.input("INPUT0", np.ones((1, 4), np.float32))],
                          priority=1, timeout=10_000_000)
    assert answer.array("OUTPUT0").tolist() == [[1, 1, 1, 1]]


@pytest.mark.parametrize("model,asked,given", [
    ("versions", "1", "1"), ("versions", "3", "3"), ("versions", "", "3"), ("latest", "", "10"),
    ("latest", "10", "10"), ("all_versions", "1", "1"), ("all_versions", "", "2")])
def test_versions(client, model, asked, given):
    answer = client.infer(model, [client.input("INPUT0", np.arange(4, dtype=np.int32))],
                          model_version=asked)
    assert answer.header["model_version"] == given


@pytest.mark.parametrize("model,version,text", [
    ("versions", "2", "Request for unknown model: 'versions' version 2 is not found"),
    ("latest", "1", "Request for unknown model: 'latest' version 1 is not found"),
    ("no_such_model", "", "Request for unknown model: 'no_such_model' is not found"),
    ("no_such_model", "1", "Request for unknown model: 'no_such_model' is not found"),
])
def test_unknown_model_or_version(client, model, version, text):
    client.expect("NOT_FOUND", text, client.infer, model,
                  [client.input("INPUT0", np.arange(4, dtype=np.int32))], model_version=version)


def test_two_inputs_of_one_batch(client):
    first = np.arange(12, dtype=np.int32).reshape(3, 4)
    answer = client.infer("pair", [client.input("INPUT0", first), client.input("INPUT1", -first)])
    assert (answer.array("OUTPUT0") == first).all()
    assert (answer.array("OUTPUT1") == -first).all()


def test_reshaped_tensor(client):
    array = np.array([[1.0], [2.0], [3.0]], dtype=np.float32)
    answer = client.infer("scalar", [client.input("INPUT0", array)], ["OUTPUT0"])
    assert answer.output("OUTPUT0")["shape"] == [3, 1]
    assert (answer.array("OUTPUT0") == array).all()


@pytest.mark.parametrize("shape", [(2, 1), (2, 5), (2, 0)])
def test_variable_dimension(client, shape):
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    answer = client.infer("matrix", [client.input("INPUT0", array)], ["OUTPUT0"])
    assert answer.output("OUTPUT0")["shape"] == list(shape)


def test_optional_input_given(client):
    array = np.arange(4, dtype=np.int32).reshape(1, 4)
    answer = client.infer("optional", [client.input("INPUT0", array),
                                       client.input("INPUT1", array + 1)])
    assert (answer.array("OUTPUT1") == array + 1).all()


@pytest.mark.parametrize("batch", [1, 3])
def test_real_framework(client, batch):
    first = np.arange(batch * 4, dtype=np.float32).reshape(batch, 4)
    second = np.full((batch, 4), 0.25, dtype=np.float32)
    answer = client.infer("sum", [client.input("A", first), client.input("B", second)], ["SUM"])
    assert (answer.array("SUM") == first + second).all()


def test_many_requests_on_one_client(client):
    for i in range(50):
        array = np.full((1, 4), i, dtype=np.float32)
        answer = client.infer("fixed", [client.input("INPUT0", array)], request_id=str(i))
        assert answer.header["id"] == str(i)
        assert (answer.array("OUTPUT0") == array).all()


ERRORS = [
    # model, inputs (name, datatype, shape of zeros), outputs, code, text
    ("too_large_batch", "fixed", [("INPUT0", "FP32", (9, 4))], None,
     "inference request batch-size must be <= 8 for 'fixed'"),
    ("datatype", "fixed", [("INPUT0", "INT32", (1, 4))], None,
     "inference input 'INPUT0' data-type is 'INT32', but model 'fixed' expects 'FP32'"),
    ("shape_batching", "fixed", [("INPUT0", "FP32", (1, 3))], None,
     "unexpected shape for input 'INPUT0' for model 'fixed'. Expected [-1,4], got [1,3]. NOTE: "
     "Setting a non-zero max_batch_size"),
    ("shape_rank", "fixed", [("INPUT0", "FP32", (4,))], None,
     "unexpected shape for input 'INPUT0' for model 'fixed'. Expected [-1,4], got [4]"),
    ("shape_flat", "matrix", [("INPUT0", "INT32", (3, 2))], None,
     "unexpected shape for input 'INPUT0' for model 'matrix'. Expected [2,-1], got [3,2]"),
    ("unknown_input", "fixed", [("INPUT9", "FP32", (1, 4))], None,
     "unexpected inference input 'INPUT9' for model 'fixed'"),
    ("unknown_output", "fixed", [("INPUT0", "FP32", (1, 4))], ["OUTPUT9"],
     "unexpected inference output 'OUTPUT9' for model 'fixed'"),
    ("missing_input", "pair", [("INPUT0", "INT32", (1, 4))], None,
     "expected 2 inputs but got 1 inputs for model 'pair'. Got input(s) ['INPUT0'], but missing "
     "required input(s) ['INPUT1']. Please provide all required input(s)."),
    ("no_input", "fixed", [], None,
     "expected 1 inputs but got 0 inputs for model 'fixed'. Got input(s) [], but missing required "
     "input(s) ['INPUT0']. Please provide all required input(s)."),
    ("no_input_of_optional", "optional", [], None,
     "expected number of inputs between 1 and 2 but got 0 inputs for model 'optional'."),
    ("batches_differ", "pair", [("INPUT0", "INT32", (2, 4)), ("INPUT1", "INT32", (3, 4))], None,
     "batch size does not match other inputs for 'pair'"),
    ("input_twice", "fixed", [("INPUT0", "FP32", (1, 4))] * 2, None,
     "input 'INPUT0' already exists in request"),
    ("no_shape", "fixed", [("INPUT0", "FP32", ())], None,
     "input 'INPUT0' has no shape but model requires batch dimension for 'fixed'"),
    ("batch_of_none", "fixed", [("INPUT0", "FP32", (0, 4))], None,
     "inference request batch-size must be >= 1 for 'fixed', got 0"),
]
NUMPY = {"FP32": np.float32, "INT32": np.int32}


@pytest.mark.parametrize("model,inputs,outputs,text", [e[1:] for e in ERRORS],
                         ids=[e[0] for e in ERRORS])
def test_refused(client, model, inputs, outputs, text):
    made = [client.input(name, np.zeros(shape, NUMPY[datatype]), datatype)
            for name, datatype, shape in inputs]
    client.expect("INVALID_ARG", text, client.infer, model, made, outputs)


def test_error_text_carries_the_request_id(client):
    made = [client.input("INPUT0", np.zeros((9, 4), np.float32))]
    text = client.expect("INVALID_ARG", "batch-size", client.infer, "fixed", made,
                         request_id="number-7")
    assert text.startswith("[request id: number-7] ")
    text = client.expect("INVALID_ARG", "batch-size", client.infer, "fixed", made)
    assert text.startswith("[request id: <id_unknown>] ")


def test_error_leaves_the_connection_usable(client):
    wrong = [client.input("INPUT0", np.zeros((9, 4), np.float32))]
    right = [client.input("INPUT0", np.ones((1, 4), np.float32))]
    for _ in range(3):
        client.error(client.infer, "fixed", wrong)
        assert client.infer("fixed", right).array("OUTPUT0").tolist() == [[1, 1, 1, 1]]


def test_decoupled_model_needs_a_stream(client):
    text = ("HTTP end point doesn't support models with decoupled transaction policy"
            if client.protocol == "http" else
            "ModelInfer RPC doesn't support models with decoupled transaction policy")
    client.expect("UNSUPPORTED", text, client.infer, "decoupled",
                  [client.input("INPUT0", np.arange(4, dtype=np.int32))])
