# SPDX-License-Identifier: Apache-2.0
"""The question to magika: what kind of file is this? Asked of this repository's own sources."""

from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
HEAD = 1024  # values taken from the head of a file
TAIL = 1024  # and from its tail
BLOCK = 4096  # how far from either end they are looked for
PADDING = 256  # no byte has this value: "nothing here"

# What to ask about, and what must be found. All of them are in the repository.
EXPECTED = {
    "examples/file_types.py": "python",
    "src/tensor/shape.cc": "cpp",
    "src/CMakeLists.txt": "cmake",
    "tools/install/steps.sh": "shell",
    "README.md": "markdown",
    "CMakePresets.json": "json",
    "examples/magika/config.pbtxt": "textproto",
    "LICENSE": "txt",
}


def features(content: bytes) -> np.ndarray:
    """What the model sees of a file: white space at the ends is skipped, gaps are filled."""
    head = content[:BLOCK].lstrip()[:HEAD]
    tail = content[-BLOCK:].rstrip()[-TAIL:]
    values = np.full(HEAD + TAIL, PADDING, dtype=np.int32)
    values[: len(head)] = np.frombuffer(head, dtype=np.uint8)
    if tail:
        values[-len(tail) :] = np.frombuffer(tail, dtype=np.uint8)
    return values


def file_types(run, paths: list[Path], labels: list[str]) -> list[tuple[str, float]]:
    """The likeliest type of each file and its probability: one request for all the files."""
    batch = np.stack([features(path.read_bytes()) for path in paths])
    scores = run("magika", {"bytes": batch}, ["target_label"])["target_label"]
    best = scores.argmax(axis=1)
    return [(labels[i], float(row[i])) for i, row in zip(best, scores)]


def ask(run, repository: Path) -> dict[str, str]:
    """Prints the type of each file; returns them."""
    labels = (repository / "magika" / "labels.txt").read_text(encoding="utf-8").splitlines()
    names = list(EXPECTED)
    answers = file_types(run, [ROOT / name for name in names], labels)
    for name, (label, score) in zip(names, answers):
        print(f"  {name:<30} {label:<10} {score:.3f}")
    return {name: label for name, (label, _) in zip(names, answers)}
