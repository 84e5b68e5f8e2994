# SPDX-License-Identifier: Apache-2.0
"""Requests of Python models whose clients cancel them."""

import threading

import pytest
import tritonclient.grpc as grpc_client
from python_server import snippet, streamed, texts, wait_until

MODELS = ["snippets", "snippets_decoupled", "snippets_decoupled_async"]

WAIT = """
import time
model.kept["there"] = True
end = time.monotonic() + 20
while not {who}.is_cancelled() and time.monotonic() < end:
    time.sleep(0.005)
model.kept["seen"] = [{who}.is_cancelled(), {who}.is_cancelled()]
"""

CANCELLED = """return pb_utils.InferenceResponse(
    error=pb_utils.TritonError("given up", pb_utils.TritonError.CANCELLED))"""


class Call:
    """An asynchronous call that can be cancelled."""

    def __init__(self, server, model, code):
        self.client = grpc_client.InferenceServerClient(server.grpc)
        tensor = grpc_client.InferInput("CODE", [1], "BYTES")
        tensor.set_data_from_numpy(texts(code))
        self.done = threading.Event()
        self.handle = self.client.async_infer(model, [tensor],
                                              lambda result, error: self.done.set())

    def cancel(self):
        self.handle.cancel()
        assert self.done.wait(20)
        self.client.close()


class Stream:
    """A stream with one request that can be cancelled."""

    def __init__(self, server, model, code):
        self.client = grpc_client.InferenceServerClient(server.grpc)
        self.client.start_stream(lambda result, error: None)
        tensor = grpc_client.InferInput("CODE", [1], "BYTES")
        tensor.set_data_from_numpy(texts(code))
        self.client.async_stream_infer(model, [tensor])

    def cancel(self):
        self.client.stop_stream(cancel_requests=True)
        self.client.close()


@pytest.mark.parametrize("who", ["request", "request.get_response_sender()"],
                         ids=["request", "sender"])
def test_a_model_sees_the_cancellation_while_it_executes(python, python_http, who):
    snippet(python_http, "model.kept.clear()")
    call = Call(python, "snippets", WAIT.format(who=who) + CANCELLED)
    # The model has one instance: the next request waits until this one has ended. The cancellation
    # is not sent before the model has the request.
    threading.Timer(1.0, call.cancel).start()
    wait_until(lambda: snippet(python_http, "return model.kept.get('seen')") == [True, True],
               "the cancellation")


@pytest.mark.parametrize("model", ["snippets_decoupled", "snippets_decoupled_async"])
@pytest.mark.parametrize("who", ["request", "sender"])
def test_a_decoupled_model_sees_the_cancellation(python, model, who):
    """The model waits on a thread or in a coroutine, and sends the final flag all the same."""
    streamed(python, model, "model.kept.clear()\nsender.send(flags=FINAL)")
    if model.endswith("async"):
        code = f"""
import asyncio
model.kept["there"] = True
for _ in range(4000):
    if {who}.is_cancelled():
        break
    await asyncio.sleep(0.005)
model.kept["seen"] = {who}.is_cancelled()
sender.send(flags=FINAL)"""
    else:
        code = f"""
import threading, time
def wait():
    model.kept["there"] = True
    end = time.monotonic() + 20
    while not {who}.is_cancelled() and time.monotonic() < end:
        time.sleep(0.005)
    model.kept["seen"] = {who}.is_cancelled()
    sender.send(flags=FINAL)
threading.Thread(target=wait).start()"""
    call = Stream(python, model, code)

    def kept(name):
        return streamed(python, model, f"sender.send(told(model.kept.get('{name}')), FINAL)")[0]

    wait_until(lambda: kept("there") == [True], "the request")
    assert kept("seen") == [None]
    call.cancel()
    wait_until(lambda: kept("seen") == [True], "the cancellation")


def test_a_request_that_is_cancelled_in_the_queue_is_not_executed(python, python_http):
    """One request holds the only instance; the one behind it is cancelled."""
    snippet(python_http, "model.kept.clear()")
    first = Call(python, "snippets", """
import time
time.sleep(2)
model.kept["first"] = True""")
    threading.Event().wait(0.5)  # the instance has the first request by this time
    second = Call(python, "snippets", "model.kept['second'] = True")
    threading.Event().wait(0.2)
    second.cancel()
    assert first.done.wait(20)
    first.client.close()
    assert snippet(python_http, "return sorted(model.kept)") == ["first"]


def test_nothing_is_cancelled_otherwise(python_http):
    values = snippet(python_http, """
sender = request.get_response_sender()
return [request.is_cancelled(), sender.is_cancelled()]""")
    assert values == [False, False]


def test_a_request_that_was_answered_is_not_cancelled(python):
    streamed(python, "snippets_decoupled", """
model.kept["old"] = request
sender.send(flags=FINAL)""")
    values, errors = streamed(python, "snippets_decoupled", """
sender.send(told(model.kept.pop("old").is_cancelled()), FINAL)""")
    assert (values, errors) == ([False], [])


def test_sending_to_a_client_that_is_gone_does_no_harm(python):
    model = "snippets_decoupled"
    streamed(python, model, "model.kept.clear()\nsender.send(flags=FINAL)")
    call = Stream(python, model, """
import threading, time
def send():
    model.kept["there"] = True
    end = time.monotonic() + 20
    while not sender.is_cancelled() and time.monotonic() < end:
        time.sleep(0.005)
    for i in range(100):
        sender.send(pb_utils.InferenceResponse(
            [pb_utils.Tensor("OTHER", np.zeros(1000, np.float32))]))
    sender.send(flags=FINAL)
    model.kept["sent"] = True
threading.Thread(target=send).start()""")

    def kept(name):
        return streamed(python, model, f"sender.send(told(model.kept.get('{name}')), FINAL)")[0]

    wait_until(lambda: kept("there") == [True], "the request")
    call.cancel()
    wait_until(lambda: kept("sent") == [True], "all responses")


def test_an_array_from_an_earlier_request_is_intact(python_http):
    """A model may keep an array; the memory of requests that are gone is not used under it."""
    snippet(python_http, "model.kept['array'] = request.inputs()[0]")
    for i in range(50):
        snippet(python_http, f"return {i} # {'x' * i}")
    assert snippet(python_http, "return model.kept.pop('array').as_numpy()[0].decode()") == (
        "model.kept['array'] = request.inputs()[0]")


