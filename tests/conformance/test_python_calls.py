# SPDX-License-Identifier: Apache-2.0
"""Calls of other models from a Python model (BLS): exec() and async_exec() with one response."""

import concurrent.futures
import json

import pytest
from processes import children, resident
from python_server import (
    metrics, raised, snippet, snippet_once, streamed, texts, wait_for_log, wait_until)
from server_process import sanitized

MODELS = ["snippets", "snippets_async", "snippets_decoupled", "snippets_decoupled_async", "types",
          "about", "returns", "counter", "chain", "early", "versions", "hurried"]
LATER = ["late"]

# The body of a model begins with these functions.
CALL = """
def call(model_name, name, array, outputs=(), **more):
    return pb_utils.InferenceRequest(
        model_name=model_name, requested_output_names=list(outputs),
        inputs=[pb_utils.Tensor(name, array)], **more)
def said(response):
    if response.has_error():
        return {"error": response.error().message(), "code": int(response.error().code())}
    return {t.name(): t.as_numpy().tolist() for t in response.output_tensors()}
def echo(values, **more):
    return call("types", "IN_FP32", np.array(values, np.float32), ["OUT_FP32"], **more)
"""

PREFIX = "Model {} - Error when running inference: "
NOT_READY = (PREFIX + "Failed for execute the inference request. Model '{}' is not ready.")


def run(client, code, model="snippets", **more):
    return snippet(client, CALL + code, model, **more)


# Results


def test_a_call(python_client):
    assert run(python_client, "return said(echo([1, 2.5]).exec())") == {"OUT_FP32": [1, 2.5]}


def test_all_outputs_come_if_none_is_named(python_client):
    assert run(python_client, """
response = call("about", "IN", np.array([b""], np.object_)).exec()
return sorted(t.name() for t in response.output_tensors())""") == ["ABOUT", "SECOND"]
    assert run(python_client, """
response = call("about", "IN", np.array([b""], np.object_), ["SECOND"]).exec()
return [t.name() for t in response.output_tensors()]""") == ["SECOND"]


def test_every_data_type(python_client):
    assert run(python_client, """
names = ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16",
         "FP32", "FP64", "BYTES"]
wrong = []
for i, name in enumerate(names):
    sent = np.array([0, 1, 1]).astype(pb_utils.triton_to_numpy_type(i + 1))
    if name == "BYTES":
        sent = np.array([b"a", b"", "ü".encode()], np.object_)
    response = call("types", f"IN_{name}", sent, [f"OUT_{name}"]).exec()
    got = pb_utils.get_output_tensor_by_name(response, f"OUT_{name}").as_numpy()
    if got.dtype != sent.dtype or got.tolist() != sent.tolist():
        wrong.append(name)
return wrong""") == []


@pytest.mark.parametrize("count", [0, 1, 1_000_000])
def test_sizes(python_client, count):
    assert run(python_client, f"""
sent = np.arange({count}, dtype=np.float32)
response = echo(sent, preferred_memory=pb_utils.PreferredMemory(
    pb_utils.TRITONSERVER_MEMORY_CPU)).exec()
got = pb_utils.get_output_tensor_by_name(response, "OUT_FP32").as_numpy()
return bool((sent == got).all()) and got.shape == sent.shape""") is True


def test_an_input_of_the_request_is_passed_on(python_client):
    """The tensor that the model received goes on to the next model, which reads the same bytes."""
    code = """# passed on
if "inner" in request.parameters():
    return "inside"
response = pb_utils.InferenceRequest(
    model_name="chain", requested_output_names=["VALUE"], inputs=request.inputs(),
    parameters={"inner": True}).exec()
return json.loads(response.output_tensors()[0].as_numpy()[0])["value"]"""
    assert snippet(python_client, code) == "inside"


