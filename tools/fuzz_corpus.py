#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs and unpacks the corpora of fuzz targets, one text file for each target.

    tools/fuzz_corpus.py unpack CORPUS.txt FOLDER    writes each input as a file into FOLDER
    tools/fuzz_corpus.py pack FOLDER CORPUS.txt      writes the files of FOLDER into CORPUS.txt

A line of a corpus is the name of an input, a blank, and its bytes in base64. The lines are sorted by
name, so that a change of one input is a change of one line.
"""

import base64
import sys
from pathlib import Path


def pack(folder: Path, corpus: Path) -> int:
    lines = [
        f"{path.name} {base64.b64encode(path.read_bytes()).decode()}\n"
        for path in sorted(folder.iterdir())
    ]
    corpus.write_text("".join(lines), encoding="ascii")
    return len(lines)


def unpack(corpus: Path, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    lines = corpus.read_text(encoding="ascii").splitlines()
    for line in lines:
        name, _, content = line.partition(" ")
        if Path(name).name != name:
            sys.exit(f"{corpus}: '{name}' is not the name of a file")
        (folder / name).write_bytes(base64.b64decode(content, validate=True))
    return len(lines)


def main() -> None:
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    source, target = Path(sys.argv[2]), Path(sys.argv[3])
    count = pack(source, target) if sys.argv[1] == "pack" else unpack(source, target)
    print(f"{count} inputs in {target}")


if __name__ == "__main__":
    main()
