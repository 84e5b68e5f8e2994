# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/user/python.md, in their order, and those of examples/python."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

from conftest import ROOT, write_identity

BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def start(script, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, ROOT / "examples/python" / script, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_page(tmp_path, monkeypatch, capsys):
    write_identity(tmp_path / "models", "echo", "FP32")
    monkeypatch.chdir(tmp_path)
    namespace = {}
    blocks = BLOCK.findall((ROOT / "docs/user/python.md").read_text())
    assert len(blocks) == 4
    for block in blocks:
        exec(block, namespace)
    printed = capsys.readouterr().out
    assert printed.startswith("[1. 2. 3.]\n") and printed.endswith("[[2. 2. 2.]]\n")


def test_embed(tmp_path):
    write_identity(tmp_path, "echo", "FP32")
    process = start("embed.py", tmp_path, "echo")
    assert process.communicate(timeout=60)[0] == "OUT float32 (1,)\n"


def test_serve_function():
    process = start("serve_function.py", "--port", 0)
    try:
        port = int(process.stdout.readline().split()[-1])
        values = {"name": "values", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}
        answer = urllib.request.urlopen(
            f"http://127.0.0.1:{port}/v2/models/statistics/infer",
            data=json.dumps({"inputs": [values]}).encode(),
        )
        outputs = {entry["name"]: entry["data"] for entry in json.load(answer)["outputs"]}
        assert outputs["mean"] == [2.5]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        process.stdout.close()
