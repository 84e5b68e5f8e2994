# SPDX-License-Identifier: Apache-2.0
"""What only Nereid's own Python backend has: generators, limits of time, restarts, interpreters."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import raw_http
from python_server import streamed, wait_for_log, wait_until, write_model

CODE_IO = """
max_batch_size: 0
input { name: "CODE" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "VALUE" data_type: TYPE_STRING dims: [ 1 ] }
"""

START = """
import asyncio
import json
import os
import sys
import time
import numpy as np
import triton_python_backend_utils as pb_utils


def told(value):
    return pb_utils.InferenceResponse(
        [pb_utils.Tensor("VALUE", np.array([json.dumps(value)], np.object_))])


class TritonPythonModel:
"""

GENERATOR = START + """
    def execute(self, requests):
        for i in range(3):
            yield [told(i) for _ in requests]
"""

ASYNC_GENERATOR = START + """
    async def execute(self, requests):
        for i in range(3):
            await asyncio.sleep(0.001)
            yield [told(i) for _ in requests]
"""

FAILING_GENERATOR = START + """
    def execute(self, requests):
        yield [told(0) for _ in requests]
        raise ValueError("in a generator")
"""

SLEEPS = START + """
    def execute(self, requests):
        code = requests[0].inputs()[0].as_numpy()[0].decode()
        if code == "hang":
            time.sleep(60)
        if code == "exit":
            os._exit(4)
        return [told([os.getpid(), sys.executable]) for _ in requests]
"""

HANGS_AT_START = START + """
    def initialize(self, args):
        time.sleep(60)

    def execute(self, requests):
        return [told(1) for _ in requests]
"""

HANGS_IN_COMPLETION = START + """
    @staticmethod
    def auto_complete_config(config):
        time.sleep(60)
        return config

    def execute(self, requests):
        return [told(1) for _ in requests]
"""

HANGS_AT_END = START + """
    def execute(self, requests):
        return [told(1) for _ in requests]

    def finalize(self):
        time.sleep(60)
"""

DIES_AT_END = START + """
    def execute(self, requests):
        return [told(1) for _ in requests]

    def finalize(self):
        print("the last words", file=sys.stderr, flush=True)
        os._exit(3)
"""

IMPORTS = START + """
    def execute(self, requests):
        import only_here
        return [told([only_here.NAME, sys.prefix]) for _ in requests]
"""

FUNCTION = """
from nereid import FP32, model


@model(max_batch_size=8)
def scale(x: FP32[-1], factor: FP32[1] = None) -> {"SCALED": FP32[-1]}:
    return {"SCALED": x * (2 if factor is None else factor)}
"""


BESIDE_THE_PACKAGE = """
from nereid import STRING, model
from nereid.inner import NAME
import nereid


@model()
def tell(CODE: STRING[1]) -> {"VALUE": STRING[1]}:
    try:
        nereid.Server
    except AttributeError as error:
        return {"VALUE": [NAME + str(error)[:25]]}
"""


def parameter(key, value):
    return f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}\n'


def make_environment(folder):
    """Makes a virtual environment with a module of its own, and with the packages of the tests."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "only_here.py").write_text("NAME = 'of the environment'\n")
    (packages / "nereid").mkdir()
    (packages / "nereid" / "__init__.py").write_text("raise RuntimeError('the package of the server')")
    (packages / "nereid" / "inner.py").write_text("NAME = 'inner '\n")
    (packages / "numpy.pth").write_text(str(Path(np.__file__).parents[1]) + "\n")


@pytest.fixture(scope="module")
def beyond(start_python, python_kind, tmp_path_factory):
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend has this")
    place = tmp_path_factory.mktemp("environment") / "venv"
    make_environment(place)
    decoupled = CODE_IO + "model_transaction_policy { decoupled: true }\n"

    def write(root):
        for name, code in (("generator", GENERATOR), ("async_generator", ASYNC_GENERATOR),
                           ("failing_generator", FAILING_GENERATOR)):
            write_model(root, name, code, decoupled)
        write_model(root, "function", FUNCTION)
        write_model(root, "limited", SLEEPS, CODE_IO + parameter("execute_timeout_ms", 500))
        write_model(root, "once", SLEEPS, CODE_IO + parameter("restart_limit", 0))
        write_model(root, "slow_start", HANGS_AT_START,
                    CODE_IO + parameter("initialize_timeout_seconds", 5))
        write_model(root, "slow_completion", HANGS_IN_COMPLETION,
                    CODE_IO + parameter("initialize_timeout_seconds", 1))
        write_model(root, "slow_end", HANGS_AT_END, CODE_IO + parameter("finalize_timeout_seconds", 1))
        write_model(root, "bad_end", DIES_AT_END, CODE_IO)
        write_model(root, "environment", IMPORTS, CODE_IO + parameter("EXECUTION_ENV_PATH", place))
        write_model(root, "beside", BESIDE_THE_PACKAGE, parameter("python", place))
        write_model(root, "interpreter", IMPORTS, CODE_IO + parameter("python", place))
        write_model(root, "no_interpreter", IMPORTS, CODE_IO + parameter("python", "/no/such"))
    names = ["function", "generator", "async_generator", "failing_generator", "limited", "once", "environment",
             "interpreter", "beside"]
    made = start_python("beyond", write, "--model-control-mode=explicit",
                        *(f"--load-model={name}" for name in names))
    made.place = place
    yield made
    made.stop()


