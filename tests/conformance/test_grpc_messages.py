# SPDX-License-Identifier: Apache-2.0
"""ModelInfer messages that the official clients do not send: placement of data, kinds, errors."""

import struct

import grpc_raw
import numpy as np
import pytest
from grpc_raw import infer_request, tensor
from models import type_model
from raw_http import elements
from tritonclient.grpc import service_pb2 as pb

MODEL = type_model("INT32", False)


def ints(*values) -> bytes:
    return np.array(values, np.int32).tobytes()


def infer(server, *args, **kwargs):
    return grpc_raw.call(server, "ModelInfer", infer_request(*args, **kwargs))


def failure(server, *args, **kwargs):
    return grpc_raw.failure(server, "ModelInfer", infer_request(*args, **kwargs))


def test_answer_message(server):
    response = infer(server, MODEL, [tensor("INPUT0", "INT32", [2])], [ints(1, 2)],
                     request_id="seven")
    expected = pb.ModelInferResponse(model_name=MODEL, model_version="1", id="seven",
                                     raw_output_contents=[ints(1, 2)])
    expected.outputs.add(name="OUTPUT0", datatype="INT32", shape=[2])
    assert response == expected


def test_unasked_outputs_are_all(server):
    response = infer(server, "mixed", [tensor("INPUT0", "INT32", [1]),
                                       tensor("INPUT1", "FP32", [2, 1]),
                                       tensor("INPUT2", "BYTES", [1])],
                     [ints(5), bytes(8), elements(b"abc")])
    got = {o.name: raw for o, raw in zip(response.outputs, response.raw_output_contents)}
    assert got == {"OUTPUT0": ints(5), "OUTPUT1": bytes(8), "OUTPUT2": elements(b"abc")}


def test_surplus_raw_entry_is_ignored(server):
    response = infer(server, MODEL, [tensor("INPUT0", "INT32", [1])], [ints(3), b"surplus"])
    assert list(response.raw_output_contents) == [ints(3)]


def test_http_only_parameters_are_ignored(server):
    response = infer(server, MODEL, [tensor("INPUT0", "INT32", [1], {"binary_data_size": 99})],
                     [ints(3)], parameters={"binary_data_output": False})
    assert list(response.raw_output_contents) == [ints(3)]


@pytest.mark.parametrize("version,code,text", [
    ("x", "INVALID_ARGUMENT", "failed to get model version from specified version string 'x' "
     "(details: stol), version should be an integral value > 0"),
    ("-5", "INVALID_ARGUMENT",
     "invalid model version specified '-5' , version should be an integral value > 0"),
    ("99999999999999999999", "INVALID_ARGUMENT",
     "failed to get model version from specified version string '99999999999999999999' "
     "(details: stol), version should be an integral value > 0"),
    ("1x", "INVALID_ARGUMENT", "failed to get model version from specified version string '1x' "
     "(details: stol), version should be an integral value > 0"),
    ("1.0", "INVALID_ARGUMENT", "failed to get model version from specified version string '1.0' "
     "(details: stol), version should be an integral value > 0"),
    ("7", "NOT_FOUND", f"Request for unknown model: '{MODEL}' version 7 is not found"),
])
def test_version_text(server, version, code, text):
    assert failure(server, MODEL, [tensor("INPUT0", "INT32", [1])], [ints(1)],
                   version=version) == (code, text)


def test_empty_model_name(server):
    assert failure(server, "", [tensor("INPUT0", "INT32", [1])], [ints(1)]) == (
        "NOT_FOUND", "Request for unknown model: '' is not found")


