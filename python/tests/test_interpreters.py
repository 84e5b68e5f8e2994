# SPDX-License-Identifier: Apache-2.0
"""The interpreter of Python models: that of the package, unless a setting names another one."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import tensor, write_model

import nereid
import tritonserver

CODE = """
import os
import sys
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        told = [os.environ.get("CALLED_AS", ""), sys.prefix]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("TOLD", np.array(told, np.object_))])
                for _ in requests]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A repository with a model, and a first `python3` in PATH that must not be used."""
    repository = tmp_path / "models"
    config = (
        'backend: "python"\n'
        + tensor("input", "IN", "INT32", "[ 1 ]")
        + tensor("output", "TOLD", "STRING", "[ 2 ]")
    )
    write_model(repository, "where", config)
    (repository / "where/1/model.py").write_text(CODE)
    interpreter(tmp_path / "path", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    return repository


def interpreter(place, command):
    place.mkdir()
    program = place / "python3"
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
    return str(program)


def where(server):
    (told,) = [server.model("where").infer({"IN": np.zeros(1, np.int32)})["TOLD"]]
    return [value.decode() if isinstance(value, bytes) else value for value in told.tolist()]


def test_the_interpreter_of_the_process_is_the_default(folder):
    with nereid.Server(folder) as server:
        assert where(server) == ["", sys.prefix]


def test_a_setting_names_another_interpreter(folder, tmp_path):
    chosen = interpreter(tmp_path / "chosen", f'CALLED_AS=chosen exec "{sys.executable}" "$@"')
    with nereid.Server(folder, backend_config={"python": {"interpreter": chosen}}) as server:
        assert where(server) == ["chosen", sys.prefix]


@pytest.mark.parametrize("chosen", ["", "chosen"])
def test_a_server_of_tritonserver(folder, tmp_path, chosen):
    options = {"model_repository": str(folder), "log_error": True}
    if chosen:
        program = interpreter(tmp_path / chosen, f'CALLED_AS={chosen} exec "{sys.executable}" "$@"')
        options["backend_configuration"] = {"python": {"interpreter": program}}
    server = tritonserver.Server(**options).start(wait_until_ready=True)
    inputs = {"IN": np.zeros(1, np.int32)}
    (response,) = list(server.model("where").infer(inputs=inputs))
    assert response.outputs["TOLD"].to_string_array().tolist() == [chosen, sys.prefix]
    server.stop()


def test_the_program_of_the_package_passes_its_interpreter_on(folder, tmp_path):
    """The program is a stand-in that tells its environment."""
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, runpy, sys\n"
            "os.execv = lambda *_: print(os.environ['NEREID_PYTHON_INTERPRETER'])\n"
            "sys.argv = ['nereid', '--help']\n"
            "runpy.run_module('nereid', run_name='__main__')\n",
        ],
        env={"PYTHONPATH": ":".join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == sys.executable
