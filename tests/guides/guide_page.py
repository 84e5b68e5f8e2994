# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page as its reader would, in an empty folder, and compares what they print.

What a block of a page is, is told by the paragraph before it:

- a paragraph that ends with a file name in backquotes and a colon (Write `models/a/config.pbtxt`:) says
  that the block is the content of that file;
- after a paragraph that ends with "prints:" the block is the output of the commands before it;
- all other blocks without a language are commands of one shell. Blocks with a language are not run,
  nor is a block behind a line <!-- not run -->.

In an output a line "…" stands for any number of lines, "…" in a line for any text. Numbers may differ a
little, and a number before "ms" at will.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"`([\w/-]*[./][\w./-]*)`:$")
NUMBER = re.compile(r"-?\d+\.\d+(e[+-]?\d+)?")


class Step(NamedTuple):
    kind: str  # "file", "commands" or "output"
    text: str
    path: str = ""  # of a file


def steps_of(page: Path) -> list[Step]:
    steps, end = [], 0
    text = page.read_text("utf-8")
    for match in BLOCK.finditer(text):
        before = text[end : match.start()].strip().splitlines()
        last = before[-1] if before else ""
        end = match.end()
        if last == "<!-- not run -->":
            continue
        if named := FILE.search(last):
            steps.append(Step("file", match.group(2), named.group(1)))
        elif last.endswith("prints:"):
            steps.append(Step("output", match.group(2)))
        elif not match.group(1):
            steps.append(Step("commands", match.group(2)))
    return steps


def alike(expected: str, got: str) -> bool:
    """Whether a line of output is the one on the page."""
    if expected.strip() == got.strip():
        return True
    wanted, found = (re.split(r"\s+", line.strip()) for line in (expected, got))
    if "…" in expected and not NUMBER.search(expected):
        pattern = ".*".join(re.escape(part) for part in " ".join(wanted).split("…"))
        return re.fullmatch(pattern, " ".join(found)) is not None
    if len(wanted) != len(found):
        return False
    for index, (one, other) in enumerate(zip(wanted, found)):
        if wanted[index + 1 : index + 2] == ["ms"] and NUMBER.fullmatch(other):
            continue
        if NUMBER.sub("#", one) != NUMBER.sub("#", other):
            return False
        numbers = [[float(n.group()) for n in NUMBER.finditer(word)] for word in (one, other)]
        if any(abs(a - b) > 0.02 + 0.02 * abs(a) for a, b in zip(*numbers)):
            return False
    return True


def matches(expected: list[str], got: list[str]) -> bool:
    if not expected:
        return not got
    if expected[0].strip() == "…":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and alike(expected[0], got[0]) and matches(expected[1:], got[1:])


class Reader:
    """Someone who follows a page. `program` is the program nereid; `places` are texts to replace."""

    def __init__(self, folder: Path, program: Path, ports: list[int], places: dict[str, str],
                 flags: list[str]):
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        self.ports = ports
        self.places = places
        tools = folder / "tools"
        tools.mkdir()
        http, grpc, metrics = ports
        serve = " ".join([f"--http-port={http}", f"--grpc-port={grpc}", f"--metrics-port={metrics}",
                          *flags])
        self.write(tools / "nereid", f'#!/bin/bash\ncase $1 in\n  serve) exec {program} "$@" {serve} ;;\n'
                   f'  *) exec {program} "$@" ;;\nesac\n')
        self.write(tools / "python3", f'#!/bin/bash\nexec {sys.executable} "$@"\n')
        self.write(tools / "apt", "#!/bin/bash\n")
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "no_proxy": "*",
                            "NEREID_URL": f"localhost:{http}", "LC_ALL": "C.UTF-8"}

    @staticmethod
    def write(path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        path.chmod(0o755)

    def placed(self, text: str) -> str:
        for port, assigned in zip((8000, 8001, 8002), self.ports):
            text = text.replace(f"localhost:{port}", f"localhost:{assigned}")
        for place, other in self.places.items():
            text = text.replace(place, other)
        return text

    def follow(self, steps: list[Step]) -> list[str]:
        """Runs the steps and returns what is not as the page says."""
        script, outputs = ["set -eu"], []
        for number, step in enumerate(steps):
            if step.kind == "file":
                content = self.folder / f"content{number}"
                content.write_text(self.placed(step.text), "utf-8")
                script.append(f"mkdir -p $(dirname {step.path}); cp {content} {step.path}")
            elif step.kind == "commands":
                output = self.folder / f"output{number}"
                script.append(f"{{\n{self.placed(step.text)}\n}} >{output} 2>&1")
            else:
                outputs.append((self.folder / f"output{number - 1}", step.text))
        script.append("exit 0")
        shell = subprocess.Popen(["bash", "-c", "\n".join(script)], cwd=self.work,
                                 env=self.environment, start_new_session=True)
        try:
            status = shell.wait(timeout=100)
            # Before the server ends, which may print something.
            printed = {file: file.read_text("utf-8")
                       for file in sorted(self.folder.glob("output*"))}
        finally:
            # The server that the page has started in the background.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGTERM)
        if status != 0:
            return [f"the commands failed with {status}: {list(printed.values())}"]
        wrong = []
        for file, expected in outputs:
            got = printed[file]
            if not matches(self.placed(expected).splitlines(), got.splitlines()):
                wrong.append(f"the page says\n{expected}\nand the commands print\n{got}")
        return wrong
