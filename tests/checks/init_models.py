#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the configuration that `nereid init` writes for a model agrees with the backend's
completion, passes `nereid check`, and can be served.

    tests/checks/init_models.py --server PROGRAM [--examples REPOSITORY]

The models are those of tests/models, those of tests/data/openvino if that backend is built, and those
of a repository of examples if it is given.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "models"))
sys.path.insert(0, str(ROOT / "tests" / "conformance"))

from server_process import ServerProcess  # noqa: E402

# The fields in which init and the backend must agree.
COMPARED = ("backend", "platform", "max_batch_size", "input", "output", "dynamic_batching")
# Models that need another file and a configuration that names it.
NEED_MORE = {"triple"}
# Models whose files declare a batch dimension that their outputs do not have. Other tests need
# them.
BROKEN_PROMISES = {"describe_fp32", "describe_int32", "drop_rows", "promise", "shorten"}
# Models whose files declare no shapes: init leaves them to the user, and the backend takes [ 1 ], as
# Triton does.
WITHOUT_SHAPES = {"any_rank"}
UNKNOWN_DIMS = "dims: [ -1 ]  # not in the file; correct it"
# Data that is not the number 1, which a model may divide by.
VALUES = {"BYTES": "", "BOOL": False}


def run(program, *words):
    return subprocess.run([str(program), *map(str, words)], capture_output=True, text=True,
                          check=False)


def explained(program, directory, *flags):
    ran = run(program, "explain", "--format=config-json", directory, *flags)
    assert ran.returncode == 0, f"{directory.name}: {ran.stderr}"
    config = json.loads(ran.stdout)
    return {key: config.get(key) for key in COMPARED}


def initialize(program, source, target, version="1", model="model.onnx"):
    """Writes the model's files once with the configuration of init and once without one. Returns
    False for a model that the backend cannot load without further files. `version` is the folder of
    the files in `source`."""
    for root in (target / "written", target / "bare"):
        (root / source.name / "1").mkdir(parents=True)
        for file in (source / version).iterdir():
            shutil.copy(file, root / source.name / "1")
    written = target / "written" / source.name / "config.pbtxt"
    ran = run(program, "init", source / version / model, "-o", written)
    assert ran.returncode == 0, f"{source.name}: {ran.stderr}"
    if source.name in WITHOUT_SHAPES:
        text = written.read_text()
        assert text.count(UNKNOWN_DIMS) == 2, text
        written.write_text(text.replace(UNKNOWN_DIMS, "dims: [ 1 ]"))
    if run(program, "explain", "--load", target / "bare" / source.name).returncode != 0:
        shutil.rmtree(target / "written" / source.name)
        return False
    ours = explained(program, target / "written" / source.name)
    backends = explained(program, target / "bare" / source.name, "--load")
    assert ours == backends, f"{source.name}: init says\n{ours}\nthe backend\n{backends}"
    return True


def openvino_models(program):
    """Models of tests/data/openvino that differ in what their files say, if the backend is built."""
    backends = Path(program).resolve().parents[1] / "backends"
    if not (backends / "openvino" / "libtriton_openvino.so").exists():
        return []
    names = ("controls", "fixed", "mlp", "places", "scalar", "two_inputs", "type_bytes", "unnamed")
    return [ROOT / "tests/data/openvino" / name for name in names]


def ask(address, name):
    base = f"http://{address}/v2/models/{name}"
    metadata = json.loads(urllib.request.urlopen(base).read())
    inputs = []
    for tensor in metadata["inputs"]:
        shape = [1 if dim < 0 else dim for dim in tensor["shape"]]
        count = 1
        for dim in shape:
            count *= dim
        inputs.append({"name": tensor["name"], "datatype": tensor["datatype"], "shape": shape,
                       "data": [VALUES.get(tensor["datatype"], 1)] * count})
    request = urllib.request.Request(base + "/infer", json.dumps({"inputs": inputs}).encode())
    try:
        answer = json.loads(urllib.request.urlopen(request).read())
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{name}: {error.read().decode()}") from None
    assert {o["name"] for o in answer["outputs"]} == {o["name"] for o in metadata["outputs"]}


def carried_by_json(name):
    return not name.endswith(("fp16", "bf16"))  # JSON carries neither


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--examples", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        subprocess.run([sys.executable, ROOT / "tests" / "models" / "make_models.py",
                        folder / "models"], check=True)
        sources = sorted((folder / "models").iterdir())
        examples = []
        if options.examples and options.examples.is_dir():
            examples = sorted(p for p in options.examples.iterdir()
                              if (p / "1" / "model.onnx").exists())
        served = [s for s in [*sources, *examples] if initialize(options.server, s, folder)]
        for model in openvino_models(options.server):
            assert initialize(options.server, model, folder / "openvino", ".", "model.xml"), model.name
        left_out = {s.name for s in [*sources, *examples]} - {s.name for s in served}
        assert left_out <= NEED_MORE, f"not loaded without a configuration: {left_out}"
        for written in folder.glob("**/written"):
            checked = run(options.server, "check", written, "--warnings-as-errors")
            assert checked.returncode == 0, checked.stdout
        server = ServerProcess([str(options.server), "serve"], folder / "written",
                               folder / "server.log").start()
        try:
            names = [s.name for s in served if s in sources and carried_by_json(s.name)
                 and s.name not in BROKEN_PROMISES]
            for name in names:
                ask(server.http, name)
        finally:
            server.stop()
    print(f"{len(served)} configurations written, {len(names)} models asked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
