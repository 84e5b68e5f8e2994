# SPDX-License-Identifier: Apache-2.0
"""The request to magika: what kind of file is this? The files are sources of this repository."""

from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
HEAD = 1024  # number of values from the head of a file
TAIL = 1024  # number of values from its tail
BLOCK = 4096  # bytes at each end that are searched for them
PADDING = 256  # the value for a gap, which no byte has

# Files of this repository, and the types that must be found.
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
    """Returns the model's input for a file: white space at the ends is skipped, gaps are filled."""
    head = content[:BLOCK].lstrip()[:HEAD]
    tail = content[-BLOCK:].rstrip()[-TAIL:]
    values = np.full(HEAD + TAIL, PADDING, dtype=np.int32)
    values[: len(head)] = np.frombuffer(head, dtype=np.uint8)
    if tail:
        values[-len(tail) :] = np.frombuffer(tail, dtype=np.uint8)
    return values


def file_types(run, paths: list[Path], labels: list[str]) -> list[tuple[str, float]]:
    """Returns the most probable type of each file and its probability, with one request for all
    files."""
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
