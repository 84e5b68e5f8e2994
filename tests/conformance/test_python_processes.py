# SPDX-License-Identifier: Apache-2.0
"""The processes of Python models: what happens when one ends, hangs, or when the server ends."""

import concurrent.futures
import os
import signal
import time

import numpy as np
import pytest
import raw_http
from processes import children, command, shared_memory, state, zombies
from python_server import (
    copy_models, snippet_once, streamed, wait_for_log, wait_until)

MODELS = ["snippets", "chain", "snippets_decoupled", "types"]


@pytest.fixture
def own_server(start_python):
    """A server for one test, which may kill its processes."""
    server = start_python("processes", lambda root: copy_models(root, *MODELS),
                          "--model-control-mode=explicit", "--load-model=*",
                          "--exit-timeout-secs=5")
    yield server
    if server.process is not None:
        server.kill()
        server.process = None


def pid_of(server, model="snippets"):
    return snippet_once(server, "import os\nreturn os.getpid()", model)


def ready(server, model="snippets"):
    return raw_http.get(server, f"/v2/models/{model}/ready").status == 200


def answer(server, code, model="snippets"):
    return raw_http.infer(server, model, {"inputs": [raw_http.tensor("CODE", "BYTES", [1], [code])]})


def comes_back(server, model="snippets"):
    """Waits until the model serves in another process."""
    def serves():
        return ready(server, model) and answer(server, "return 1", model).status == 200
    wait_until(serves, f"{model} serves again", 30)


def test_each_model_has_its_process(python, python_kind):
    pids = {pid_of(python), pid_of(python, "chain")}
    assert len(pids) == 2 and python.process.pid not in pids
    assert pids <= set(children(python.process.pid))
    if python_kind == "nereid":
        for pid in pids:
            assert "nereid_worker" in command(pid)


def test_a_process_that_is_killed_while_idle_is_replaced(own_server):
    pid = pid_of(own_server)
    os.kill(pid, signal.SIGKILL)
    comes_back(own_server)
    assert pid_of(own_server) != pid
    assert zombies(own_server.process.pid) == []


@pytest.mark.parametrize("how, said", [
    ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
    ("import os\nos._exit(7)", "7"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "signal 11"),
    ("import os, sys\nprint('the last words', file=sys.stderr, flush=True)\nos._exit(3)",
     "the last words"),
], ids=["killed", "exit", "segfault", "stderr"])
def test_a_request_whose_process_ends(own_server, how, said):
    reply = answer(own_server, how)
    assert reply.status == 500
    assert "Stub process 'snippets_0' is not healthy." in reply.error and said in reply.error
    comes_back(own_server)
    assert answer(own_server, "return 1", "chain").status == 200


def test_requests_in_the_queue_of_a_process_that_ends(own_server):
    """Each request is answered: the one at work with an error, the others by the next process or with
    an error."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        first = pool.submit(answer, own_server, "import os, time\ntime.sleep(0.5)\nos._exit(1)")
        time.sleep(0.1)  # the first request is at work by this time
        others = [pool.submit(answer, own_server, "return 1") for _ in range(7)]
        assert first.result().status == 500
        assert {other.result().status for other in others} <= {200, 500, 503}
    comes_back(own_server)


def test_a_stream_whose_process_ends(own_server):
    values, errors = streamed(own_server, "snippets_decoupled", """
import os
sender.send(told(1))
os._exit(1)""")
    assert values == [1] and len(errors) == 1 and "not healthy" in errors[0]
    wait_until(lambda: ready(own_server, "snippets_decoupled"), "the model is ready")
    assert streamed(own_server, "snippets_decoupled", "sender.send(told(2), FINAL)") == ([2], [])


def test_requests_that_were_left_to_senders_end_with_their_process(own_server):
    """execute() has returned without a response for them."""
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(answer, own_server, f"""
model.kept[{i}] = request.get_response_sender()
return "NOTHING"
""") for i in range(3)]
        wait_until(lambda: snippet_once(own_server, "return len(model.kept)") == 3, "the requests")
        os.kill(pid_of(own_server), signal.SIGKILL)
        for reply in [future.result(60) for future in answers]:
            assert reply.status == 500 and "not healthy" in reply.error
    comes_back(own_server)


def test_a_call_whose_process_ends(own_server):
    """The called model's process ends: the caller gets an error and serves on."""
    said = snippet_once(own_server, """
response = pb_utils.InferenceRequest(
    model_name="chain", requested_output_names=["VALUE"],
    inputs=[pb_utils.Tensor("CODE", np.array([b"import os; os._exit(1)"], np.object_))]).exec()
return response.error().message()""")
    assert "Stub process 'chain_0' is not healthy." in said
    comes_back(own_server, "chain")
    assert snippet_once(own_server, "return 1") == 1


def test_the_caller_of_a_call_ends(own_server):
    """The caller's process ends while the called model works for it."""
    reply = answer(own_server, """
import os, threading
threading.Timer(0.3, lambda: os._exit(1)).start()
pb_utils.InferenceRequest(
    model_name="chain", requested_output_names=["VALUE"],
    inputs=[pb_utils.Tensor("CODE", np.array([b"import time; time.sleep(1)"], np.object_))]).exec()
""")
    assert reply.status == 500
    comes_back(own_server)
    assert answer(own_server, "return 1", "chain").status == 200


def test_a_killed_model_is_unloaded_and_loaded(own_server, connect):
    client = connect("http", own_server)
    os.kill(pid_of(own_server), signal.SIGKILL)
    client.call("unload_model", "snippets")
    wait_until(lambda: not ready(own_server), "the unload")
    client.call("load_model", "snippets")
    assert snippet_once(own_server, "return 1") == 1


def test_the_end_of_the_server_ends_the_processes(own_server):
    pids = children(own_server.process.pid)
    assert pids
    own_server.stop()
    assert [pid for pid in pids if state(pid) not in ("", "Z")] == []


def test_a_server_that_is_killed_takes_its_processes_along(own_server, python_kind):
    before = shared_memory()
    pids = children(own_server.process.pid)
    own_server.kill()
    wait_until(lambda: not [pid for pid in pids if state(pid) not in ("", "Z")],
               "the ends of the models' processes", 10)
    if python_kind == "nereid":
        assert shared_memory() <= before
    own_server.process = None


def test_a_busy_process_ends_with_a_server_that_is_killed(own_server):
    """The model does not return from execute()."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pid = pid_of(own_server)
        call = pool.submit(answer, own_server, "import time\ntime.sleep(60)")
        time.sleep(0.3)  # the model is at work by this time
        own_server.kill()
        wait_until(lambda: state(pid) in ("", "Z"), "the end of the model's process", 10)
        with pytest.raises(Exception):
            call.result()
    own_server.process = None


def test_nothing_is_left_in_shared_memory(own_server, connect):
    before = shared_memory()
    client = connect("http", own_server)
    sent = np.ones(1_000_000, np.float32)
    answer_ = client.infer("types", [client.input("IN_FP32", sent)], ["OUT_FP32"])
    assert (answer_.array("OUT_FP32") == sent).all()
    assert {name for name in shared_memory() - before if "nereid" in name} == set()
    own_server.stop()
    assert shared_memory() <= before


def test_a_model_prints_before_it_ends(own_server):
    assert snippet_once(own_server, "return 1") == 1
    answer(own_server, "import os\nprint('printed before the end', flush=True)\nos._exit(0)")
    wait_for_log(own_server, "printed before the end")
    comes_back(own_server)
