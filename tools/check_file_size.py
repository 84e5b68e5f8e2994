#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no source file has more than 600 lines.

    tools/check_file_size.py [ROOT]

The limit applies to src/, include/nereid/, the plug-ins and the Python package. It does not apply to the headers of the
C API, because a plug-in expects each of these interfaces in one file.
"""

import sys
from pathlib import Path

LIMIT = 600  # lines
FOLDERS = ["src", "include/nereid", "backends", "caches", "repoagents", "python"]
SUFFIXES = {".h", ".cc", ".c", ".cu", ".py"}


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    files, offences = 0, 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            files += 1
            with path.open("rb") as source:
                lines = sum(1 for _ in source)
            if lines > LIMIT:
                offences += 1
                print(f"{path.relative_to(root)}: {lines} lines, more than {LIMIT}: split it")
    print(f"{files} source files, {offences} with more than {LIMIT} lines")
    return 1 if offences or not files else 0


if __name__ == "__main__":
    sys.exit(main())
