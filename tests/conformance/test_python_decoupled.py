# SPDX-License-Identifier: Apache-2.0
"""Decoupled Python models: any number of responses, from any thread, during and after execute()."""

import concurrent.futures
import json

import numpy as np
import pytest
import raw_http
from python_server import snippet, stream, streamed, texts

MODELS = ["snippets", "snippets_decoupled", "many"]
MODEL = "snippets_decoupled"

WRAPPED = f"Failed to process the request(s) for model '{MODEL}_0', message: "


def final_flags(replies):
    """Returns for each reply whether it is the final one, and how many outputs it has."""
    return [(reply.infer_response.parameters["triton_final_response"].bool_param,
             len(reply.infer_response.outputs)) for reply in replies]


def tokens_over_http(server, code):
    """Runs a function body that sends tokens (bytes). Returns the texts of the events."""
    body = json.dumps({"CODE": """
def token(value):
    return pb_utils.InferenceResponse([pb_utils.Tensor("VALUE", np.array([value], np.object_))])
""" + code})
    answer = raw_http.request(server, "POST", f"/v2/models/{MODEL}/generate_stream", body)
    assert answer.status == 200, answer.body
    events = answer.body.decode().split("\n\n")[:-1]
    return [json.loads(event.removeprefix("data: "))["VALUE"] for event in events]


def test_characters_that_tokens_divide_stay_whole(python):
    assert tokens_over_http(python, """
for part in (b"a\\xf0\\x9f", b"\\x98", b"\\x80b\\xc3", b"\\xa4"):
    sender.send(token(part))
sender.send(flags=FINAL)""") == ["a", "", "\N{GRINNING FACE}b", "\u00e4"]


def test_bytes_of_tokens_that_are_no_characters(python):
    assert tokens_over_http(python, """
sender.send(token(b"\\xffa\\xe2\\x82"))
sender.send(token(b"b\\xc3"))
sender.send(flags=FINAL)""") == ["\ufffda", "\ufffd\ufffdb", "\ufffd"]
    assert tokens_over_http(python, """
sender.send(token(b"a\\xc3"), FINAL)""") == ["a\ufffd"]


@pytest.mark.parametrize("count", [0, 1, 3, 200])
def test_any_number_of_responses(python, count):
    values, errors = streamed(python, MODEL, f"""
for i in range({count}):
    sender.send(told(i))
sender.send(flags=FINAL)""")
    assert (values, errors) == (list(range(count)), [])


def test_the_final_flag_with_and_without_a_response(python):
    assert final_flags(stream(python, MODEL, "sender.send(told(1), FINAL)")) == [(True, 1)]
    assert final_flags(stream(python, MODEL, """
sender.send(response=told(1), flags=0)
sender.send(flags=FINAL)""")) == [(False, 1), (True, 0)]


def test_responses_carry_the_id_and_their_own_shape(python):
    replies = stream(python, MODEL, """
for i in range(3):
    sender.send(pb_utils.InferenceResponse(
        [pb_utils.Tensor("OTHER", np.full(i, i, np.float32))]))
sender.send(flags=FINAL)""", request_id="r1", outputs=["OTHER"])
    assert [r.infer_response.id for r in replies[:3]] == ["r1"] * 3
    assert [list(r.infer_response.outputs[0].shape) for r in replies[:3]] == [[0], [1], [2]]


def test_outputs_that_were_not_asked_for_are_left_out(python):
    replies = stream(python, MODEL, """
sender.send(pb_utils.InferenceResponse([
    pb_utils.Tensor("OTHER", np.zeros(1, np.float32)),
    pb_utils.Tensor("VALUE", np.array([b"1"], np.object_))]), FINAL)""", outputs=["OTHER"])
    assert [o.name for o in replies[0].infer_response.outputs] == ["OTHER"]


