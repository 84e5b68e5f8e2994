#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the requests of README.md and compares the last answer with the one in README.md.

    tests/checks/readme_examples.py --server PROGRAM --repository EXAMPLE_MODELS

The blocks with `curl localhost:8000` run in one shell, in order, against a server that is started
here. A minimal machine has no curl, so a program of the same name implements the arguments that
README.md uses.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import check  # noqa: E402

CURL = """#!{python}
import sys, urllib.request
url, data = sys.argv[1], None
if sys.argv[2:]:
    option, data = sys.argv[2:]
    assert option == "-d", option
url = "http://" + url.replace("localhost:8000", "{address}")
with urllib.request.urlopen(url, data and data.encode()) as answer:
    print(answer.read().decode())
"""


def blocks(text: str) -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", text, re.M | re.S)


def answers(commands: list[str], address: str) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        curl = Path(folder) / "curl"
        curl.write_text(CURL.format(python=sys.executable, address=address))
        curl.chmod(0o755)
        ran = subprocess.run(
            ["bash", "-euc", "\n".join(commands)],
            env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "no_proxy": "*"},
            capture_output=True, text=True, timeout=60, check=False)
    if ran.returncode != 0:
        sys.exit(f"README's commands failed ({ran.returncode}):\n{ran.stderr}")
    return [json.loads(line) for line in ran.stdout.splitlines() if line.strip()]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--repository", type=Path, required=True)
    options = parser.parse_args()
    all_blocks = blocks((ROOT / "README.md").read_text())
    commands = [block for block in all_blocks if "curl localhost:8000" in block]
    shown = [json.loads(block) for block in all_blocks if block.startswith('{"model_name"')]
    assert len(commands) == 2 and len(shown) == 1, "README.md does not have the blocks that this expects"
    with check.started(options.server, options.repository) as (http, _):
        described, inferred = answers(commands, http)
    assert described["name"] == "silero_vad" and described["inputs"], described
    got, expected = inferred["outputs"][0], shown[0]["outputs"][0]
    probability, written = got.pop("data")[0], expected.pop("data")[0]
    assert inferred == shown[0], f"README shows {shown[0]}, the server says {inferred}"
    assert abs(probability - written) <= check.TOLERANCE, f"README shows {written}, got {probability}"
    print("2 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
