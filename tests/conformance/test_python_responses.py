# SPDX-License-Identifier: Apache-2.0
"""What execute() of a model that is not decoupled returns, and what clients get for it."""

import concurrent.futures
import json

import grpc_raw
import numpy as np
import pytest
import raw_http
from python_server import metrics, raised, snippet, texts, wait_until

MODELS = ["snippets", "returns", "returns_batch"]

WRAPPED = "Failed to process the request(s) for model 'returns_0', message: "

# HTTP status and gRPC status of each code.
CODES = {
    "UNKNOWN": (400, "UNKNOWN"),
    "INTERNAL": (500, "INTERNAL"),
    "NOT_FOUND": (404, "NOT_FOUND"),
    "INVALID_ARG": (400, "INVALID_ARGUMENT"),
    "UNAVAILABLE": (503, "UNAVAILABLE"),
    "UNSUPPORTED": (501, "UNIMPLEMENTED"),
    "ALREADY_EXISTS": (400, "ALREADY_EXISTS"),
    "CANCELLED": (400, "CANCELLED"),
}


def run(client, code, model="returns"):
    return client.infer(model, [client.input("CODE", texts(code))])


def fails(client, code):
    """Runs a body of execute() that must fail as a whole. Returns the text of the error."""
    status, text = client.error(run, client, code)
    assert status in (500, "INTERNAL"), text
    assert text.startswith(WRAPPED), text
    assert run(client, "return [answer(1)]").array("OUT").tolist() == [1]
    return text.removeprefix(WRAPPED)


def send_batch(server, values):
    """Sends four requests, which the batcher executes together. Returns their replies."""
    def send(value):
        return raw_http.infer(server, "returns_batch", {
            "inputs": [raw_http.tensor("IN", "INT32", [1, 1], [value])]})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(send, values))


# The whole call fails


def test_an_exception(python_client):
    text = fails(python_client, 'raise ValueError("a Gruß")')
    assert text.startswith("ValueError: a Gruß\n\nAt:\n  snippet(2): body\n  ")
    assert "model.py(" in text and "): execute\n" in text


def test_an_exception_of_the_interface(python_client):
    text = fails(python_client, 'raise pb_utils.TritonModelException("by hand")')
    assert text.startswith("TritonModelException: by hand")


@pytest.mark.parametrize("value, kind", [
    ("3", "int"), ("'text'", "str"), ("(answer(1),)", "tuple"), ("{}", "dict"),
    ("answer(1)", "c_python_backend_utils.InferenceResponse"),
])
def test_no_list(python_client, value, kind):
    text = fails(python_client, f"return {value}")
    assert text.startswith("Expected a list in the execute return, found type '<class '")
    assert kind.rpartition(".")[2] in text


@pytest.mark.parametrize("value, count", [("[]", 0), ("[answer(1), answer(2)]", 2)])
def test_another_number_of_responses(python_client, value, count):
    assert fails(python_client, f"return {value}") == (
        "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
        f"InferenceRequest(s) size is:1, and InferenceResponse(s) size is:{count}\n")


@pytest.mark.parametrize("value, kind", [("[3]", "<class 'int'>"), ("['text']", "<class 'str'>")])
def test_a_list_of_something_else(python_client, value, kind):
    assert fails(python_client, f"return {value}") == (
        "Expected an 'InferenceResponse' object in the execute function return list, found type "
        f"'{kind}'.")


@pytest.mark.parametrize("value", ["None", "[None]"])
def test_nothing(python_client, value):
    status, text = python_client.error(run, python_client, f"return {value}")
    assert status in (500, "INTERNAL")
    assert "returns_0" in text or "final response" in text
    assert run(python_client, "return [answer(1)]").array("OUT").tolist() == [1]


def test_sys_exit_fails_the_request(python_client):
    text = fails(python_client, "raise SystemExit(3)")
    assert text.startswith("SystemExit: 3")


def failures(server, text):
    """Returns how many lines of the log at the level ERROR contain the text."""
    return sum(line.startswith("E") and text in line
               for line in server.log.read_text(errors="replace").splitlines())


@pytest.mark.parametrize("value, said", [
    (90, "ValueError: all of them"),
    (91, "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
         "InferenceRequest(s) size is:4, and InferenceResponse(s) size is:3"),
    (92, "Expected an 'InferenceResponse' object in the execute function return list, found type "
         "'<class 'str'>'."),
], ids=["exception", "number", "element"])
def test_all_requests_of_a_batch_fail(python, value, said):
    """Four requests of one batch get the same error, which the log contains once."""
    text = WRAPPED.replace("returns_0", "returns_batch_0") + said
    before = failures(python, text)
    answers = send_batch(python, [1, 2, value, 3])
    assert [answer.status for answer in answers] == [500] * 4
    assert {answer.error.startswith(text) for answer in answers} == {True}
    assert len({answer.error for answer in answers}) == 1
    wait_until(lambda: failures(python, text) == before + 1, "one line of the log")
    assert [answer.status for answer in send_batch(python, [1, 2, 3, 4])] == [200] * 4