def test_outputs_are_answered_as_they_are(python_client):
    """A tensor of the response of a call is an output of the model's own response."""
    answer = python_client.infer("snippets", [python_client.input("CODE", texts(CALL + """
inner = call("chain", "CODE", np.array(["return 'from inside'"], np.object_), ["VALUE"]).exec()
return pb_utils.InferenceResponse(inner.output_tensors())"""))])
    assert answer.array("VALUE").tolist() == [b'{"value": "from inside"}']


def test_a_request_is_sent_more_than_once(python_client):
    assert run(python_client, """
made = echo([3])
return [said(made.exec())["OUT_FP32"] for _ in range(3)]""") == [[3], [3], [3]]


def test_a_call_carries_its_settings(python_client):
    told_inside = run(python_client, """
response = call("about", "IN", np.array([b""], np.object_), ["ABOUT"], request_id="inner",
                correlation_id=7, flags=pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START,
                timeout=5000000, parameters={"text": "ü", "number": -3, "flag": True},
                model_version=1, trace=request.trace()).exec()
return json.loads(response.output_tensors()[0].as_numpy()[0])""")
    assert told_inside["id"] == "inner" and told_inside["correlation_id"] == 7
    assert told_inside["flags"] == 1 and told_inside["timeout"] == 5000000
    assert told_inside["parameters"] == {"text": "ü", "number": -3, "flag": True}
    assert told_inside["wanted"] == ["ABOUT"]


def test_a_call_chooses_the_version(python_client):
    """Versions 1 and 2 are served. Without a version the call reaches the latest one."""
    assert run(python_client, """
versions = [{}, {"model_version": 1}, {"model_version": 2}, {"model_version": -1}]
return [said(call("versions", "IN", np.array([0], np.int32), **more).exec()) for more in versions]
""") == [{"VERSION": [version]} for version in (2, 1, 2, 2)]
    answer = run(python_client, """
return said(call("versions", "IN", np.array([0], np.int32), model_version=3).exec())""")
    assert answer == {"error": NOT_READY.format("versions", "versions"), "code": 1}


def test_a_call_expires_in_the_queue(python_client, python_kind):
    """The called model waits for a batch of four. One call with a short timeout is refused, four
    with a long one are executed."""
    answer = run(python_client, """
return said(call("hurried", "IN", np.array([[1]], np.int32), timeout=1000).exec())""")
    assert answer["error"] == "Request timeout expired"
    if python_kind == "nereid":
        assert answer["code"] == 4  # UNAVAILABLE
    assert run(python_client, """
from concurrent.futures import ThreadPoolExecutor
made = [call("hurried", "IN", np.array([[1]], np.int32), timeout=60_000_000) for _ in range(4)]
with ThreadPoolExecutor(4) as pool:
    return list(pool.map(lambda request: said(request.exec()), made))""") == [
        {"TOGETHER": [[4]]}] * 4


def test_a_correlation_id_may_be_a_text(python_client):
    assert run(python_client, """
response = call("about", "IN", np.array([b""], np.object_), ["ABOUT"], correlation_id="käse").exec()
return json.loads(response.output_tensors()[0].as_numpy()[0])["correlation_id"]""") == "käse"


def test_parameters_of_the_response(python_client):
    assert json.loads(run(python_client, r"""
code = ("return [pb_utils.InferenceResponse([pb_utils.Tensor('OUT', np.array([1], np.int32))], "
        "parameters={'a': 1, 'b': 'x', 'c': True})]")
return call("returns", "CODE", np.array([code], np.object_)).exec().parameters()""")) == {
    "a": 1, "b": "x", "c": True}


# Errors


