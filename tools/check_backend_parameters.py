#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `nereid check` knows the parameters that Nereid's own backends read.

    tools/check_backend_parameters.py [--root DIR]

A warning names parameters that a backend does not read. Its tables, in src/config/rules/advice_names.cc,
must have exactly the names that the sources of these backends read: a plug-in includes no header of
src/, so the tables are compared with the sources. Prints a line for each error and exits with 1 if
there is one.
"""

import argparse
import re
import sys
from pathlib import Path

TABLES = "src/config/rules/advice_names.cc"
BACKENDS = {"kIdentityParameters": "identity", "kOnnxParameters": "onnxruntime",
            "kTorchParameters": "pytorch"}
LITERAL = re.compile(r'"([A-Za-z_][\w.]*)"')
# parameters.ReadInt("name", …), ReadFlag(parameters, "name", …), parameters.Find("name").
READS = re.compile(r'\b(?:Read(?:Int|Bool|Flag)|Find)\(\s*(?:\w+,\s*)?"([A-Za-z_][\w.]*)"')
# The beginnings of names that the backend passes on.
PREFIXES = re.compile(r"prefix : \{([^}]*)\}")
# A table of options and their values: {"name", {"value", …}}.
OPTIONS = re.compile(r'\{"([a-z_][\w.]*)",\s*\{')


def sources(root, backend):
    for path in sorted((root / "backends" / backend).glob("*.cc")):
        if not path.name.endswith("_test.cc"):
            yield path, path.read_text()


def table(text, name):
    found = re.search(rf"{name}\[\] = \{{(.*?)\}};", text, re.DOTALL)
    return set(LITERAL.findall(found.group(1))) if found else None


def errors(root):
    text = (root / TABLES).read_text()
    for name, backend in BACKENDS.items():
        known = table(text, name)
        if known is None:
            yield f"{TABLES}: there is no table {name}"
            continue
        literals, prefixes = set(), []
        for path, source in sources(root, backend):
            literals |= set(LITERAL.findall(source))
            prefixes += PREFIXES.findall(source)
            for read in sorted(set(READS.findall(source) + OPTIONS.findall(source)) - known):
                yield f"{path.relative_to(root)}: {name} in {TABLES} lacks '{read}'"
        if prefixes and prefixes != PREFIXES.findall(text):
            yield f"{TABLES}: the prefixes are not those that the backend {backend} passes on"
        for unread in sorted(known - literals):
            yield f"{TABLES}: {name} has '{unread}', which the backend {backend} does not read"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    found = list(errors(parser.parse_args().root))
    print("\n".join(found) if found else "the parameters of the backends are known")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
