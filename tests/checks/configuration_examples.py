#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the configurations and the output in docs/user/model_configuration.md.

    tests/checks/configuration_examples.py --server PROGRAM

Each block that is marked pbtxt becomes a model of one repository, in which `nereid check` must find
nothing. The command of a console block runs on the model of the text block before it.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "user" / "model_configuration.md"
BEGINNING = ('backend: "mine"\n', "max_batch_size: 16\n",
             'input { name: "x" data_type: TYPE_FP32 dims: [ 4 ] }\n',
             'output { name: "y" data_type: TYPE_FP32 dims: [ 4 ] }\n')
FILES = {"labels.txt": "model", "weights.bin": "version", "libops.so": "version"}


def blocks(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)


def whole(block):
    """Returns a block, completed with the lines that the page shows only at its beginning."""
    backend, batch, inputs, outputs = BEGINNING
    if not re.search(r"^(backend|platform):", block, re.M):
        block = backend + block
    if "max_batch_size" not in block:
        block = batch + block
    if not re.search(r"^input\b", block, re.M):
        block += inputs + outputs
    return block


def write(root, number, block):
    named = re.search(r'^(?:# config.pbtxt of the model |name: )"(\w+)"', block, re.M)
    folder = root / (named.group(1) if named else f"example_{number}")
    (folder / "1").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(whole(block))
    # The beginnings of a model's files: an ONNX model (ir_version 8), a TensorRT plan.
    for file, content in (("model.onnx", b"\x08\x08"), ("model.plan", b"ftrt" + bytes(60))):
        (folder / "1" / file).write_bytes(content)
    for file, place in FILES.items():
        if f'"{file}"' in block:
            (folder / ("1" if place == "version" else "") / file).write_text("a\n")


def run(program, words, folder):
    return subprocess.run([str(program), *words], cwd=folder, capture_output=True, text=True,
                          check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", type=Path, required=True)
    program = parser.parse_args().server.resolve()
    text = DOCUMENT.read_text()
    examples = blocks(text, "pbtxt")
    assert len(examples) >= 15, "the document has lost its examples"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for number, block in enumerate(examples):
            write(folder / "models", number, block)
        checked = run(program, ["check", "models", "--backend-directory=", "--warnings-as-errors"],
                      folder)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert checked.stdout.endswith(f" in {len(examples)} models\n"), checked.stdout
        for number in range(len(examples)):
            name = sorted(p.name for p in (folder / "models").iterdir())[number]
            explained = run(program, ["explain", f"models/{name}"], folder)
            assert explained.returncode == 0, explained.stderr
        wrong = blocks(text, "text")[0]
        (shown,) = blocks(text, "console")
        (folder / "models" / "typo" / "1").mkdir(parents=True)
        (folder / "models" / "typo" / "1" / "model.onnx").write_bytes(b"\x08\x08")
        (folder / "models" / "typo" / "config.pbtxt").write_text(wrong)
        command, _, output = shown.partition("\n")
        words = command.removeprefix("$ nereid ").split()
        printed = run(program, words, folder)
        assert printed.stdout == output, f"the document shows\n{output}\nand it is\n{printed.stdout}"
    print(f"{len(examples)} examples, no problem")
    return 0


if __name__ == "__main__":
    sys.exit(main())
