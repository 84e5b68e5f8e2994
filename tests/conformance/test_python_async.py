# SPDX-License-Identifier: Apache-2.0
"""`async def execute`, of decoupled models and of others."""

import concurrent.futures
import time

import pytest
from python_server import raised, snippet, snippet_once, streamed, texts

MODELS = ["snippets_async", "snippets_decoupled_async"]
ONE = "snippets_async"
MANY = "snippets_decoupled_async"


def test_a_coroutine_answers(python_client):
    assert snippet(python_client, """
import asyncio
await asyncio.sleep(0.001)
return 5""", ONE) == 5


def test_a_coroutine_that_fails(python_client):
    status, text = python_client.error(
        python_client.infer, ONE,
        [python_client.input("CODE", texts("# fail\nraise ValueError('in a coroutine')"))])
    assert status in (500, "INTERNAL")
    assert text.startswith(f"Failed to process the request(s) for model '{ONE}_0', message: "
                           "ValueError: in a coroutine")
    assert snippet(python_client, "return 1", ONE) == 1


def test_a_loop_runs(python_client):
    assert snippet(python_client, """
import asyncio, threading
return [asyncio.get_running_loop().is_running(), await asyncio.to_thread(lambda: 3)]
""", ONE) == [True, 3]
    assert raised(python_client, "raise KeyError('x')", ONE) == "KeyError: 'x'"


def test_coroutines_of_several_requests_wait_together(python):
    """Four requests of a decoupled model wait for each other: none could go on alone."""
    code = """
import asyncio
meeting = model.kept.setdefault("meeting", {"there": 0, "full": asyncio.Event()})
meeting["there"] += 1
if meeting["there"] == 4:
    meeting["full"].set()
await asyncio.wait_for(meeting["full"].wait(), 20)
sender.send(told("met"), FINAL)"""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: streamed(python, MANY, code), range(4)))
    assert answers == [(["met"], [])] * 4


def test_coroutines_of_one_response_wait_together(python):
    """The same for a model that is not decoupled."""
    code = """
import asyncio
meeting = model.kept.setdefault("meeting", {"there": 0, "full": asyncio.Event()})
meeting["there"] += 1
if meeting["there"] == 4:
    meeting["full"].set()
await asyncio.wait_for(meeting["full"].wait(), 20)
return "met\""""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: snippet_once(python, code, ONE), range(4))) == ["met"] * 4


def test_responses_with_pauses(python):
    assert streamed(python, MANY, """
import asyncio
for i in range(5):
    await asyncio.sleep(0.001)
    sender.send(told(i))
sender.send(flags=FINAL)""") == (list(range(5)), [])


@pytest.mark.parametrize("sent", ["", "sender.send(told(1))"], ids=["nothing", "one"])
def test_a_coroutine_of_a_decoupled_model_that_fails(python, sent):
    values, errors = streamed(python, MANY, f"{sent}\nraise ValueError('in a coroutine')")
    assert values == ([1] if sent else []) and len(errors) == 1
    assert "ValueError: in a coroutine" in errors[0]
    assert streamed(python, MANY, "sender.send(told(2), FINAL)") == ([2], [])


def test_a_coroutine_that_never_sends_the_final_flag(python):
    values, errors = streamed(python, MANY, "sender.send(told(1))")
    assert values == [1] and len(errors) == 1


def test_a_slow_coroutine_does_not_stop_others(python):
    """One coroutine waits until a later request wakes it."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(streamed, python, MANY, """
import asyncio
model.kept["woken"] = asyncio.Event()
await asyncio.wait_for(model.kept["woken"].wait(), 20)
sender.send(told("woken"), FINAL)""")
        end = time.monotonic() + 20
        while streamed(python, MANY, """
there = "woken" in model.kept
if there:
    model.kept["woken"].set()
sender.send(told(there), FINAL)""") != ([True], []):
            assert time.monotonic() < end
        assert waiting.result() == (["woken"], [])


def test_a_task_goes_on_after_execute(python):
    assert streamed(python, MANY, """
import asyncio
async def later():
    await asyncio.sleep(0.01)
    sender.send(told("later"), FINAL)
model.kept["task"] = asyncio.create_task(later())""") == (["later"], [])