@pytest.mark.parametrize("made, text", [
    ("call('absent', 'IN', np.zeros(1, np.float32))", NOT_READY.format("absent", "absent")),
    ("echo([1], model_version=9)", NOT_READY.format("types", "types")),
    ("call('types', 'IN_FP32', np.zeros(1, np.float32), ['ZZ'])",
     PREFIX.format("types") + "unexpected inference output 'ZZ' for model 'types'"),
    ("call('types', 'QQ', np.zeros(1, np.float32))",
     "unexpected inference input 'QQ' for model 'types'"),
    ("call('types', 'IN_FP32', np.zeros(1, np.int32))",
     "inference input 'IN_FP32' data-type is 'INT32', but model 'types' expects 'FP32'"),
    ("pb_utils.InferenceRequest(model_name='returns', requested_output_names=[], inputs=[])",
     "expected 1 inputs but got 0 inputs for model 'returns'"),
    ("call('counter', 'COUNT', np.array([1], np.int32))",
     PREFIX.format("counter") + "Model counter is using the decoupled. The current BLS request call "
     "doesn't support models using the decoupled transaction policy. Please use 'decoupled=True' "
     "argument to the 'exec' or 'async_exec' calls for decoupled models.'"),
], ids=["model", "version", "output", "input", "type", "missing", "decoupled"])
def test_calls_that_the_server_refuses(python_client, made, text):
    answer = run(python_client, f"return said({made}.exec())")
    assert text in answer["error"] and answer["code"] == 1
    assert answer["error"].startswith("Model ") or "inputs" in text
    assert run(python_client, "return said(echo([1]).exec())") == {"OUT_FP32": [1]}


@pytest.mark.parametrize("code, name", list(enumerate([
    "UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE", "UNSUPPORTED",
    "ALREADY_EXISTS", "CANCELLED"])), ids=lambda v: v if isinstance(v, str) else "")
def test_the_error_of_the_called_model(python_client, code, name):
    assert run(python_client, f"""
code = "return [error('said so', pb_utils.TritonError.{name})]"
return said(call("returns", "CODE", np.array([code], np.object_)).exec())""") == {
    "error": "said so", "code": code}


def test_the_exception_of_the_called_model(python_client):
    answer = run(python_client, """
return said(call("returns", "CODE", np.array(["raise ValueError('inside')"], np.object_)).exec())""")
    assert "ValueError: inside" in answer["error"] and answer["code"] == 1


def test_calls_in_initialize_are_refused(python_client):
    """The model keeps what it heard in initialize()."""
    assert snippet(python_client, "return None", "early") == (
        "TritonModelException: BLS is only supported during the 'execute' function.")


def test_calls_in_finalize_are_refused(python, python_http):
    """The model writes to the log what it heard in finalize()."""
    python_http.call("load_model", "late")
    assert snippet(python_http, "return None", "late") is None
    python_http.call("unload_model", "late")
    for decoupled in (False, True):
        wait_for_log(python, f"late decoupled={decoupled} heard TritonModelException: "
                             "BLS is only supported during the 'execute' function.")


def test_decoupled_must_be_a_bool(python_client):
    assert raised(python_client, CALL + "echo([1]).exec('yes')").startswith("TypeError: ")


# Coroutines


def test_a_call_in_a_coroutine(python_client):
    assert run(python_client, "return said(await echo([1, 2.5]).async_exec())",
               "snippets_async") == {"OUT_FP32": [1, 2.5]}


@pytest.mark.parametrize("count", [2, 100])
def test_many_calls_at_once(python_client, count):
    assert run(python_client, f"""
import asyncio
calls = [echo([i]).async_exec() for i in range({count})]
return [said(r)["OUT_FP32"][0] for r in await asyncio.gather(*calls)]""",
               "snippets_async") == list(range(count))


def test_failing_calls_in_a_coroutine(python_client):
    assert run(python_client, """
import asyncio
calls = [call("absent", "IN", np.zeros(1)).async_exec(), echo([1]).async_exec()]
return [said(r) for r in await asyncio.gather(*calls)]""", "snippets_async") == [
    {"error": NOT_READY.format("absent", "absent"), "code": 1}, {"OUT_FP32": [1]}]


def test_a_coroutine_waits_for_the_first_call(python_client):
    assert run(python_client, """
import asyncio
calls = [asyncio.ensure_future(echo([i]).async_exec()) for i in range(3)]
done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
await asyncio.gather(*calls)
return len(done) > 0""", "snippets_async") is True