def ask(server, model, code=""):
    reply = raw_http.infer(server, model, {"inputs": [raw_http.tensor("CODE", "BYTES", [1], [code])]})
    if reply.status != 200:
        return reply.error
    return json.loads(reply.json["outputs"][0]["data"][0])


def load(server, model):
    return raw_http.request(server, "POST", f"/v2/repository/models/{model}/load", b"{}")


@pytest.mark.parametrize("model", ["generator", "async_generator"])
def test_a_generator_streams(beyond, model):
    assert streamed(beyond, model, "") == ([0, 1, 2], [])


def test_a_generator_that_fails(beyond):
    values, errors = streamed(beyond, "failing_generator", "")
    assert values == [0] and len(errors) == 1 and "ValueError: in a generator" in errors[0]


def test_a_function_is_a_model(beyond, connect):
    """Its configuration comes from its annotations."""
    client = connect("http", beyond)
    config = client.json("get_model_config", "function")
    assert config["max_batch_size"] == 8 and config["input"][1]["optional"] is True
    answer = client.infer("function", [client.input("x", np.array([[1, 2]], np.float32))])
    assert answer.array("SCALED").tolist() == [[2, 4]]
    answer = client.infer("function", [client.input("x", np.array([[1, 2]], np.float32)),
                                       client.input("factor", np.array([[5]], np.float32))])
    assert answer.array("SCALED").tolist() == [[5, 10]]


def test_the_package_of_the_server_does_not_hide_the_decorator(beyond):
    reply = raw_http.infer(beyond, "beside", {"inputs": [raw_http.tensor("CODE", "BYTES", [1], [""])]})
    assert reply.json["outputs"][0]["data"] == ["inner module 'nereid' has no at"]


def test_an_execution_that_takes_too_long(beyond):
    first = ask(beyond, "limited")[0]
    assert "execute() did not end within" in ask(beyond, "limited", "hang")
    wait_until(lambda: isinstance(ask(beyond, "limited"), list), "another process")
    assert ask(beyond, "limited")[0] != first


def test_an_initialization_that_takes_too_long(beyond):
    reply = load(beyond, "slow_start")
    assert reply.status == 400 and "did not end within" in reply.error


def test_a_completion_that_takes_too_long(beyond):
    reply = load(beyond, "slow_completion")
    assert reply.status == 400
    assert "auto_complete_config() did not end within 1 s" in reply.error


def test_the_setting_of_the_backend_limits_all_functions(start_python, python_kind):
    """Without the setting and the model's parameters there is no limit."""
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend has this")
    server = start_python("limited_start",
                          lambda root: write_model(root, "hangs", HANGS_AT_START, CODE_IO),
                          "--model-control-mode=explicit",
                          "--backend-config=python,stub-timeout-seconds=1")
    reply = load(server, "hangs")
    # On a busy machine auto_complete_config() is the first to take so long.
    assert reply.status == 400 and "() did not end within 1 s" in reply.error
    server.stop()


@pytest.mark.parametrize("model, said", [
    ("slow_end", "The process was killed: finalize() did not end within 1 s."),
    ("bad_end", "The process exited with code 3. Its last lines on stderr:"),
])
def test_a_finalization_that_does_not_complete_is_in_the_log(beyond, model, said):
    assert load(beyond, model).status == 200
    assert raw_http.request(beyond, "POST", f"/v2/repository/models/{model}/unload", b"{}").status == 200
    wait_for_log(beyond, f"finalize() of the Python model '{model}_0' did not complete. {said}")


def test_a_model_that_is_not_started_again(beyond):
    assert isinstance(ask(beyond, "once"), list)
    assert "not healthy" in ask(beyond, "once", "exit")
    assert "not healthy" in ask(beyond, "once")
    assert raw_http.get(beyond, "/v2/models/once/ready").status != 200


@pytest.mark.parametrize("model", ["environment", "interpreter"])
def test_a_virtual_environment(beyond, model):
    assert ask(beyond, model) == ["of the environment", str(beyond.place)]


def test_an_interpreter_that_is_not_there(beyond):
    reply = load(beyond, "no_interpreter")
    assert reply.status == 400 and "/no/such" in reply.error
