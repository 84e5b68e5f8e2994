#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the wheel with pip in a fresh virtual environment and uses it: the program under both names,
an HTTP request, a server in the process, front ends, a function as a model, and, with --extras and
--models, a model of a framework.

    tests/wheel/install_and_serve.py WHEEL [--extras NAME,...] [--models FOLDER] [--root DIR]

Needs Python 3.9 with venv, and nothing else of the project. --root runs it in the root of another system
(with unshare and chroot, as root), which must have Python and reach pip's index. --models has ONNX models of
tests/models/make_models.py.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

CONFIG = """backend: "identity"
input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
"""
IN_PROCESS = """
import sys
import nereid, numpy, tritonserver, tritonfrontend
with nereid.Server(sys.argv[1]) as server:
    array = numpy.array([1, 2], numpy.float32)
    assert server.model("echo").infer({"IN": array})["OUT"].tolist() == [1, 2]
    with server.listen(http_port=0, grpc_port=0, metrics_port=0) as frontends:
        assert frontends.http_port and frontends.grpc_port and frontends.metrics_port
    if len(sys.argv) > 2:
        model = server.model(sys.argv[2])
        inputs = {entry["name"]: numpy.ones([1] * len(entry["shape"]), numpy.float32)
                  for entry in model.metadata()["inputs"]}
        assert model.infer(inputs).outputs

def twice(requests):
    return [{"OUTPUT_1": request["INPUT_1"] * 2} for request in requests]

from nereid.pytriton import Tensor
tensor = Tensor(dtype=numpy.float32, shape=(-1,))
model = nereid.bind(twice, [tensor], [tensor])
assert model.infer({"INPUT_1": numpy.ones((1, 2), numpy.float32)})["OUTPUT_1"].tolist() == [[2, 2]]
print("in process: ok")
"""


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, text=True, **options)


def write_models(folder, models, name):
    echo = folder / "echo"
    (echo / "1").mkdir(parents=True)
    (echo / "config.pbtxt").write_text(CONFIG)
    if models is not None:
        shutil.copytree(models / name, folder / name)


def ask(port, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", data=data) as response:
        return response.read()


def check_program(command, models, port):
    """Serves the models with the program and asks it."""
    flags = [f"--model-repository={models}", f"--http-port={port}", "--allow-grpc=false"]
    process = subprocess.Popen([*command, *flags, "--allow-metrics=false"])
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                ask(port, "v2/health/ready")
                break
            except (urllib.error.URLError, ConnectionError):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        tensor = {"name": "IN", "datatype": "FP32", "shape": [2], "data": [3, 4]}
        answer = json.loads(ask(port, "v2/models/echo/infer", {"inputs": [tensor]}))
        assert answer["outputs"][0]["data"] == [3, 4], answer
    finally:
        process.terminate()
        assert process.wait(60) == 0
    print(" ".join(map(str, command)) + ": ok")


def run_in_root(options):
    """Copies this script and the wheel into another root and runs it there."""
    inside = pathlib.Path("/tmp/nereid-wheel")
    outside = options.root / inside.relative_to("/")
    shutil.rmtree(outside, ignore_errors=True)
    outside.mkdir(parents=True)
    for path in (pathlib.Path(__file__), options.wheel):
        shutil.copy(path, outside)
    arguments = ["python3", inside / pathlib.Path(__file__).name, inside / options.wheel.name]
    if options.extras:
        arguments += ["--extras", options.extras]
    if options.models:
        shutil.copytree(options.models / options.model, outside / "models" / options.model)
        arguments += ["--models", inside / "models", "--model", options.model]
    # The program finds its libraries with /proc, which a bare root has not.
    script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    run("unshare", "--mount", "sh", "-c", script, options.root, *arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--extras", default="", help="extras of the wheel, with commas")
    parser.add_argument("--models", type=pathlib.Path, help="a folder with models")
    parser.add_argument("--model", default="double", help="the one of them that is tried")
    parser.add_argument("--port", type=int, default=18080)
    parser.add_argument("--root", type=pathlib.Path, help="the root of another system")
    options = parser.parse_args()
    if options.root is not None:
        run_in_root(options)
        return 0

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run(sys.executable, "-m", "venv", folder / "venv")
        python = folder / "venv/bin/python"
        extras = f"[{options.extras}]" if options.extras else ""
        run(python, "-m", "pip", "install", "--quiet", f"{options.wheel.resolve()}{extras}")
        write_models(folder / "models", options.models, options.model)
        program = folder / "venv/bin/nereid"
        version = run(program, "--version", stdout=subprocess.PIPE).stdout
        assert version.startswith("nereid "), version
        check_program([program, "serve"], folder / "models", options.port)
        check_program([folder / "venv/bin/tritonserver"], folder / "models", options.port)
        more = [options.model] if options.models else []
        environment = {**os.environ, "PYTHONWARNINGS": "error"}
        run(python, "-c", IN_PROCESS, folder / "models", *more, env=environment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