# One response is an error


@pytest.mark.parametrize("code", CODES)
def test_the_code_of_an_error(python_client, code):
    status, text = python_client.error(
        run, python_client, f'return [error("said so", pb_utils.TritonError.{code})]')
    assert text == "said so"
    assert status == CODES[code][0 if python_client.protocol == "http" else 1]


def test_an_error_without_a_code(python_client):
    python_client.expect("INTERNAL", "plain ärror", run, python_client,
                         'return [error("plain ärror")]')


def test_outputs_beside_an_error_are_ignored(python_client):
    python_client.expect("NOT_FOUND", "both", run, python_client, """
return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([1], np.int32))],
        pb_utils.TritonError("both", pb_utils.TritonError.NOT_FOUND))]""")


def test_one_error_among_four_responses(python):
    """Four requests of one batch: one fails, and the others do not."""
    answers = send_batch(python, [1, -1, 2, 3])
    assert answers[1].status == 400 and answers[1].error == "negative: -1"
    assert [a.json["outputs"][0]["data"] for a in answers if a.status == 200] == [
        [1, 4], [2, 4], [3, 4]]


def counted(server):
    """Returns the numbers of requests that succeeded and failed, of the statistics and the metrics."""
    (told,) = raw_http.get(server, "/v2/models/returns_batch/stats").json["model_stats"]
    page = metrics(server)
    labels = 'model="returns_batch"'
    failed = f'nv_inference_request_failure{{{labels},reason="BACKEND",version="1"}}'
    return [told["inference_stats"][key]["count"] for key in ("success", "fail")] + [
        told["inference_count"], page[f'nv_inference_request_success{{{labels},version="1"}}'],
        page[failed]]


def test_the_outcome_of_each_request_of_a_batch_is_counted(python):
    before = counted(python)
    answers = send_batch(python, [1, -1, 2, -3])
    assert sorted(answer.status for answer in answers) == [200, 200, 400, 400]
    assert [new - old for old, new in zip(before, counted(python))] == [2, 2, 2, 2, 2]


# Outputs


def test_outputs_that_were_not_asked_for_are_left_out(python_client):
    answer = python_client.infer(
        "returns", [python_client.input("CODE", texts("""
return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([1], np.int32)),
                                    pb_utils.Tensor("SECOND", np.array([2], np.int32)),
                                    pb_utils.Tensor("UNKNOWN", np.array([3], np.int32))])]"""))],
        ["SECOND"])
    assert answer.names == ["SECOND"] and answer.array("SECOND").tolist() == [2]


def test_an_output_that_the_model_does_not_have_is_left_out(python_client):
    answer = run(python_client, """
return [pb_utils.InferenceResponse([pb_utils.Tensor("UNKNOWN", np.array([3], np.int32))])]""")
    assert answer.header.get("outputs", []) == []


def test_an_output_may_be_missing(python_client):
    assert run(python_client, "return [answer(1)]").names == ["OUT"]
    assert run(python_client, "return [pb_utils.InferenceResponse()]").names == []


@pytest.mark.parametrize("array, expected", [
    ("np.array([[1, 2, 3]], np.int32)", ("INT32", [1, 3])), ("np.array([1.5])", ("FP64", [1])),
    ("np.array([b'x'])", ("BYTES", [1])),
])
def test_shapes_and_types_are_the_models_own(python_client, array, expected):
    answer = run(python_client, f"""
return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", {array})])]""")
    output = answer.output("OUT")
    assert (output["datatype"], output["shape"]) == expected


def test_one_tensor_in_two_outputs(python_client):
    """The same array is sent twice, and an input is an output."""
    answer = run(python_client, """
array = np.array([5], np.int32)
code = request.inputs()[0]
return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", array), pb_utils.Tensor("SECOND", array),
                                    pb_utils.Tensor("TEXT", code.as_numpy())])]""")
    assert answer.array("OUT").tolist() == answer.array("SECOND").tolist() == [5]
    assert answer.array("TEXT")[0].startswith(b"\narray = ")


# Objects


@pytest.mark.parametrize("code, text", [
    ("pb_utils.InferenceResponse([None])",
     "TritonModelException: Output tensor for inference response should not be empty."),
    ("pb_utils.InferenceResponse(output_tensors=None)", "TypeError: "),
    ("pb_utils.InferenceResponse(['text'])", "TypeError: "),
    ("pb_utils.InferenceResponse(error='text')", "TypeError: "),
    ("pb_utils.TritonError('text', 3)", "TypeError: "),
    ("pb_utils.TritonError(3)", "TypeError: "),
])
def test_responses_that_cannot_be_made(python_client, code, text):
    assert raised(python_client, code).startswith(text)


def test_an_error_tells_its_code_and_text(python_client):
    assert snippet(python_client, """
names = ["UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE", "UNSUPPORTED",
         "ALREADY_EXISTS", "CANCELLED"]
errors = [pb_utils.TritonError("text", getattr(pb_utils.TritonError, name)) for name in names]
response = pb_utils.InferenceResponse(error=errors[2])
return [[int(e.code()) for e in errors], errors[0].message(), response.has_error(),
        response.error().message(), response.output_tensors(),
        pb_utils.InferenceResponse([]).has_error(), pb_utils.InferenceResponse([]).error()]
""") == [list(range(8)), "text", True, "text", [], False, None]


