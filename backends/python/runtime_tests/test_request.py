# SPDX-License-Identifier: Apache-2.0
import json

import c_python_backend_utils as c_utils
import numpy as np
import pytest
import triton_python_backend_utils as pb_utils


def make(**changes):
    arguments = {"model_name": "m", "requested_output_names": ["OUT"],
                 "inputs": [pb_utils.Tensor("IN", np.zeros(1))], **changes}
    return pb_utils.InferenceRequest(**arguments)


def received(**changes):
    arguments = {"handle": 5, "request_id": "r", "correlation_id": 7, "flags": 1, "timeout": 9,
                 "parameters": b'{"a":1}', "requested": frozenset(["OUT"]), "inputs": [],
                 "trace": 3, "decoupled": False, **changes}
    return pb_utils.InferenceRequest._received(**arguments)


def test_a_request_that_was_received(host):
    tensor = pb_utils.Tensor("IN", np.zeros(1))
    request = received(inputs=[tensor])
    assert request.request_id() == "r" and request.correlation_id() == 7
    assert request.flags() == 1 and request.timeout() == 9
    assert json.loads(request.parameters()) == {"a": 1}
    assert request.requested_output_names() == {"OUT"}
    assert request.inputs() == [tensor]
    assert pb_utils.get_input_tensor_by_name(request, "IN") is tensor
    assert pb_utils.get_input_tensor_by_name(request, "OTHER") is None
    assert request.trace().get_context() == "context 3"
    assert received(parameters=b"").parameters() == "{}"
    assert json.loads(received(parameters=b'{"a":"\xff"}').parameters()) == {"a": "\ufffd"}


def test_the_trace_of_a_request_without_a_trace(host):
    assert received(trace=0).trace().get_context() is None
    assert c_utils.InferenceTrace().get_context() is None


def test_a_request_that_the_model_makes(host):
    request = make(request_id="r", correlation_id="text", flags=3, timeout=5, model_version=2,
                   parameters={"a": 1, "b": "x", "c": True}, trace=received().trace(),
                   preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_GPU, 1))
    assert request.parameters() == '{"a": 1, "b": "x", "c": true}'
    assert request._parameters == request.parameters().encode()
    assert (request._handle, request._trace, request._model_version) == (0, 3, 2)
    assert request._preferred_memory._memory_type == 2
    assert request._preferred_memory._device_id == 1
    request.set_flags(2)
    assert request.flags() == 2
    assert make()._parameters == b"" and make()._correlation_id == 0


@pytest.mark.parametrize("changes", [
    {"inputs": ["text"]}, {"inputs": None}, {"inputs": 3}, {"requested_output_names": [3]},
    {"requested_output_names": [None]}, {"timeout": 1.0}, {"model_version": 2**63},
    {"requested_output_names": None}, {"requested_output_names": "OUT"}, {"model_name": 3},
    {"request_id": None}, {"correlation_id": None}, {"model_version": "1"}, {"timeout": -1},
    {"timeout": None}, {"flags": -1}, {"flags": "1"}, {"trace": 3}, {"preferred_memory": 1},
])
def test_arguments_of_other_types(changes):
    with pytest.raises(TypeError):
        make(**changes)


@pytest.mark.parametrize("changes, text", [
    ({"inputs": [None], "request_id": "i"},
     "Input tensor for request with id 'i' and model name 'm' should not be empty."),
    ({"requested_output_names": [""]},
     "Requested output name for request with id '' and model name 'm' should not be empty."),
    ({"correlation_id": np.int64(1)}, "Correlation ID must be integer or string"),
    ({"correlation_id": 1.5}, "Correlation ID must be integer or string"),
    ({"parameters": {1: 2}}, "Expect parameters keys to have type str, found type <class 'int'>"),
    ({"parameters": {"a": 1.5}},
     "Expect parameters values to have type bool/int/str, found type <class 'float'>"),
    ({"parameters": ["a"]}, "got <class 'list'>"),
])
def test_arguments_that_no_request_has(changes, text):
    with pytest.raises(pb_utils.TritonModelException) as caught:
        make(**changes)
    assert text in str(caught.value)