def test_a_call_without_a_loop(python_client):
    assert raised(python_client, CALL + "echo([1]).async_exec()") == (
        "RuntimeError: no running event loop")


def test_a_call_from_a_thread(python_client):
    assert run(python_client, """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    return [r["OUT_FP32"][0] for r in pool.map(lambda i: said(echo([i]).exec()), range(32))]
""") == list(range(32))


# From decoupled models


def test_a_decoupled_model_calls(python):
    values, errors = streamed(python, "snippets_decoupled", CALL + """
for i in range(3):
    sender.send(told(said(echo([i]).exec())))
sender.send(flags=FINAL)""")
    assert (values, errors) == ([{"OUT_FP32": [i]} for i in range(3)], [])


def test_a_decoupled_coroutine_calls(python):
    values, errors = streamed(python, "snippets_decoupled_async", CALL + """
import asyncio
for r in await asyncio.gather(*(echo([i]).async_exec() for i in range(20))):
    sender.send(told(said(r)["OUT_FP32"][0]))
sender.send(flags=FINAL)""")
    assert (values, errors) == (list(range(20)), [])


def test_a_thread_calls_after_execute(python):
    values, errors = streamed(python, "snippets_decoupled", CALL + """
import threading
def later():
    sender.send(told(said(echo([7]).exec())), FINAL)
threading.Thread(target=later).start()""")
    assert (values, errors) == ([{"OUT_FP32": [7]}], [])


# Chains


def test_a_chain_of_models(python_client):
    """chain calls snippets_async, which calls types."""
    inner = CALL + "return said(await echo([1, 2]).async_exec())"
    assert run(python_client, f"""
response = call("snippets_async", "CODE", np.array([{inner!r}], np.object_), ["VALUE"]).exec()
return json.loads(response.output_tensors()[0].as_numpy()[0])["value"]""", "chain") == {
        "OUT_FP32": [1, 2]}


def test_many_clients_of_a_chain(python):
    """The caller and the called model have one instance each; each call needs both."""
    def one(i):
        return snippet_once(python, CALL + f"return said(echo([{i}]).exec())['OUT_FP32'][0]")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert list(pool.map(one, range(128))) == list(range(128))


def test_many_calls_keep_no_memory(python_http):
    """1500 calls; the memory of the caller's process does not grow after the first 500."""
    grown = run(python_http, """
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
array = np.zeros(10_000, np.float32)
def round():
    for _ in range(500):
        echo(array).exec()
round()
before = resident()
round()
round()
return resident() - before""")
    assert grown < 2 * 2**20


@pytest.mark.parametrize("decoupled", [False, True], ids=["response", "stream"])
def test_a_chain_keeps_no_memory(python, python_http, decoupled):
    """snippets calls chain, which calls types 1000 times in each round. The server and the
    processes of all models together do not grow after the first two rounds."""
    inner = CALL + f"""
array = np.zeros(10_000, np.float32)
for _ in range(1000):
    made = echo(array).exec({decoupled})
    for response in made if {decoupled} else [made]:
        assert not response.has_error()"""

    def memory():
        return resident([python.process.pid, *children(python.process.pid)])

    def round():
        assert run(python_http, f"""
response = call("chain", "CODE", np.array([{inner!r}], np.object_), ["VALUE"]).exec()
return json.loads(response.output_tensors()[0].as_numpy()[0])""") == {"value": None}
    round()
    round()
    before = memory()
    for _ in range(10):
        round()
    assert sanitized(python) or memory() - before < 4 * 2**20


def test_calls_are_requests_of_the_called_model(python, python_client):
    name = 'nv_inference_request_success{model="types",version="1"}'
    before = metrics(python)[name]
    run(python_client, "return [said(echo([i]).exec()) for i in range(3)]")
    # A backend may send the response before it reports the request's statistics.
    wait_until(lambda: metrics(python)[name] >= before + 3, "three requests are counted")
