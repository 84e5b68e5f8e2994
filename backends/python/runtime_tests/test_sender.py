# SPDX-License-Identifier: Apache-2.0
import gc
import threading

import numpy as np
import pytest
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def sender_of(decoupled, handle=5):
    request = pb_utils.InferenceRequest._received(
        handle, "", 0, 0, 0, b"", frozenset(["OUT"]), [], 0, decoupled)
    return request.get_response_sender()


def refused(sender, text, *arguments):
    with pytest.raises(pb_utils.TritonModelException) as caught:
        sender.send(*arguments)
    assert str(caught.value) == text


RESPONSE = pb_utils.InferenceResponse()
MORE_THAN_ONE = "Unable to send response. Non-decoupled model cannot send more than one response."
CLOSED = "Unable to send response. Response sender has been closed."


def test_a_decoupled_request_has_many_responses(host):
    sender = sender_of(True)
    sender.send(RESPONSE)
    sender.send(RESPONSE, 0)
    sender.send(response=RESPONSE, flags=np.int32(FINAL))
    assert [call[2] for call in host.named("send")] == [0, 0, 1]
    assert host.named("send")[0] == (5, RESPONSE, 0, frozenset(["OUT"]))
    assert sender._sent == 3 and sender._closed
    refused(sender, CLOSED, RESPONSE)
    refused(sender, CLOSED, None, FINAL)


def test_a_decoupled_request_may_have_no_response(host):
    sender_of(True).send(flags=FINAL)
    assert host.named("send") == [(5, None, 1, frozenset(["OUT"]))]


def test_another_request_has_one_response(host):
    sender = sender_of(False)
    sender.send(RESPONSE)
    refused(sender, MORE_THAN_ONE, RESPONSE)
    sender.send(flags=FINAL)
    refused(sender, CLOSED, None, FINAL)
    refused(sender, MORE_THAN_ONE, RESPONSE)


def test_the_final_flag_needs_a_response_before(host):
    refused(sender_of(False), "Unable to send response. Non-decoupled model cannot send complete "
            "final before sending a response.", None, FINAL)


@pytest.mark.parametrize("flags", [2, 3, np.int64(2)])
def test_flags_that_do_not_exist(host, flags):
    refused(sender_of(True), "Unable to send response. Unsupported flag provided.", RESPONSE, flags)


def test_nothing_to_send(host):
    refused(sender_of(True), "Inference Response object must be provided when the response flags is "
            "set to zero.")


@pytest.mark.parametrize("arguments", [("text",), (RESPONSE, "1"), (RESPONSE, None),
                                       (RESPONSE, -1), (RESPONSE, 2**40), (RESPONSE, 1.0)])
def test_arguments_of_other_types(host, arguments):
    with pytest.raises(TypeError):
        sender_of(True).send(*arguments)


def test_the_request_of_a_call_has_no_responses_to_send(host):
    request = pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[])
    refused(request.get_response_sender(), "Unable to send response. Response sender has no "
            "reference to the decoupled state of the model.", RESPONSE)


def test_a_response_that_the_server_refuses_may_be_replaced(host):
    sender = sender_of(False)
    host.failures["send"] = "the buffer is too small"
    refused(sender, "the buffer is too small", RESPONSE, FINAL)
    del host.failures["send"]
    sender.send(RESPONSE, FINAL)
    assert sender._sent == 1 and sender._closed


def test_a_request_has_one_sender(host):
    request = pb_utils.InferenceRequest._received(
        5, "", 0, 0, 0, b"", frozenset(), [], 0, False)
    assert request._sender is None
    assert request.get_response_sender() is request.get_response_sender() is request._sender


def test_a_sender_without_the_final_flag_ends_its_request(host):
    sender_of(True, handle=1)
    gc.collect()
    assert host.named("abandon") == [(1,)]
    sender_of(True, handle=2).send(flags=FINAL)
    sender_of(False, handle=3)
    closed = sender_of(True, handle=4)
    closed._closed = True  # as the worker does when execute() fails
    del closed
    gc.collect()
    assert host.named("abandon") == [(1,)]


def test_a_sender_may_answer_after_the_execution(host):
    """The worker leaves a request without a response to its sender."""
    sender = sender_of(False, handle=1)
    assert sender._returned() is False
    sender._left = True
    sender.send(RESPONSE, FINAL)
    del sender
    gc.collect()
    assert host.named("send") == [(1, RESPONSE, 1, frozenset(["OUT"]))]
    assert host.named("abandon") == []


@pytest.mark.parametrize("responses", [0, 1])
def test_a_sender_that_was_left_a_request_tells_its_end(host, responses):
    sender = sender_of(False, handle=1)
    sender._returned()
    sender._left = True
    for _ in range(responses):
        sender.send(RESPONSE)
    del sender
    gc.collect()
    assert host.named("abandon") == [(1,)]


def test_the_final_flag_may_follow_a_response_of_the_execution(host):
    """The server has sent it when execute() returned."""
    sender = sender_of(False)
    sender.send(RESPONSE)
    assert sender._returned() is True
    sender.send(flags=FINAL)
    assert len(host.named("send")) == 1
    refused(sender, CLOSED, None, FINAL)


def test_many_threads_send_one_final_flag(host):
    sender = sender_of(True)
    refusals = []

    def send():
        try:
            sender.send(flags=FINAL)
        except pb_utils.TritonModelException as error:
            refusals.append(str(error))

    threads = [threading.Thread(target=send) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(host.named("send")) == 1 and refusals == [CLOSED] * 15