def test_texts_may_be_bytes_and_integers_those_of_numpy():
    request = make(request_id=b"r", model_name="grü".encode(), requested_output_names=[b"A", "B"],
                   model_version=np.int64(-1), flags=np.uint8(1), timeout=np.int32(7))
    assert request.request_id() == "r" and request._model_name == "grü"
    assert request.requested_output_names() == {"A", "B"}
    numbers = (request._model_version, request.flags(), request.timeout())
    assert numbers == (-1, 1, 7) and {type(number) for number in numbers} == {int}
    request.set_flags(np.int16(2))
    assert request.flags() == 2
    preferred = pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU, np.int64(1))
    assert preferred._device_id == 1
    error = pb_utils.TritonError(b"no", pb_utils.TritonError.NOT_FOUND)
    assert error.message() == "no"
    assert pb_utils.TritonError(b"\xff").message() == "\ufffd"
    assert make(model_name=bytearray(b"m"))._model_name == "m"


def test_a_negative_correlation_id():
    with pytest.raises(RuntimeError):
        make(correlation_id=-1)


def test_cancellation_is_asked_for_until_it_is_true(host):
    request = received()
    assert not request.is_cancelled() and not request.is_cancelled()
    host.cancelled.add(5)
    assert request.is_cancelled() and request.is_cancelled()
    assert len(host.named("is_cancelled")) == 3
    sender = received(handle=6).get_response_sender()
    assert not sender.is_cancelled()
    host.cancelled.add(6)
    assert sender.is_cancelled()


def test_a_request_of_the_model_is_never_cancelled_nor_rescheduled(host):
    request = make()
    assert request.is_cancelled() is False
    assert request.get_response_sender().is_cancelled() is False
    with pytest.raises(pb_utils.TritonModelException, match="set_release_flags"):
        request.set_release_flags(2)
    assert host.calls == []


def test_rescheduling(host):
    request = received()
    assert request._release_flags == pb_utils.TRITONSERVER_REQUEST_RELEASE_ALL
    request.set_release_flags(np.int64(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE))
    assert request._release_flags == 2


# Responses


def test_a_response():
    tensor = pb_utils.Tensor("OUT", np.zeros(1))
    response = pb_utils.InferenceResponse([tensor], parameters={"a": "ä"})
    assert response.parameters() == '{"a": "\\u00e4"}'
    assert response.output_tensors() == [tensor] and not response.has_error()
    assert response.error() is None and json.loads(response.parameters()) == {"a": "ä"}
    assert pb_utils.get_output_tensor_by_name(response, "OUT") is tensor
    assert pb_utils.get_output_tensor_by_name(response, "OTHER") is None
    assert pb_utils.InferenceResponse((tensor,))._outputs == [tensor]
    assert pb_utils.InferenceResponse().output_tensors() == []


def test_a_response_that_was_received():
    error = pb_utils.TritonError("bad", pb_utils.TritonError.NOT_FOUND)
    response = pb_utils.InferenceResponse._received([], error, b'{"a":1}')
    assert response.has_error() and response.error() is error and response.parameters() == '{"a":1}'


@pytest.mark.parametrize("arguments", [
    {"output_tensors": None}, {"output_tensors": ["text"]}, {"output_tensors": 3},
    {"error": "text"},
])
def test_responses_of_other_types(arguments):
    with pytest.raises(TypeError):
        pb_utils.InferenceResponse(**arguments)


@pytest.mark.parametrize("arguments, text", [
    ({"output_tensors": [None]}, "Output tensor for inference response should not be empty."),
    ({"parameters": {"a": None}}, "found type <class 'NoneType'>"),
    ({"parameters": [1]}, "got <class 'list'>"),
])
def test_responses_that_are_none(arguments, text):
    with pytest.raises(pb_utils.TritonModelException, match=text):
        pb_utils.InferenceResponse(**arguments)


@pytest.mark.parametrize("code, name", list(enumerate([
    "UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE", "UNSUPPORTED",
    "ALREADY_EXISTS", "CANCELLED"])))
def test_the_codes_of_errors(code, name):
    error = pb_utils.TritonError("text", getattr(pb_utils.TritonError, name))
    assert int(error.code()) == code and error.code().name == name and error.message() == "text"


@pytest.mark.parametrize("arguments", [("text", 2), (3,), (None,), ()])
def test_errors_of_other_types(arguments):
    with pytest.raises(TypeError):
        pb_utils.TritonError(*arguments)


def test_an_error_is_internal_unless_the_model_says_otherwise():
    assert pb_utils.TritonError("text").code() == pb_utils.TritonError.INTERNAL
