# SPDX-License-Identifier: Apache-2.0
"""nereid doctor on this machine: whatever the machine is like, the report is complete."""

import json
import os
import socket as sockets
import sys

import command_line
import pytest


@pytest.fixture(scope="module")
def tool(request, is_peer):
    if is_peer:
        pytest.skip("the doctor asks no server")
    run = command_line.runner(request.config)
    return lambda *words, code: run(None, "doctor", *words, code=code, url="unused")


def report(done):
    return [(row["severity"], row["area"], row["text"]) for row in json.loads(done.stdout)]


def test_a_port_in_use_and_a_missing_repository(tool, backends):
    with sockets.create_server(("0.0.0.0", 0)) as held:
        port = held.getsockname()[1]
        done = tool(f"--http-port={port}", "/nowhere", "--format=json", code=1,
                    *[f"--backend-directory={backends}"])
        rows = report(done)
    assert ("error", "ports", f"port {port} (HTTP): another program listens there") in rows
    assert [r for r in rows if r[:2] == ("error", "repository")]
    assert {r[1] for r in rows} >= {"cpu", "memory", "limits", "clock", "ports", "backends",
                                    "libraries", "gpus", "repository"}
    assert ("ok", "backends", "identity loads") in rows
    assert all(row["remedy"] for row in json.loads(done.stdout)
               if row["severity"] in ("warning", "error"))


@pytest.mark.parametrize("content, why", [
    (b"not a library", "does not load: "),
    (None, "does not load: "),
], ids=["no library", "no entry point"])
def test_a_backend_that_does_not_load(tool, tmp_path, content, why):
    folder = tmp_path / "mine"
    folder.mkdir()
    library = folder / "libtriton_mine.so"
    if content is None:
        # A library without the functions of a backend.
        (found,) = [line.split()[-1] for line in os.popen("ldd /bin/sh") if "libc.so" in line
                    for line in [line.rsplit("(", 1)[0]]]
        library.symlink_to(found)
    else:
        library.write_bytes(content)
    done = tool(f"--backend-directory={tmp_path}", "--format=json", "--http-port=1",
                code=None)
    (row,) = [r for r in report(done) if r[1] == "backends"]
    assert row[0] == "warning" and row[2].startswith("mine " + why)


def test_the_interpreter_of_python_models(tool, backends, tmp_path, monkeypatch):
    """The doctor starts the program of a worker with it."""
    if not (backends / "python" / "nereid_worker").exists():
        pytest.skip("only Nereid's own Python backend has the program")

    def found():
        done = tool(f"--backend-directory={backends}", "--format=json", "--http-port=1", code=None)
        (row,) = [r for r in report(done) if r[1] == "backends" and r[2].startswith("python ")]
        return row[0], row[2]

    monkeypatch.setenv("NEREID_PYTHON_INTERPRETER", sys.executable)
    assert found() == ("ok", "python loads")
    program = tmp_path / "python3"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("NEREID_PYTHON_INTERPRETER", str(program))
    severity, text = found()
    assert severity == "warning" and "cannot run Python models: No module named 'numpy'" in text
    monkeypatch.setenv("NEREID_PYTHON_INTERPRETER", str(tmp_path / "none"))
    severity, text = found()
    assert severity == "warning" and "there is no program" in text
