# SPDX-License-Identifier: Apache-2.0
"""Response senders of models that are not decoupled: their responses may come after execute()."""

import concurrent.futures
import os
import re

import pytest
import raw_http
from python_server import snippet_once, wait_until

MODELS = ["snippets", "chain"]

# Bodies of execute() that leave their request to a thread, which waits for another request.
AFTERWARDS = """
import threading
sender, go = request.get_response_sender(), threading.Event()
model.kept["go"] = go
response = pb_utils.InferenceResponse([pb_utils.Tensor("VALUE", np.array([b"late"], np.object_))])

def answer():
    go.wait()
    {send}

threading.Thread(target=answer).start()
return "NOTHING"
"""
FINAL = "pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL"
KEPT = "return len(model.kept)"


def ask(server, code):
    return raw_http.infer(server, "snippets", {
        "inputs": [raw_http.tensor("CODE", "BYTES", [1], [code])], "outputs": [{"name": "VALUE"}]})


def left(server, pool, code):
    """Sends a request that the model leaves to a sender. Returns its future when execute() has
    returned: another request was executed meanwhile."""
    future = pool.submit(ask, server, code)
    wait_until(lambda: snippet_once(server, KEPT), "the model has the request")
    return future


@pytest.fixture
def pool():
    with concurrent.futures.ThreadPoolExecutor(4) as made:
        yield made


def value(reply):
    assert reply.status == 200, reply.body
    return reply.json["outputs"][0]["data"]


@pytest.mark.parametrize("send", [
    f"sender.send(response, {FINAL})",
    f"sender.send(response); sender.send(flags={FINAL})",
], ids=["together", "flag_alone"])
def test_a_thread_answers_after_execute_has_returned(python, pool, send):
    answer = left(python, pool, AFTERWARDS.format(send=send))
    assert not answer.done()
    assert snippet_once(python, 'model.kept.pop("go").set()\nreturn 1') == 1
    assert value(answer.result(60)) == ["late"]
    assert snippet_once(python, KEPT) == 0


def test_an_error_comes_after_execute_has_returned(python, pool):
    answer = left(python, pool, AFTERWARDS.format(send=f"""sender.send(pb_utils.InferenceResponse(
        error=pb_utils.TritonError("too late", pb_utils.TritonError.NOT_FOUND)), {FINAL})"""))
    assert snippet_once(python, 'model.kept.pop("go").set()\nreturn 1') == 1
    reply = answer.result(60)
    assert (reply.status, reply.error) == (404, "too late")


def test_a_request_is_asked_for_its_sender_after_execute(python, pool):
    answer = left(python, pool, 'model.kept["request"] = request\nreturn "NOTHING"')
    assert snippet_once(python, f"""
response = pb_utils.InferenceResponse([pb_utils.Tensor("VALUE", np.array([b"kept"], np.object_))])
model.kept.pop("request").get_response_sender().send(response, {FINAL})
return 1""") == 1
    assert value(answer.result(60)) == ["kept"]


def test_many_requests_wait_for_their_senders(python, pool):
    answers = [pool.submit(ask, python, f"""
model.kept[{i}] = request.get_response_sender()
return "NOTHING"
""") for i in range(4)]
    wait_until(lambda: snippet_once(python, KEPT) == 4, "the model has the requests")
    assert snippet_once(python, f"""
for i in range(4):
    model.kept.pop(i).send(pb_utils.InferenceResponse(
        [pb_utils.Tensor("VALUE", np.array([str(i)], np.object_))]), {FINAL})
return 1""") == 1
    assert [value(answer.result(60)) for answer in answers] == [[str(i)] for i in range(4)]


def test_a_response_of_execute_is_followed_by_its_final_flag(python, pool):
    """The flag comes from a thread after execute() has returned, which the response does not."""
    answer = left(python, pool, """
model.kept["sender"] = sender = request.get_response_sender()
sender.send(pb_utils.InferenceResponse(
    [pb_utils.Tensor("VALUE", np.array([b"early"], np.object_))]))
return "NOTHING"
""")
    assert snippet_once(python, f'model.kept.pop("sender").send(flags={FINAL})\nreturn 1') == 1
    assert value(answer.result(60)) == ["early"]


def test_a_dropped_sender_ends_its_request(python, pool):
    answer = left(python, pool, 'model.kept["sender"] = request.get_response_sender()\n'
                                'return "NOTHING"')
    assert snippet_once(python, 'model.kept.clear()\nreturn 1') == 1
    reply = answer.result(60)
    # Of the Python backend, or of the server if the backend is Triton's.
    assert reply.status == 500 and re.search(
        "dropped the response sender of the request without sending a response|final response",
        reply.error)


def test_a_dropped_request_is_answered_at_once(python, python_kind):
    reply = ask(python, 'request.get_response_sender()\nreturn "NOTHING"')
    assert reply.status == 500 and "without sending its final response" in reply.error


def test_a_sender_says_whether_its_client_has_cancelled(python, pool):
    answer = left(python, pool, 'model.kept["sender"] = request.get_response_sender()\n'
                                'return "NOTHING"')
    assert snippet_once(python, f"""
sender = model.kept.pop("sender")
cancelled = sender.is_cancelled()
sender.send(pb_utils.InferenceResponse(
    [pb_utils.Tensor("VALUE", np.array([b"x"], np.object_))]), {FINAL})
return cancelled""") is False
    assert value(answer.result(60)) == ["x"]


def test_an_unload_waits_for_a_request_that_was_left(python, python_http, pool, tmp_path):
    """The thread waits for the other end of a pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    answer = pool.submit(raw_http.infer, python, "chain", {"inputs": [raw_http.tensor(
        "CODE", "BYTES", [1], [f"""
import threading
sender = request.get_response_sender()

def answer():
    open({str(pipe)!r}).close()
    sender.send(pb_utils.InferenceResponse(
        [pb_utils.Tensor("VALUE", np.array([b"late"], np.object_))]), {FINAL})

threading.Thread(target=answer).start()
model.kept["left"] = True
return "NOTHING"
"""])]})
    wait_until(lambda: snippet_once(python, KEPT, "chain"), "the model has the request")
    python_http.call("unload_model", "chain")
    wait_until(lambda: raw_http.get(python, "/v2/models/chain/ready").status != 200, "the unload")
    assert not answer.done()
    pipe.open("w").close()
    assert value(answer.result(60)) == ["late"]
