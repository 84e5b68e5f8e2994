# SPDX-License-Identifier: Apache-2.0
"""is_ready() of Python models: a model says itself whether it can serve."""

import concurrent.futures

import pytest
import raw_http
from python_server import copy_models, snippet_once, wait_for_log, wait_until

MODELS = ["self_check", "types", "snippets"]


def say(server, code):
    """Sets what the next calls of is_ready() do. The model answers requests in any state."""
    reply = raw_http.infer(server, "self_check", {
        "inputs": [raw_http.tensor("CODE", "BYTES", [1], [code])]})
    assert reply.status == 200, reply.error
    return reply.json["outputs"][0]["data"][0]


def ready(server, model="self_check"):
    return raw_http.get(server, f"/v2/models/{model}/ready").status == 200


def server_ready(server):
    return raw_http.get(server, "/v2/health/ready").status == 200


@pytest.fixture(autouse=True)
def good_again(python):
    yield
    say(python, "return True")


@pytest.mark.parametrize("code, expected", [
    ("return True", True), ("return False", False), ("raise ValueError('broken')", False),
    ("return 1", False), ("return None", False), ("return np.bool_(True)", None),
    ("async def check():\n    return True\nreturn check()", True),
    ("import asyncio\nasync def check():\n    await asyncio.sleep(0.01)\n    return False\n"
     "return check()", False),
], ids=["true", "false", "raises", "number", "none", "numpy", "coroutine", "coroutine_false"])
def test_what_is_ready_returns(python, code, expected):
    say(python, code)
    if expected is not None:
        assert ready(python) is expected
        assert server_ready(python) is expected
    assert ready(python, "types")
    assert say(python, "return True") == "served"
    assert ready(python) and server_ready(python)


def test_grpc_asks_as_well(python, connect):
    client = connect("grpc", python)
    assert client.call("is_model_ready", "self_check") is True
    say(python, "return False")
    assert client.call("is_model_ready", "self_check") is False
    assert client.call("is_server_ready") is False


def test_requests_are_served_in_the_meantime(python):
    """is_ready() takes a second; requests of the model are not refused and do not wait for it."""
    say(python, "import time\ntime.sleep(1)\nreturn True")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ready, python)
        assert say(python, "import time\ntime.sleep(0.1)\nreturn True") == "served"
        assert asked.result() is True


def test_sixteen_queries_at_once(python):
    say(python, "model.calls += 1\nimport time\ntime.sleep(0.1)\nreturn True")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda _: ready(python), range(16))) == [True] * 16


def test_a_check_that_takes_too_long(python):
    """The limit is five seconds."""
    say(python, "import time\ntime.sleep(7)\nreturn True")
    assert ready(python) is False
    say(python, "return True")
    wait_until(lambda: ready(python), "the model is ready again")


def test_another_model_asks(python):
    code = "return pb_utils.is_model_ready('self_check')"
    assert snippet_once(python, code) is True
    say(python, "return False")
    assert snippet_once(python, code) is False


def test_the_log_says_why(start_python):
    server = start_python("verbose", lambda root: copy_models(root, "self_check"),
                          "--log-verbose=1")
    say(server, "raise ValueError('the reason')")
    assert ready(server) is False
    wait_for_log(server, "the reason")
    server.stop()
