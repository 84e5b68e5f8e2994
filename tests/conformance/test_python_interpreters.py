# SPDX-License-Identifier: Apache-2.0
"""What a load says if the interpreter of a Python model cannot run models, and which interpreter that is."""

import shutil
import sys
from pathlib import Path

import pytest
import raw_http
from python_server import write_model

IO = """
max_batch_size: 0
input { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] }
"""

ECHO = """
import os
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        pb_utils.Logger.log_info("called as " + os.environ.get("CALLED_AS", "itself"))

    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "OUT", request.inputs()[0].as_numpy())]) for request in requests]
"""

# Modules that are found before those of the interpreter, and what a load then says.
PROBLEMS = {
    "no_numpy": ("numpy.py", "raise ImportError(\"No module named 'numpy'\")\n",
                 "cannot run Python models: No module named 'numpy'. Install numpy for it"),
    "old_numpy": ("numpy.py", "__version__ = '1.19.5'\n",
                  "has NumPy 1.19.5, but Python models need 1.20 or newer"),
    "old_python": ("sitecustomize.py", "import sys\nsys.version_info = (3, 8, 20, 'final', 0)\n",
                   "is too old to run Python models, which need Python 3.9 or newer"),
}
LOADS = 20


def make_interpreter(folder: Path, module=None, content="") -> Path:
    """Makes a program that runs the interpreter of the tests with a module before its own ones."""
    folder.mkdir(parents=True)
    program = folder / "python3"
    if module is not None:
        (folder / module).write_text(content)
    program.write_text(f'#!/bin/sh\nexport PYTHONPATH="{folder}" CALLED_AS="{folder.name}"\n'
                       f'exec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    return program


def load(server, model):
    return raw_http.request(server, "POST", f"/v2/repository/models/{model}/load", b"{}")


@pytest.fixture(scope="module", autouse=True)
def only_nereid(python_kind):
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend has this")


@pytest.fixture(scope="module")
def serving(start_python, tmp_path_factory):
    place = tmp_path_factory.mktemp("interpreters")

    def write(root):
        for name, (module, content, _) in PROBLEMS.items():
            program = make_interpreter(place / name, module, content)
            write_model(root, name, ECHO, IO + (
                f'parameters {{ key: "python" value {{ string_value: "{program}" }} }}\n'))
        write_model(root, "of_the_setting", ECHO, IO)

    program = make_interpreter(place / "chosen")
    server = start_python("interpreters", write, "--model-control-mode=explicit",
                          f"--backend-config=python,interpreter={program}")
    yield server
    server.stop()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_reason_is_told_each_time(serving, problem):
    """The process ends as soon as it has told the reason, which must not be lost."""
    said = [load(serving, problem) for _ in range(LOADS)]
    assert {reply.status for reply in said} == {400}
    assert [reply.error for reply in said if PROBLEMS[problem][2] not in reply.error] == []


def test_the_setting_of_the_backend_names_the_interpreter(serving):
    assert load(serving, "of_the_setting").status == 200
    assert "called as chosen" in serving.log.read_text()


def test_the_program_of_a_package_passes_its_interpreter_on(start_python, tmp_path, monkeypatch):
    monkeypatch.setenv("NEREID_PYTHON_INTERPRETER", str(make_interpreter(tmp_path / "package")))
    server = start_python("of_a_package", lambda root: write_model(root, "echo", ECHO, IO))
    assert "called as package" in server.log.read_text()
    server.stop()


# A library and a runtime of different installations


@pytest.fixture(scope="module")
def mixed(start_server, backends, tmp_path_factory):
    """A server whose workers have another version of the protocol."""
    place = tmp_path_factory.mktemp("mixed")
    folder = place / "backends" / "python"
    shutil.copytree(backends / "python", folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(backends / "python" / "libtriton_python.so", folder)
    protocol = folder / "nereid_worker" / "protocol.py"
    lines = protocol.read_text().splitlines(keepends=True)
    protocol.write_text("".join("VERSION = 99\n" if line.startswith("VERSION =") else line
                                for line in lines))

    def write(root):
        write_model(root, "good", ECHO, IO + (
            f'parameters {{ key: "python" value {{ string_value: "{sys.executable}" }} }}\n'))
        for name, (module, content, _) in PROBLEMS.items():
            program = make_interpreter(place / name, module, content)
            write_model(root, name, ECHO, IO + (
                f'parameters {{ key: "python" value {{ string_value: "{program}" }} }}\n'))

    server = start_server("mixed", write, "--model-control-mode=explicit",
                          f"--backend-directory={place / 'backends'}")
    yield server
    server.stop()


def test_another_version_of_the_protocol_is_told(mixed):
    reply = load(mixed, "good")
    assert reply.status == 400
    assert "it has version 99 of the protocol" in reply.error
    assert "are not of one installation" in reply.error


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_reason_comes_before_the_version(mixed, problem):
    said = [load(mixed, problem) for _ in range(LOADS)]
    assert [reply.error for reply in said if PROBLEMS[problem][2] not in reply.error] == []
