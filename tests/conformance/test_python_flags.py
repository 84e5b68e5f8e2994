# SPDX-License-Identifier: Apache-2.0
"""--backend-config=python,… and models of backends that are written in Python."""

import os
from pathlib import Path

import numpy as np
import pytest
from python_backend import write_archive
from python_server import snippet, wait_until, write_model
from server_process import ServerFailed

IO = """
max_batch_size: 0
input { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] }
"""

ECHO = """
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "OUT", request.inputs()[0].as_numpy())]) for request in requests]
"""


def write_echo(root):
    write_model(root, "echo", ECHO, IO)


def echo(client, model="echo"):
    return client.infer(model, [client.input("IN", np.array([7], np.int32))]).array("OUT").tolist()


def test_all_flags(start_python, connect):
    """Those of Triton's backend, and unknown ones, which are ignored."""
    flags = {"shm-default-byte-size": 2097152, "shm-growth-byte-size": 1048576,
             "shm-region-prefix-name": "some_prefix", "shm_message_queue_size": 500,
             "stub-timeout-seconds": 60, "thread-pool-size": 4, "no-such-flag": "x"}
    server = start_python("flags", write_echo, *(
        f"--backend-config=python,{key}={value}" for key, value in flags.items()))
    assert echo(connect("http", server)) == [7]
    server.stop()


@pytest.mark.parametrize("flag, text", [
    ("shm-default-byte-size=1000", "shm-default-byte-size can't be smaller than 4 MiBs"),
    ("shm-growth-byte-size=0", "shm-growth-byte-size can't be smaller than or equal to zero."),
    ("stub-timeout-seconds=0", "stub-timeout-seconds can't be smaller than or equal to zero."),
    ("thread-pool-size=0", "thread-pool-size can't be less than 1."),
    ("thread-pool-size=many", ""),
])
def test_flags_that_cannot_be(start_python, flag, text):
    """The backend is not loaded, and the models say so."""
    with pytest.raises(ServerFailed) as caught:
        start_python("flag", write_echo, f"--backend-config=python,{flag}",
                     "--exit-on-error=true")
    assert text in str(caught.value)


# Environments

PLACE = """
import os
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        values = [os.environ.get("VIRTUAL_ENV", ""), os.environ["PATH"].split(":")[0]]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array(values, np.object_))])
                for _ in requests]
"""
PLACE_IO = """
max_batch_size: 0
input { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "OUT" data_type: TYPE_STRING dims: [ 2 ] }
"""


def environment(path):
    return (PLACE_IO + 'parameters { key: "EXECUTION_ENV_PATH" value { string_value: "'
            f'{path}" }} }}\n')


def write_activate(folder):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "activate").write_text("")


@pytest.fixture(scope="module")
def places(start_python):
    def write(root):
        write_echo(root)
        for name, path in {"directory": "$$TRITON_MODEL_DIRECTORY/environment",
                           "archive": "$$TRITON_MODEL_DIRECTORY/environment.tar.gz",
                           "missing": "$$TRITON_MODEL_DIRECTORY/no_such",
                           "empty": "$$TRITON_MODEL_DIRECTORY/environment",
                           "dots": "$$TRITON_MODEL_DIRECTORY/environment.tar.gz",
                           "absolute": "$$TRITON_MODEL_DIRECTORY/environment.tar.gz"}.items():
            write_model(root, name, PLACE, environment(path))
        write_activate(root / "directory" / "environment")
        (root / "empty" / "environment").mkdir()
        write_archive(root / "archive" / "environment.tar.gz", {"bin/activate": b""})
        write_archive(root / "dots" / "environment.tar.gz",
                      {"bin/activate": b"", "../nereid_escaped": b""})
        write_archive(root / "absolute" / "environment.tar.gz",
                      {"bin/activate": b"", "/tmp/nereid_escaped": b""})
    server = start_python("places", write, "--model-control-mode=explicit", "--load-model=echo")
    yield server
    server.stop()


