#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the lists of the C API's functions with one another.

The headers of the C API, include/nereid/in_process.h and include/nereid/backend/lent_output.h mark what the server provides with
*_DECLSPEC and what a plug-in implements with *_ISPEC. exports.txt and tritonserver.map must list exactly the former; --library must export
exactly the former, --plugin exactly the latter.
"""

import argparse
import pathlib
import re
import subprocess
import sys

DECLARATION = re.compile(
    r"^TRITON[A-Z]+_(DECLSPEC|ISPEC)\s[^;(]*?\b((?:TRITON[A-Z]+|NEREID)_\w+)\s*\(", re.MULTILINE
)


def declared(include_dir):
    """The declared functions as (provided by the server, implemented by plug-ins)."""
    found = {"DECLSPEC": [], "ISPEC": []}
    headers = sorted((include_dir / "triton/core").glob("triton*.h"))
    own = [include_dir / "nereid/in_process.h", include_dir / "nereid/backend/lent_output.h"]
    for header in [*headers, *own]:
        for side, name in DECLARATION.findall(header.read_text()):
            found[side].append(name)
    return found["DECLSPEC"], found["ISPEC"]


def exported(library):
    """The names of the dynamic symbols that a shared library defines."""
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [line.split()[-1].split("@")[0] for line in lines]


def differences(what, names, expected):
    """One line for each name that is missing, that is too many, or that stands there twice."""
    lines = [f"{what}: {name} is missing" for name in sorted(set(expected) - set(names))]
    lines += [f"{what}: {name} does not belong" for name in sorted(set(names) - set(expected))]
    twice = sorted(name for name in set(names) if names.count(name) > 1)
    lines += [f"{what}: {name} is there twice" for name in twice]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the project's root")
    parser.add_argument("--library", help="the engine library, libtritonserver.so")
    parser.add_argument("--plugin", help="the plug-in that implements every entry point")
    options = parser.parse_args()

    provided, implemented = declared(options.source / "include")
    abi = options.source / "src/abi"
    listed = (abi / "exports.txt").read_text().splitlines()
    mapped = re.findall(r"^\s+((?:TRITON|NEREID_)\w+);$", (abi / "tritonserver.map").read_text(), re.MULTILINE)

    problems = differences("the headers", provided + implemented, set(provided + implemented))
    problems += differences("src/abi/exports.txt", listed, provided)
    if listed != sorted(listed):
        problems.append("src/abi/exports.txt: the lines are not sorted")
    problems += differences("src/abi/tritonserver.map", mapped, provided)
    if options.library:
        problems += differences(options.library, exported(options.library), provided)
    if options.plugin:
        problems += differences(options.plugin, exported(options.plugin), implemented)

    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(provided)} functions of the server, {len(implemented)} of plug-ins")
    return 1 if problems or not provided or not implemented else 0


if __name__ == "__main__":
    sys.exit(main())
