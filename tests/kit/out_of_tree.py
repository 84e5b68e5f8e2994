#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""out_of_tree.py CMAKE COMPILER SOURCE BUILD: installs the backend kit, builds examples/backend
against it outside of the tree, and asks the backend something. Compares it with
docs/developer/writing_a_backend.md.
"""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def check_document(source: Path, example: Path):
    """Every block of code in the document is a piece of the file that it names before it."""
    text = (source / "docs" / "developer" / "writing_a_backend.md").read_text()
    blocks = re.findall(r"`(\S+)`:\n\n```(?:cpp|cmake|proto)\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 5, "the document has lost its code"
    for name, block in blocks:
        assert block in (example / name).read_text(), f"not in {name}, but in the document:\n{block}"


def build(cmake, compiler, source: Path, built: Path, work: Path) -> Path:
    run(cmake, "--install", built, "--component", "kit", "--prefix", work / "kit")
    shutil.copytree(source / "examples" / "backend", work / "project")
    run(cmake, "-G", "Ninja", "-S", work / "project", "-B", work / "out",
        f"-DCMAKE_PREFIX_PATH={work / 'kit'}",
        f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
    run(cmake, "--build", work / "out")
    library = work / "out" / "scale" / "libtriton_scale.so"
    seen = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    names = {line.split()[-1] for line in seen.stdout.splitlines()}
    assert names and all(n.startswith("TRITONBACKEND_") for n in names), names
    return work / "out"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, values):
    body = {"inputs": [{"name": "INPUT", "datatype": "FP32", "shape": [1, len(values)],
                        "data": values}]}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v2/models/tripled/infer",
                                     json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["outputs"][0]


def serve_and_ask(built: Path, backends: Path, work: Path):
    port = free_port()
    log = open(work / "server.log", "wb")
    server = subprocess.Popen(
        [built / "bin" / "nereid", "serve", f"--model-repository={work / 'project' / 'models'}",
         f"--backend-directory={backends}", f"--http-port={port}", "--allow-grpc=false",
         "--allow-metrics=false"], stdout=log, stderr=log)
    try:
        end = time.monotonic() + 60
        while True:
            try:
                answer = ask(port, [1, -2.5, 0])
                break
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > end or server.poll() is not None:
                    sys.exit((work / "server.log").read_text())
                time.sleep(0.05)  # between two questions
        assert answer == {"name": "OUTPUT", "datatype": "FP32", "shape": [1, 3],
                          "data": [3.0, -7.5, 0.0]}, answer
        assert ask(port, [])["shape"] == [1, 0]
    finally:
        server.terminate()
        assert server.wait(30) == 0, (work / "server.log").read_text()


def main():
    cmake, compiler, source, built = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    check_document(source, source / "examples" / "backend")
    with tempfile.TemporaryDirectory(prefix="nereid-kit-") as folder:
        work = Path(folder)
        serve_and_ask(built, build(cmake, compiler, source, built, work), work)


main()