def test_a_thread_sends_after_execute_has_returned(python):
    values, errors = streamed(python, MODEL, """
import threading, time
def later():
    time.sleep(0.1)
    for i in range(20):
        sender.send(told(i))
    sender.send(flags=FINAL)
model.kept["thread"] = threading.Thread(target=later)
model.kept["thread"].start()""")
    assert (values, errors) == (list(range(20)), [])


def test_many_threads_send(python):
    values, errors = streamed(python, MODEL, """
import threading
def send(first):
    for i in range(first, first + 25):
        sender.send(told(i))
threads = [threading.Thread(target=send, args=(25 * n,)) for n in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sender.send(flags=FINAL)""")
    assert sorted(values) == list(range(200)) and errors == []
    for first in range(0, 200, 25):  # each thread's own responses are in order
        assert [v for v in values if first <= v < first + 25] == list(range(first, first + 25))


def test_many_streams_at_once(python):
    code = """
import threading, time
def later():
    for i in range(10):
        sender.send(told(i))
    sender.send(flags=FINAL)
threading.Thread(target=later).start()"""
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for values, errors in pool.map(lambda _: streamed(python, MODEL, code), range(64)):
            assert (values, errors) == (list(range(10)), [])


def test_large_responses(python):
    replies = stream(python, MODEL, """
for i in range(8):
    sender.send(pb_utils.InferenceResponse(
        [pb_utils.Tensor("OTHER", np.full(500_000, i, np.float32))]))
sender.send(flags=FINAL)""", outputs=["OTHER"])
    for i, reply in enumerate(replies[:8]):
        got = np.frombuffer(reply.infer_response.raw_output_contents[0], np.float32)
        assert got.shape == (500_000,) and (got == i).all()


def test_a_response_keeps_the_values_of_the_time_it_was_sent(python):
    replies = stream(python, MODEL, """
array = np.zeros(3, np.float32)
for i in range(3):
    array[:] = i
    sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OTHER", array)]))
sender.send(flags=FINAL)""", outputs=["OTHER"])
    assert [np.frombuffer(r.infer_response.raw_output_contents[0], np.float32).tolist()
            for r in replies[:3]] == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]


def test_a_request_outlives_execute(python):
    """The inputs are intact although other requests have come in the meantime."""
    values, _ = streamed(python, MODEL, """
model.kept["request"], model.kept["sender"] = request, sender
sender.send(told("first"), FINAL)""")
    assert values == ["first"]
    for i in range(20):
        streamed(python, MODEL, f"# {'x' * 200}{i}\nsender.send(told({i}), FINAL)")
    values, _ = streamed(python, MODEL, """
code = model.kept.pop("request").inputs()[0].as_numpy()[0].decode()
sender.send(told(code.splitlines()[1]), FINAL)""")
    assert values == ['model.kept["request"], model.kept["sender"] = request, sender']


def test_a_batch_of_decoupled_requests(python):
    """Each request of a batch has its own number of responses."""
    import grpc_raw
    requests = [grpc_raw.infer_request(
        "many", [grpc_raw.tensor("COUNT", "INT32", [1, 1])],
        [np.array([[n]], np.int32).tobytes()], request_id=str(n)) for n in range(4)]
    replies = grpc_raw.stream(python, requests, timeout=30)
    ids = [r.infer_response.id for r in replies if r.infer_response.raw_output_contents]
    assert sorted(ids) == ["1", "2", "2", "3", "3", "3"]


def test_http_cannot_stream(python, python_http):
    status, text = python_http.error(
        python_http.infer, MODEL, [python_http.input("CODE", texts("sender.send(flags=FINAL)"))])
    assert status in (400, 501)
    assert "doesn't support models with decoupled transaction policy" in text


# Errors


@pytest.mark.parametrize("value", ["[]", "3", "[told(1)]"])
def test_execute_must_return_none(python, value):
    values, errors = streamed(python, MODEL, f"return {value}")
    assert values == []
    assert errors == [
        WRAPPED + f"Python model '{MODEL}_0' is using the decoupled mode and the execute function "
        "must return None."]


