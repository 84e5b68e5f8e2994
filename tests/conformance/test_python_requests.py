# SPDX-License-Identifier: Apache-2.0
"""What a Python model sees of a request and of itself, and the functions for both."""

import json

import grpc_raw
import numpy as np
import pytest
from python_server import raised, snippet, texts

MODELS = ["snippets", "about", "optional"]


def about(client, outputs=None, **request):
    answer = client.infer("about", [client.input("IN", texts(""))], outputs, **request)
    return json.loads(answer.array("ABOUT")[0])


# The model


def test_the_arguments_of_initialize(python_client, python):
    args = snippet(python_client, "return model.args")
    config = json.loads(args.pop("model_config"))
    assert args == {
        "model_instance_kind": "CPU", "model_instance_name": "snippets_0",
        "model_instance_device_id": "0", "model_repository": str(python.repository / "snippets"),
        "model_version": "1", "model_name": "snippets"}
    assert config["name"] == "snippets" and config["backend"] == "python"
    assert config["max_batch_size"] == 0 and [i["name"] for i in config["input"]] == ["CODE"]
    assert config["input"][0]["data_type"] == "TYPE_STRING" and config["input"][0]["dims"] == [1]
    assert "dynamic_batching" not in config and "sequence_batching" not in config
    assert config["instance_group"][0]["kind"] == "KIND_CPU"


def test_a_group_of_instances_has_a_name(python_client):
    told = about(python_client)["model"]
    assert told["kind"] == "CPU" and told["instance"] == "crew_0" and told["colour"] == "grün"


# The request


def test_a_request_without_settings(python_client):
    told = about(python_client)
    assert told["id"] == "" and told["correlation_id"] == 0 and told["flags"] == 0
    assert told["timeout"] == 0 and told["cancelled"] is False
    assert {k for k in told["parameters"] if not k.startswith("triton_")} <= {"binary_data_output"}


def test_a_request_with_settings(python_client):
    told = about(python_client, request_id="r-ä", timeout=77_000_000, sequence_id=12,
                 sequence_start=True, sequence_end=True,
                 parameters={"text": "x ü", "number": -3, "flag": True})
    assert told["id"] == "r-ä" and told["correlation_id"] == 12 and told["flags"] == 3
    assert told["timeout"] == 77_000_000
    for key, value in {"text": "x ü", "number": -3, "flag": True}.items():
        assert told["parameters"][key] == value
    assert not {"timeout", "priority", "sequence_id", "sequence_start"} & set(told["parameters"])


def test_a_correlation_id_of_63_bits_or_a_text(python_client):
    assert about(python_client, sequence_id=2**63 - 1,
                 sequence_start=True)["correlation_id"] == 2**63 - 1
    assert about(python_client, sequence_id="käse",
                 sequence_start=True)["correlation_id"] == "käse"


def test_parameters_of_four_kinds(python):
    message = grpc_raw.infer_request(
        "snippets", [grpc_raw.tensor("CODE", "BYTES", [1], bytes_contents=[
            b"return json.loads(request.parameters())"])], outputs=["VALUE"],
        parameters={"i": -2**63, "f": 1.5, "b": False, "s": 'quote " and \\ and \n'})
    reply = grpc_raw.call(python, "ModelInfer", message)
    told = json.loads(reply.raw_output_contents[0][4:])["value"]
    assert told == {"i": -2**63, "f": 1.5, "b": False, "s": 'quote " and \\ and \n'}


def test_the_outputs_that_are_wanted(python_client):
    assert about(python_client)["wanted"] == ["ABOUT", "SECOND"]
    assert about(python_client, ["ABOUT"])["wanted"] == ["ABOUT"]
    assert snippet(python_client, """
names = request.requested_output_names()
return [type(names).__name__, sorted(names)]""") == ["set", ["VALUE"]]


def test_optional_inputs(python_client):
    client = python_client
    one, two = (client.input(n, np.array([v], np.int32)) for n, v in (("A", 1), ("B", 2)))
    for inputs, names in ([[one], ["A"]], [[two], ["B"]], [[one, two], ["A", "B"]]):
        answer = client.infer("optional", inputs)
        assert [n.decode() for n in answer.array("NAMES")] == names