@pytest.mark.parametrize("inputs,raw,text", [
    ([tensor("INPUT0", "INT32", [1], int_contents=[1])], [ints(1)],
     "contents field must not be specified when using raw_input_contents for 'INPUT0' for model "
     f"'{MODEL}'"),
    ([tensor("INPUT0", "INT32", [1])], [],
     f"unable to find data for input tensor 'INPUT0' for model '{MODEL}' in request."),
    ([tensor("INPUT0", "INT32", [1], fp32_contents=[1.0])], [],
     f"unexpected explicit tensor data for input tensor 'INPUT0' for model '{MODEL}' of type "
     "'FP32', expected datatype 'INT32'"),
    ([tensor("INPUT0", "INT32", [2], int_contents=[1])], [],
     "input byte size mismatch for input 'INPUT0'"),
    ([tensor("INPUT0", "INT32", [2], int_contents=[1, 2, 3])], [],
     "input byte size mismatch for input 'INPUT0'"),
    ([tensor("INPUT0", "INT32", [2])], [ints(1)],
     f"input byte size mismatch for input 'INPUT0' for model '{MODEL}'. Expected 8, got 4"),
    ([tensor("INPUT0", "INT32", [-1])], [ints(1)], "All input dimensions should be specified"),
    ([tensor("INPUT0", "INT33", [1])], [ints(1)],
     f"inference input 'INPUT0' data-type is '<invalid>', but model '{MODEL}' expects 'INT32'"),
    ([tensor("INPUT0", "", [1])], [ints(1)], "data-type is '<invalid>'"),
    ([tensor("", "INT32", [1])], [ints(1)], f"unexpected inference input '' for model '{MODEL}'"),
    ([tensor("INPUT0", "INT32", [1])] * 2, [ints(1)] * 2, "already exists in request"),
    ([], [], "expected 1 inputs but got 0 inputs"),
], ids=["both", "none", "wrong_field", "few", "many", "raw_size", "negative", "datatype",
        "no_datatype", "no_name", "twice", "no_input"])
def test_refused(server, inputs, raw, text):
    code, message = failure(server, MODEL, inputs, raw)
    assert code == "INVALID_ARGUMENT"
    assert text in message


def test_two_contents_fields(server):
    code, message = failure(server, MODEL, [
        tensor("INPUT0", "INT32", [1], int_contents=[1], fp32_contents=[1.0])])
    assert code == "INVALID_ARGUMENT"
    assert "INPUT0" in message


@pytest.mark.parametrize("shape", [[2**62], [2**62, 4], [2**32, 2**32], [2**63 - 1], [-2**63]],
                         ids=["2^62", "2^62x4", "2^32x2^32", "2^63-1", "-2^63"])
@pytest.mark.parametrize("form", ["raw", "contents"])
def test_shape_that_overflows(server, shape, form):
    if form == "raw":
        code, message = failure(server, "free_matrix", [tensor("INPUT0", "INT32", shape)],
                                [ints(1)])
    else:
        code, message = failure(server, "free_matrix",
                                [tensor("INPUT0", "INT32", shape, int_contents=[1])])
    assert code == "INVALID_ARGUMENT"
    assert "INPUT0" in message


@pytest.mark.parametrize("shape", [[2**62], [2**62, 4], [2**32, 2**32], [2**63 - 1]],
                         ids=["2^62", "2^62x4", "2^32x2^32", "2^63-1"])
def test_shape_that_overflows_to_nothing(server, shape):
    """A product of dimensions that overflows to zero must not be accepted as an empty tensor."""
    code, _ = failure(server, "free_matrix" if len(shape) == 2 else "victim",
                      [tensor("INPUT0", "INT32", shape)], [b""])
    assert code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("shape,raw,text", [
    ([1], struct.pack("<I", 10) + b"abc", "expecting string of length 10 but only 3 bytes "
     "available"),
    ([2], elements(b"abc") + b"\x01", "incomplete string length indicator for inference input "
     "'INPUT0'"),
    ([2], elements(b"abc"), "expected 2 string elements for inference input 'INPUT0'"),
    ([1], elements(b"abc", b"d"), "unexpected number of string elements 2 for inference input "
     "'INPUT0'"),
], ids=["data", "length", "few", "many"])
def test_bytes_that_do_not_fit(server, shape, raw, text):
    code, message = failure(server, type_model("BYTES", False),
                            [tensor("INPUT0", "BYTES", shape)], [raw])
    assert code == "INVALID_ARGUMENT"
    assert text in message


@pytest.mark.parametrize("key,value,text", [
    ("priority", -1, "invalid value for 'priority', expected value >= 0."),
    ("priority", "1", "expected int64_param or uint64_param."),
    ("triton_custom", 1, "parameter keys starting with 'triton_' are reserved for Triton usage."),
])
def test_parameter_kinds(server, key, value, text):
    code, message = failure(server, MODEL, [tensor("INPUT0", "INT32", [1])], [ints(1)],
                            parameters={key: value})
    assert code == "INVALID_ARGUMENT"
    assert text in message