def test_an_exception_before_a_response(python):
    values, errors = streamed(python, MODEL, "raise ValueError('early')")
    assert values == [] and len(errors) == 1
    assert errors[0].startswith(WRAPPED + "ValueError: early\n\nAt:\n")


def test_an_exception_after_responses(python):
    values, errors = streamed(python, MODEL, """
sender.send(told(1))
raise ValueError("late")""")
    assert values == [1] and len(errors) == 1 and "ValueError: late" in errors[0]


def test_an_exception_after_the_final_flag(python):
    values, errors = streamed(python, MODEL, """
sender.send(told(1), FINAL)
raise ValueError("too late")""")
    assert (values, errors) == ([1], [])
    assert streamed(python, MODEL, "sender.send(told(2), FINAL)") == ([2], [])


def test_errors_between_responses(python):
    values, errors = streamed(python, MODEL, """
sender.send(told(1))
sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError("in the middle")))
sender.send(told(2))
sender.send(flags=FINAL)""")
    assert values == [1, 2] and len(errors) == 1 and "in the middle" in errors[0]


def test_an_error_with_the_final_flag(python):
    values, errors = streamed(python, MODEL, """
sender.send(told(1))
sender.send(pb_utils.InferenceResponse(
    error=pb_utils.TritonError("no more", pb_utils.TritonError.UNAVAILABLE)), FINAL)""")
    assert values == [1] and len(errors) == 1 and "no more" in errors[0]


def test_what_a_sender_refuses(python):
    values, errors = streamed(python, MODEL, """
def refused(*arguments):
    try:
        sender.send(*arguments)
    except pb_utils.TritonModelException as error:
        return str(error)
said = [refused(told(1), 2), refused(None, 0)]
sender.send(told(said), FINAL)
model.kept["said"] = [refused(told(1)), refused(None, FINAL)]""")
    assert errors == [] and values == [[
        "Unable to send response. Unsupported flag provided.",
        "Inference Response object must be provided when the response flags is set to zero."]]
    values, _ = streamed(python, MODEL, 'sender.send(told(model.kept.pop("said")), FINAL)')
    assert values == [["Unable to send response. Response sender has been closed."] * 2]


def test_a_sender_is_closed_when_execute_has_failed(python):
    streamed(python, MODEL, "model.kept['sender'] = sender\nraise ValueError('early')")
    values, _ = streamed(python, MODEL, """
try:
    model.kept.pop("sender").send(told(1))
    said = ""
except pb_utils.TritonModelException as error:
    said = str(error)
sender.send(told(said), FINAL)""")
    assert values == ["Unable to send response. Response sender has been closed."]


@pytest.mark.parametrize("sent", ["", "sender.send(told(1))"], ids=["nothing", "one"])
def test_the_final_flag_never_comes(python, sent):
    """Nothing refers to the request and its sender: nothing more can come, and the client hears so.
    """
    values, errors = streamed(python, MODEL, f"{sent}\nreturn None")
    assert values == ([1] if sent else []) and len(errors) == 1
    assert streamed(python, MODEL, "sender.send(told(2), FINAL)") == ([2], [])


def test_parameters_of_each_response(python):
    replies = stream(python, MODEL, """
for i in range(2):
    sender.send(pb_utils.InferenceResponse(
        [pb_utils.Tensor("VALUE", np.array([b"1"], np.object_))], parameters={"i": i, "s": "x"}))
sender.send(flags=FINAL)""")
    assert [r.infer_response.parameters["i"].int64_param for r in replies[:2]] == [0, 1]
    assert [r.infer_response.parameters["s"].string_param for r in replies[:2]] == ["x", "x"]


def test_a_decoupled_model_knows_itself(python):
    values, _ = streamed(python, MODEL, """
sender.send(told([type(sender).__name__, sender.is_cancelled(), request.request_id(),
                  request.get_response_sender() is not None]), FINAL)""")
    assert values == [["InferenceResponseSender", False, "", True]]


def test_the_model_serves_on(python_client):
    assert snippet(python_client, "return 1") == 1