def test_flags_can_be_set(python_client):
    assert snippet(python_client, """
request.set_flags(3)
return request.flags()""") == 3


def test_a_request_without_a_trace(python_client):
    assert snippet(python_client, "return request.trace().get_context()") is None


# Requests that a model makes


@pytest.mark.parametrize("arguments", [
    "inputs=['text'], requested_output_names=[], model_name='m'",
    "inputs=None, requested_output_names=[], model_name='m'",
    "inputs=[], requested_output_names=[3], model_name='m'",
    "inputs=[], requested_output_names=[]",
    "inputs=[], model_name='m'",
    "requested_output_names=[], model_name='m'",
    "inputs=[], requested_output_names=[], model_name=3",
    "inputs=[], requested_output_names=[], model_name='m', correlation_id=None",
    "inputs=[], requested_output_names=[], model_name='m', request_id=None",
    "inputs=[], requested_output_names=[], model_name='m', model_version='1'",
    "inputs=[], requested_output_names=[], model_name='m', timeout=-1",
    "inputs=[], requested_output_names=[], model_name='m', trace=3",
    "inputs=[], requested_output_names=[], model_name='m', preferred_memory=1",
])
def test_arguments_of_other_types(python_client, arguments):
    assert raised(python_client,
                  f"pb_utils.InferenceRequest({arguments})").startswith("TypeError: ")


@pytest.mark.parametrize("arguments, text", [
    ("request_id='i', inputs=[None]",
     "Input tensor for request with id 'i' and model name 'm' should not be empty."),
    ("correlation_id=1.5, inputs=[]", "Correlation ID must be integer or string"),
    ("parameters={1: 2}, inputs=[]",
     "Expect parameters keys to have type str, found type <class 'int'>"),
    ("parameters={'a': 1.5}, inputs=[]",
     "Expect parameters values to have type bool/int/str, found type <class 'float'>"),
    ("parameters=['a'], inputs=[]", "got <class 'list'>"),
], ids=["input", "correlation", "key", "value", "list"])
def test_arguments_that_no_request_has(python_client, arguments, text):
    said = raised(python_client, "pb_utils.InferenceRequest(requested_output_names=[], "
                  f"model_name='m', {arguments})")
    assert said.startswith("TritonModelException: ") and text in said


def test_a_negative_correlation_id(python_client):
    assert raised(python_client, "pb_utils.InferenceRequest(inputs=[], requested_output_names=[], "
                  "model_name='m', correlation_id=-1)").startswith("RuntimeError: ")


def test_a_request_tells_what_it_was_made_of(python_client):
    assert snippet(python_client, """
made = pb_utils.InferenceRequest(
    model_name="m", requested_output_names=["A", "B"], request_id="r", correlation_id="text",
    flags=3, timeout=5, model_version=2, parameters={"a": 1},
    inputs=[pb_utils.Tensor("IN", np.zeros(1))],
    preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_GPU, 1))
return [made.request_id(), made.correlation_id(), made.flags(), made.timeout(),
        json.loads(made.parameters()), sorted(made.requested_output_names()),
        made.inputs()[0].name()]
""") == ["r", "text", 3, 5, {"a": 1}, ["A", "B"], "IN"]


OF_THE_MODEL = ("made = pb_utils.InferenceRequest(inputs=[], requested_output_names=[], "
                "model_name='m')\n")


def test_a_request_of_the_model_is_not_cancelled_nor_rescheduled(python_client):
    assert snippet(python_client, OF_THE_MODEL + "return made.is_cancelled()") is False
    assert raised(python_client, OF_THE_MODEL + "made.set_release_flags(2)").startswith(
        "TritonModelException: ")


def test_a_request_of_the_model_has_no_responses_to_send(python_client):
    assert raised(python_client, OF_THE_MODEL + "made.get_response_sender().send("
                  "pb_utils.InferenceResponse([]))") == (
        "TritonModelException: Unable to send response. Response sender has no reference to the "
        "decoupled state of the model.")


# Functions


def test_tensors_by_name(python_client):
    assert snippet(python_client, """
response = pb_utils.InferenceResponse([pb_utils.Tensor("A", np.zeros(1)),
                                       pb_utils.Tensor("B", np.ones(1))])
return [pb_utils.get_input_tensor_by_name(request, "CODE").name(),
        pb_utils.get_input_tensor_by_name(request, "OTHER"),
        pb_utils.get_output_tensor_by_name(response, "B").as_numpy().tolist(),
        pb_utils.get_output_tensor_by_name(response, "C")]
""") == ["CODE", None, [1.0], None]