@pytest.mark.parametrize("model", ["directory", "archive"])
def test_an_environment_is_used(places, connect, model):
    client = connect("http", places)
    client.call("load_model", model)
    place, first = client.infer(
        model, [client.input("IN", np.array([7], np.int32))]).array("OUT").tolist()
    if model == "directory":
        assert place == str(places.repository / "directory" / "environment").encode()
    assert first == place + b"/bin" and place


@pytest.mark.parametrize("model, text", [
    ("missing", "Failed to get the canonical path for "),
    ("empty", "bin/activate does not exist. The Python environment should contain an 'activate' "
     "script."),
])
def test_an_environment_that_is_not_there(places, connect, model, text):
    client = connect("http", places)
    _, said = client.error(client.call, "load_model", model)
    assert text in said
    assert echo(client) == [7]


@pytest.mark.parametrize("model", ["dots", "absolute"])
def test_an_archive_that_leaves_its_folder(places, connect, model):
    client = connect("http", places)
    _, said = client.error(client.call, "load_model", model)
    assert "nereid_escaped" in said
    assert echo(client) == [7]


NUMBER = """
import os
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.folder = os.environ["VIRTUAL_ENV"]

    def execute(self, requests):
        with open(self.folder + "/number") as file:
            values = [self.folder, file.read()]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array(values, np.object_))])
                for _ in requests]
"""


# For the peer, which runs the script. It sets what Nereid sets without running it.
ACTIVATE = b'export VIRTUAL_ENV="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"\n'


def test_an_archive_of_two_models_is_unpacked_once(start_python, connect, tmp_path):
    """And again for the models that are loaded after its time has changed."""
    path = tmp_path / "shared.tar.gz"

    def write(root):
        for name in ("one", "two"):
            write_model(root, name, NUMBER, environment(path))
    write_archive(path, {"bin/activate": ACTIVATE, "number": b"1"})
    server = start_python("shared", write, "--model-control-mode=explicit")
    client = connect("http", server)

    def loaded(model):
        client.call("load_model", model)
        folder, number = client.infer(
            model, [client.input("IN", np.array([7], np.int32))]).array("OUT").tolist()
        return Path(folder.decode()), number

    first, number = loaded("one")
    assert number == b"1"
    # A second time would overwrite this, or make another folder.
    (first / "number").write_bytes(b"of the test")
    assert loaded("two") == (first, b"of the test")

    before = path.stat()
    write_archive(path, {"bin/activate": ACTIVATE, "number": b"2"})
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 5_000_000_000))
    client.call("unload_model", "two")
    wait_until(lambda: not client.call("is_model_ready", "two"), "the unload")
    assert loaded("two")[1] == b"2"
    server.stop()


# Backends in Python


def test_a_backend_in_python(start_python, connect, python_setting, tmp_path):
    """The backend's model.py serves each model that names the backend."""
    given = next((flag.partition("=")[2] for flag in python_setting[1]), None)
    if given is None:
        pytest.skip("the peer's folder of backends is not the test's")
    folder = tmp_path / "backends"
    folder.mkdir()
    for backend in Path(given).iterdir():
        if list(backend.glob("libtriton_*.so")):
            (folder / backend.name).symlink_to(backend.resolve())
    (folder / "fixed").mkdir()
    (folder / "fixed" / "helper.py").write_text("NAME = 'of the backend'\n")
    (folder / "fixed" / "model.py").write_text("""
import json
import helper
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.said = [args["model_name"], __name__, helper.NAME, pb_utils.get_model_dir()]

    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("VALUE", np.array(
            [json.dumps({"value": self.said})], np.object_))]) for _ in requests]
""")

    def write(root):
        for name in ("one", "two"):
            (root / name / "1").mkdir(parents=True)
            (root / name / "config.pbtxt").write_text("""
backend: "fixed"
max_batch_size: 0
input { name: "CODE" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "VALUE" data_type: TYPE_STRING dims: [ 1 ] }
""")
    server = start_python("in_python", write, f"--backend-directory={folder}")
    client = connect("http", server)
    for name in ("one", "two"):
        assert snippet(client, "", name) == [
            name, "model", "of the backend", str(server.repository / name / "1")]
    server.stop()
