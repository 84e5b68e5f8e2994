# SPDX-License-Identifier: Apache-2.0
"""Calls of decoupled models from Python models: exec(decoupled=True) and async_exec(decoupled=True)."""

import pytest
from python_server import raised, snippet, streamed, wait_until

MODELS = ["snippets", "snippets_async", "snippets_decoupled", "snippets_decoupled_async", "types"]

CALL = """
def call(code, model_name="snippets_decoupled", outputs=("VALUE",), **more):
    return pb_utils.InferenceRequest(
        model_name=model_name, requested_output_names=list(outputs),
        inputs=[pb_utils.Tensor("CODE", np.array([code], np.object_))], **more)
def count(n, **more):
    return call(f"for i in range({n}):\\n    sender.send(told(i))\\nsender.send(flags=FINAL)", **more)
def said(response):
    if response.has_error():
        return {"error": response.error().message()}
    if not response.output_tensors():
        return None
    return json.loads(response.output_tensors()[0].as_numpy()[0])
"""


def run(client, code, model="snippets"):
    return snippet(client, CALL + code, model)


@pytest.mark.parametrize("n", [0, 1, 3, 100])
def test_all_responses_come(python_client, n):
    """The final flag alone is a last response without outputs."""
    assert run(python_client, f"""
return [said(r) for r in count({n}).exec(decoupled=True)]""") == [*range(n), None]


def test_the_final_flag_with_a_response(python_client):
    assert run(python_client, """
return [said(r) for r in call("sender.send(told(1), FINAL)").exec(decoupled=True)]""") == [1]


def test_a_stream_is_read_again(python_client):
    assert run(python_client, """
stream = count(3).exec(decoupled=True)
return [[said(r) for r in stream], [said(r) for r in stream], [said(r) for r in stream]]
""") == [[0, 1, 2, None]] * 3


def test_a_stream_is_read_one_by_one(python_client):
    assert run(python_client, """
stream = count(2).exec(decoupled=True)
got = [said(next(stream)), said(next(stream)), said(next(stream))]
try:
    next(stream)
except StopIteration:
    got.append("end")
return [got, type(stream).__name__]""") == [[0, 1, None, "end"], "ResponseIterator"]


def test_another_model_gives_one_response(python_client):
    assert run(python_client, """
stream = pb_utils.InferenceRequest(
    model_name="types", requested_output_names=["OUT_FP32"],
    inputs=[pb_utils.Tensor("IN_FP32", np.array([1.5], np.float32))]).exec(decoupled=True)
return [r.output_tensors()[0].as_numpy().tolist() for r in stream]""") == [[1.5]]


def test_a_call_that_cannot_start_gives_one_error(python_client):
    answers = run(python_client, """
return [said(r) for r in count(3, model_name="absent").exec(decoupled=True)]""")
    assert len(answers) == 1 and "Model 'absent' is not ready" in answers[0]["error"]


def test_an_error_at_the_end(python_client):
    answers = run(python_client, """
return [said(r) for r in call(
    "sender.send(told(1))\\n"
    "sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError('no more')), FINAL)"
    ).exec(decoupled=True)]""")
    assert answers == [1, {"error": "no more"}]


def test_an_exception_after_responses(python_client):
    answers = run(python_client, """
return [said(r) for r in call("sender.send(told(1))\\nraise ValueError('late')"
                              ).exec(decoupled=True)]""")
    assert answers[0] == 1 and "ValueError: late" in answers[1]["error"]


def test_an_exception_before_responses(python_client):
    answers = run(python_client, """
return [said(r) for r in call("raise ValueError('early')").exec(decoupled=True)]""")
    assert len(answers) == 1 and "ValueError: early" in answers[0]["error"]


def test_an_error_in_the_middle(python_client):
    answers = run(python_client, """
return [said(r) for r in call(
    "sender.send(told(1))\\n"
    "sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError('middle')))\\n"
    "sender.send(told(2))\\nsender.send(flags=FINAL)").exec(decoupled=True)]""")
    assert answers == [1, {"error": "middle"}, 2, None]


@pytest.mark.parametrize("read", [0, 1])
def test_responses_that_are_not_read_are_dropped(python_client, read):
    assert run(python_client, f"""
stream = count(50).exec(decoupled=True)
for _ in range({read}):
    next(stream)
del stream
return [said(r) for r in count(1).exec(decoupled=True)]""") == [0, None]


def test_a_stream_is_cancelled(python, python_client):
    assert run(python_client, """
stream = call(
    "import time\\nsender.send(told(1))\\nend = time.monotonic() + 20\\n"
    "while not sender.is_cancelled() and time.monotonic() < end:\\n    time.sleep(0.005)\\n"
    "model.kept['cancelled'] = sender.is_cancelled()\\nsender.send(flags=FINAL)"
    ).exec(decoupled=True)
first = said(next(stream))
stream.cancel()
for _ in stream:
    pass
stream.cancel()
return first""") == 1
    wait_until(lambda: streamed(
        python, "snippets_decoupled",
        "sender.send(told(model.kept.pop('cancelled', None)), FINAL)")[0] == [True],
        "the called model sees the cancellation")


def test_large_responses(python_client):
    assert run(python_client, """
stream = call("for i in range(5):\\n"
              "    sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("
              "'OTHER', np.full(300_000, i, np.float32))]))\\n"
              "sender.send(flags=FINAL)", outputs=["OTHER"]).exec(decoupled=True)
arrays = [r.output_tensors()[0].as_numpy() for r in stream if r.output_tensors()]
return [bool((a == i).all()) and a.shape == (300_000,) for i, a in enumerate(arrays)]
""") == [True] * 5


# Coroutines


def test_a_coroutine_reads_a_stream(python_client):
    assert run(python_client, """
return [said(r) for r in await count(3).async_exec(decoupled=True)]""",
               "snippets_async") == [0, 1, 2, None]


def test_async_for(python_client):
    assert run(python_client, """
return [said(r) async for r in await count(3).async_exec(decoupled=True)]""",
               "snippets_async") == [0, 1, 2, None]


def test_many_streams_at_once(python_client):
    assert run(python_client, """
import asyncio
streams = await asyncio.gather(*(count(3).async_exec(decoupled=True) for _ in range(100)))
return [[said(r) for r in stream] for stream in streams]""",
               "snippets_async") == [[0, 1, 2, None]] * 100


def test_a_decoupled_model_passes_a_stream_on(python):
    values, errors = streamed(python, "snippets_decoupled_async", CALL + """
for response in await count(5).async_exec(decoupled=True):
    if response.output_tensors():
        sender.send(pb_utils.InferenceResponse(response.output_tensors()))
sender.send(flags=FINAL)""")
    assert (values, errors) == ([0, 1, 2, 3, 4], [])


def test_streams_need_a_loop(python_client):
    assert raised(python_client, CALL + "count(1).async_exec(decoupled=True)") == (
        "RuntimeError: no running event loop")