def test_configurations_by_name(python_client):
    assert snippet(python_client, """
config = json.loads(model.args["model_config"])
return [pb_utils.get_input_config_by_name(config, "CODE")["data_type"],
        pb_utils.get_input_config_by_name(config, "VALUE"),
        pb_utils.get_output_config_by_name(config, "OTHER")["data_type"],
        pb_utils.get_output_config_by_name(config, "NONE"),
        pb_utils.using_decoupled_model_transaction_policy(config),
        pb_utils.using_decoupled_model_transaction_policy(
            {"model_transaction_policy": {"decoupled": True}})]
""") == ["TYPE_STRING", None, "TYPE_FP32", None, False, True]


def test_names_of_data_types(python_client):
    names = ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
             "FP16", "FP32", "FP64", "STRING"]
    kinds = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
             "float16", "float32", "float64", "object"]
    assert snippet(python_client, f"""
return [[np.dtype(pb_utils.triton_string_to_numpy(f"TYPE_{{name}}")).name for name in {names}],
        [np.dtype(pb_utils.triton_to_numpy_type(i)).name for i in range(1, 14)],
        [pb_utils.numpy_to_triton_type(pb_utils.triton_to_numpy_type(i)) for i in range(1, 14)],
        pb_utils.numpy_to_triton_type(np.complex64)]
""") == [kinds, kinds, list(range(1, 14)), None]
    for name in ("TYPE_BF16", "FP32", ""):
        assert raised(python_client, f"pb_utils.triton_string_to_numpy('{name}')").startswith(
            "KeyError: ")


def test_the_functions_for_strings(python_client):
    assert snippet(python_client, r"""
packed = pb_utils.serialize_byte_tensor(np.array([b"ab", "ü", 3], np.object_))
fixed = pb_utils.serialize_byte_tensor(np.array([b"ab", b"c"]))
back = pb_utils.deserialize_bytes_tensor(packed)
return [packed.hex(), fixed.hex(), [b.decode() for b in back], back.dtype.name, back.ndim,
        list(pb_utils.serialize_byte_tensor(np.zeros(0, np.object_))),
        pb_utils.serialize_byte_tensor(np.zeros(3)),
        pb_utils.deserialize_bytes_tensor(b"").tolist()]
""") == ["02000000616202000000c3bc0100000033", "0200000061620100000063", ["ab", "ü", "3"], "object",
         1, [], None, []]


def test_constants(python_client):
    names = ["TRITONSERVER_REQUEST_FLAG_SEQUENCE_START", "TRITONSERVER_REQUEST_FLAG_SEQUENCE_END",
             "TRITONSERVER_REQUEST_RELEASE_ALL", "TRITONSERVER_REQUEST_RELEASE_RESCHEDULE",
             "TRITONSERVER_RESPONSE_COMPLETE_FINAL"]
    assert snippet(python_client, f"""
return [[int(getattr(pb_utils, name)) for name in {names}],
        int(pb_utils.TRITONSERVER_MEMORY_GPU), int(pb_utils.TRITONSERVER_MEMORY_CPU),
        len(pb_utils.TRITON_STRING_TO_NUMPY)]
""") == [[1, 2, 1, 2, 1], 0, 1, 13]


def test_the_two_modules_have_the_same_classes(python_client):
    assert snippet(python_client, """
import c_python_backend_utils as c_utils
both = ["InferenceRequest", "InferenceResponse", "Tensor", "TritonError", "TritonModelException",
        "PreferredMemory", "MetricFamily", "Logger", "ModelConfig"]
return [[name for name in both[:-1] if getattr(c_utils, name) is not getattr(pb_utils, name)],
        [name for name in ("InferenceResponseSender", "ResponseIterator", "InferenceTrace", "Metric",
                           "MetricKind") if not hasattr(c_utils, name)]]
""") == [[], []]


def test_the_folder_of_the_model(python_client, python):
    assert snippet(python_client, "return pb_utils.get_model_dir()") == str(
        python.repository / "snippets" / "1")