# Parameters of responses


def test_parameters_of_a_response(python, python_client):
    code = """
return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([1], np.int32))],
        parameters={"number": -3, "text": "ä", "flag": True})]"""
    if python_client.protocol == "http":
        answer = run(python_client, code)
        parameters = answer.header["parameters"]
    else:
        message = grpc_raw.infer_request(
            "returns", [grpc_raw.tensor("CODE", "BYTES", [1], bytes_contents=[code.encode()])])
        given = grpc_raw.call(python, "ModelInfer", message).parameters
        parameters = {k: getattr(v, v.WhichOneof("parameter_choice")) for k, v in given.items()}
    assert {k: parameters[k] for k in ("number", "text", "flag")} == {
        "number": -3, "text": "ä", "flag": True}


@pytest.mark.parametrize("parameters, text", [
    ("{1: 2}", "Expect parameters keys to have type str, found type <class 'int'>"),
    ("{'a': 1.5}", "Expect parameters values to have type bool/int/str, found type <class 'float'>"),
    ("{'a': None}",
     "Expect parameters values to have type bool/int/str, found type <class 'NoneType'>"),
    ("[1]", "got <class 'list'>"),
], ids=["key", "float", "none", "list"])
def test_parameters_that_no_response_has(python_client, parameters, text):
    assert text in raised(python_client, f"pb_utils.InferenceResponse([], parameters={parameters})")


def test_a_response_tells_its_parameters(python_client):
    told = snippet(python_client, """
return [pb_utils.InferenceResponse([], parameters={"a": 1, "b": "x", "c": True}).parameters(),
        pb_utils.InferenceResponse([]).parameters()]""")
    assert json.loads(told[0]) == {"a": 1, "b": "x", "c": True} and json.loads(told[1]) == {}


def test_an_integer_of_more_than_64_bits(python_client):
    status, _ = python_client.error(run, python_client, """
return [pb_utils.InferenceResponse([], parameters={"a": 2**64})]""")
    assert status in (400, 500, "INTERNAL", "INVALID_ARGUMENT")
    assert run(python_client, "return [answer(1)]").array("OUT").tolist() == [1]


# A sender in a model that is not decoupled


def test_a_sender_sends_the_response(python_client):
    answer = run(python_client, """
sender = request.get_response_sender()
sender.send(answer(7), flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
return None""")
    assert answer.array("OUT").tolist() == [7]


def test_a_sender_sends_the_final_flag_afterwards(python_client):
    answer = run(python_client, """
sender = request.get_response_sender()
sender.send(answer(7))
sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
return [None]""")
    assert answer.array("OUT").tolist() == [7]


def test_what_a_sender_refuses(python_client):
    """The texts come back in the response that the same sender sends."""
    answer = run(python_client, """
sender = request.get_response_sender()
said = []
def refused(*arguments):
    try:
        sender.send(*arguments)
        said.append("")
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
refused(answer(1), 2)
refused(None, 0)
refused(None, 1)
refused("text")
sender.send(pb_utils.InferenceResponse([
    pb_utils.Tensor("TEXT", np.array(said, np.object_))]), 1)
return None""")
    said = [text.decode() for text in answer.array("TEXT")]
    assert said[:3] == [
        "TritonModelException: Unable to send response. Unsupported flag provided.",
        "TritonModelException: Inference Response object must be provided when the response flags "
        "is set to zero.",
        "TritonModelException: Unable to send response. Non-decoupled model cannot send complete "
        "final before sending a response.",
    ]
    assert said[3].startswith("TypeError: ")


def test_a_second_response_of_a_sender(python_client):
    answer = run(python_client, """
sender = request.get_response_sender()
sender.send(answer(1))
try:
    sender.send(answer(2))
except pb_utils.TritonModelException as error:
    model.kept["said"] = str(error)
sender.send(flags=1)
return None""")
    assert answer.array("OUT").tolist() == [1]
    answer = run(python_client, """
return [pb_utils.InferenceResponse([
    pb_utils.Tensor("TEXT", np.array([model.kept["said"]], np.object_))])]""")
    assert answer.array("TEXT")[0] == (
        b"Unable to send response. Non-decoupled model cannot send more than one response.")


def test_a_response_of_a_sender_and_a_returned_one(python, python_client):
    """The client gets what the sender sent, once. The log says that the other one is refused."""
    text = WRAPPED + (
        "Unable to send response. Non-decoupled model cannot send more than one response.")
    before = failures(python, text)
    answer = run(python_client, """
request.get_response_sender().send(answer(1), 1)
return [answer(2)]""")
    assert answer.array("OUT").tolist() == [1]
    wait_until(lambda: failures(python, text) == before + 1, "one line of the log")
    assert run(python_client, "return [answer(3)]").array("OUT").tolist() == [3]