@pytest.mark.parametrize("key,value,kinds", [
    ("timeout", True, "int64_param or uint64_param"),
    ("sequence_id", True, "int64_param, uint64_param, or string_param"),
    ("custom", pb.InferParameter(),
     "int64_param, uint64_param, double_param, bool_param, or string_param"),
], ids=["timeout", "sequence_id", "custom"])
def test_a_refusal_names_all_kinds_that_are_taken(server, key, value, kinds):
    assert failure(server, MODEL, [tensor("INPUT0", "INT32", [1])], [ints(1)],
                   parameters={key: value}) == (
        "INVALID_ARGUMENT", f"invalid value type for '{key}' parameter, expected {kinds}.")


@pytest.mark.parametrize("key", ["timeout", "sequence_id", "custom"])
@pytest.mark.parametrize("value", [1, 2**63], ids=["small", "wide"])
def test_unsigned_parameters_are_taken(server, key, value):
    response = infer(server, MODEL, [tensor("INPUT0", "INT32", [1])], [ints(1)],
                     parameters={key: pb.InferParameter(uint64_param=value)})
    assert list(response.raw_output_contents) == [ints(1)]


@pytest.mark.parametrize("datatype,contents", [
    ("INT8", {"int_contents": [1, 128]}), ("INT8", {"int_contents": [-129, 1]}),
    ("INT16", {"int_contents": [1, 2**31 - 1]}), ("UINT8", {"uint_contents": [256, 1]}),
    ("UINT16", {"uint_contents": [1, 2**32 - 1]})],
    ids=["INT8", "INT8_negative", "INT16", "UINT8", "UINT16"])
def test_typed_contents_beyond_their_type_are_refused(server, datatype, contents):
    (values,) = contents.values()
    wrong = next(value for value in values if value != 1)
    assert failure(server, type_model(datatype, False),
                   [tensor("INPUT0", datatype, [2], **contents)]) == (
        "INVALID_ARGUMENT",
        f"input 'INPUT0' has the value {wrong}, which {datatype} cannot hold")


@pytest.mark.parametrize("value", [True, 5, "text", 1.5], ids=["bool", "int", "text", "double"])
def test_custom_parameters_are_taken(server, value):
    response = infer(server, MODEL, [tensor("INPUT0", "INT32", [1])], [ints(1)],
                     parameters={"custom": value})
    assert list(response.raw_output_contents) == [ints(1)]


@pytest.mark.parametrize("value", [0, 5, pb.InferParameter(uint64_param=2)],
                         ids=["zero", "five", "unsigned"])
def test_priority_is_taken(server, value):
    response = infer(server, MODEL, [tensor("INPUT0", "INT32", [1])], [ints(1)],
                     parameters={"priority": value})
    assert list(response.raw_output_contents) == [ints(1)]


def test_final_response_flag_is_taken(server):
    response = infer(server, MODEL, [tensor("INPUT0", "INT32", [1])], [ints(1)],
                     parameters={"triton_enable_empty_final_response": True})
    assert not response.parameters


@pytest.mark.parametrize("method,fields,code,text", [
    ("ModelMetadata", {"name": ""}, "NOT_FOUND", "Request for unknown model: '' is not found"),
    ("ModelConfig", {"name": "no"}, "NOT_FOUND", "Request for unknown model: 'no' is not found"),
    ("ModelConfig", {"name": "fixed", "version": "x"}, "INVALID_ARGUMENT",
     "failed to get model version from specified version string 'x' (details: stol), version "
     "should be an integral value > 0"),
    ("ModelStatistics", {"name": "no"}, "INVALID_ARGUMENT", "requested model 'no' is not "
     "available"),
    ("ModelReady", {"name": "fixed", "version": "x"}, "INVALID_ARGUMENT",
     "failed to get model version from specified version string 'x' (details: stol), version "
     "should be an integral value > 0"),
])
def test_management_errors(server, method, fields, code, text):
    assert grpc_raw.failure(server, method, **fields) == (code, text)


def test_index_of_ready_models(second):
    response = grpc_raw.call(second, "RepositoryIndex", ready=True)
    assert sorted(m.name for m in response.models) == ["good", "mymodel"]
    response = grpc_raw.call(second, "RepositoryIndex")
    by_name = {m.name: m for m in response.models}
    assert by_name["broken"].state == "UNAVAILABLE"
    assert "absent" in by_name["broken"].reason


def test_server_of_a_broken_model_is_not_ready(second):
    assert grpc_raw.call(second, "ServerLive").live is True
    assert grpc_raw.call(second, "ServerReady").ready is False
    assert grpc_raw.call(second, "ModelReady", name="good").ready is True
    assert grpc_raw.call(second, "ModelReady", name="broken").ready is False
