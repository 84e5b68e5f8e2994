# SPDX-License-Identifier: Apache-2.0
"""Servers with Python models. The same tests run with three of them:

  nereid   Nereid with its own Python backend
  triton   Nereid with Triton's Python backend (--python-implementation triton)
  peer     Triton (--peer DIR)

Each case states the behavior of Nereid with its own backend. intended_differences.toml names the
cases that fail with the others. A test module names its models (folders of python_models/):

  MODELS   loaded at the start
  LATER    in the repository, and not loaded
  FLAGS    of the server
"""

import contextlib
import json
import os
import shutil
import sys
import time
from pathlib import Path

import grpc_raw
import numpy as np
import pytest
import python_backend
import raw_http
from server_process import ServerFailed

HERE = Path(__file__).resolve().parent
MODELS = HERE / "python_models"
EXPLICIT = "--model-control-mode=explicit"
BUSY = ("is not healthy", "lock_exception")


def kind_of(config) -> str:
    """Returns which of the three servers the tests run with."""
    options = config.option
    if options.peer:
        return "peer"
    if options.python_implementation:
        return options.python_implementation
    backends = Path(options.backend_directory or HERE.parents[1] / "build" / "release" / "backends")
    files = ["libtriton_python.so", "nereid_worker"]
    return "nereid" if all((backends / "python" / f).exists() for f in files) else "triton"


@pytest.fixture(scope="session")
def python_kind(request):
    """"nereid", "triton" or "peer"."""
    return kind_of(request.config)


@contextlib.contextmanager
def interpreter(folder):
    """Puts `folder` before the other folders of PATH. Workers use the first Python in PATH."""
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{folder}:{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


@pytest.fixture(scope="session")
def python_setting(request, python_kind, backends, tmp_path_factory):
    """Returns the folder of the interpreter of models, and flags of the server."""
    if python_kind == "nereid":
        return Path(sys.executable).parent, [f"--backend-directory={backends}"]
    folder = python_backend.find(request.config.option.python_backend)
    if folder is None:
        pytest.skip("Triton's Python backend is not there: run "
                    "tools/install/python_backend.sh build/python_backend")
    flags = []
    if python_kind == "triton":
        linked = tmp_path_factory.mktemp("python") / "backends"
        flags.append("--backend-directory="
                     f"{python_backend.backend_directory(folder, backends, linked)}")
    return folder / "python" / "bin", flags


@pytest.fixture(scope="session")
def start_python(start_server, python_setting, python_kind):
    """Returns start(name, write, *flags), which starts a server with Python models."""
    folder, flags = python_setting
    # On a busy machine a process of Triton's backend that is slow to start fails the load, or ends
    # the server.
    attempts = 1 if python_kind == "nereid" else 3

    def start(name, write, *more, **named):
        for left in reversed(range(attempts)):
            try:
                with interpreter(folder):
                    return start_server(name, write, *flags, *more, **named)
            except ServerFailed as error:
                if not left or not any(word in str(error) for word in BUSY):
                    raise
        raise AssertionError("not reached")

    return start


@pytest.fixture(scope="module")
def python(request, start_python, python_kind):
    """The server with the models of the test module. It ends with the module."""
    module = request.module
    serving, later = module.MODELS, getattr(module, "LATER", [])
    server = start_python(
        module.__name__, lambda root: copy_models(root, *serving, *later), EXPLICIT,
        *(f"--load-model={name}" for name in serving), *getattr(module, "FLAGS", []))
    yield server
    try:
        server.stop()
    except ServerFailed as error:
        # Triton's backend never releases some requests that call other models.
        if python_kind != "triton" or "Models that backends still hold" not in str(error):
            raise
        server.process = None


@pytest.fixture(params=["http", "grpc"])
def python_client(request, python, connect):
    """An official client of the module's server, for each protocol."""
    return connect(request.param, python)


@pytest.fixture
def python_grpc(python, connect):
    return connect("grpc", python)


@pytest.fixture
def python_http(python, connect):
    return connect("http", python)


def copy_models(root: Path, *names):
    root.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copytree(MODELS / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))


def write_model(root: Path, name, code, config="", version="1", file="model.py"):
    """Writes a model that one test needs."""
    (root / name / version).mkdir(parents=True)
    (root / name / version / file).write_text(code)
    (root / name / "config.pbtxt").write_text(f'backend: "python"\n{config}')


def texts(*values):
    """Returns an array of byte strings."""
    return np.array([v.encode() if isinstance(v, str) else v for v in values], np.object_)


class Raised(Exception):
    """The snippet raised an exception. `kind` is the name of its type, `text` its text."""

    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text


def told(document):
    """Returns the value that a snippet returned; raises Raised if it raised an exception."""
    if "raised" in document:
        raise Raised(document["raised"], document["text"])
    return document["value"]


def snippet(client, code, model="snippets", **request):
    """Runs a function body in a model and returns the value that it returns."""
    answer = client.infer(model, [client.input("CODE", texts(code))], ["VALUE"], **request)
    return told(json.loads(answer.array("VALUE")[0]))


def snippet_once(server, code, model="snippets"):
    """As snippet(), on a connection of its own: for threads."""
    reply = raw_http.infer(server, model, {"inputs": [raw_http.tensor("CODE", "BYTES", [1], [code])],
                                           "outputs": [{"name": "VALUE"}]})
    assert reply.status == 200, reply.error
    return told(json.loads(reply.json["outputs"][0]["data"][0]))


def raised(client, code, model="snippets"):
    """Runs a function body that must raise. Returns "Type: text"."""
    with pytest.raises(Raised) as caught:
        snippet(client, code, model)
    return str(caught.value)


def stream(server, model, code, request_id="", outputs=("VALUE",)):
    """Runs a function body in a decoupled model. Returns the messages of the stream."""
    request = grpc_raw.infer_request(
        model, [grpc_raw.tensor("CODE", "BYTES", [1], bytes_contents=[code.encode()])],
        outputs=outputs, request_id=request_id,
        parameters={"triton_enable_empty_final_response": True})
    return grpc_raw.stream(server, [request], timeout=30)


def streamed(server, model, code):
    """Runs a function body in a decoupled model. Returns the values (JSON) and the errors."""
    values, errors = [], []
    for reply in stream(server, model, code):
        if reply.error_message:
            errors.append(reply.error_message)
        for raw in reply.infer_response.raw_output_contents:
            values.append(json.loads(raw[4:]))
    return values, errors


def wait_until(condition, what, seconds=30):
    """Asks again and again until `condition` returns a true value, which it returns."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"waited for {seconds} s: {what}"
        time.sleep(0.05)
    return value


def wait_for_log(server, text, seconds=30):
    """Waits for a text in the server's log, which arrives through a pipe. Returns the log."""
    def log():
        read = server.log.read_text(errors="replace")
        return read if text in read else None
    return wait_until(log, f"{text!r} in the log", seconds)


def metrics(server):
    """Returns the values of the metrics page by name and labels."""
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in page.splitlines() if line and not line.startswith("#")}
