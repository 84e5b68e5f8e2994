#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every field of the model configuration has tests.

    tools/check_config_fields.py [--protoc PROTOC] [--root DIR]

The fields are those of proto/model_config.proto, as protoc describes them. Each field must have a
row in src/config/field_table_test.cc, which tests that the field is read, kept and shown, and an
entry in src/config/testdata/field_tests.toml, which names the tests of its effect. These tests must
exist and name the field. Prints a line for each error and exits with 1 if there is one.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

TABLE = "src/config/field_table_test.cc"
LIST = "src/config/testdata/field_tests.toml"
GOLDENS = "src/config/testdata/rules"
PROTO = "proto/model_config.proto"


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def values(data, number):
    """Returns the values of a field in protobuf's wire format: bytes or numbers."""
    found, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif kind == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = data[at:at + size], at + size
        if key >> 3 == number:
            found.append(value)
    return found


# The numbers of google/protobuf/descriptor.proto.
FILE, FILE_MESSAGE, MESSAGE_NAME, MESSAGE_FIELD, NESTED, MESSAGE_OPTIONS = 1, 4, 1, 2, 3, 7
FIELD_NAME, MAP_ENTRY = 1, 7


def fields_of(message, prefix):
    options = values(message, MESSAGE_OPTIONS)
    if options and values(options[0], MAP_ENTRY):
        return
    name = prefix + values(message, MESSAGE_NAME)[0].decode()
    for field in values(message, MESSAGE_FIELD):
        yield f"{name}.{values(field, FIELD_NAME)[0].decode()}"
    for nested in values(message, NESTED):
        yield from fields_of(nested, name + ".")


def config_fields(root, protoc):
    described = subprocess.run(
        [protoc, f"--proto_path={root / 'proto'}", "--descriptor_set_out=/dev/stdout", root / PROTO],
        check=True, capture_output=True).stdout
    file = values(described, FILE)[0]
    return [field for message in values(file, FILE_MESSAGE) for field in fields_of(message, "")]


def test_body(root, reference):
    """Returns the text of the test (of the files of a golden), or None if it does not exist."""
    if reference.startswith("golden:"):
        files = sorted((root / GOLDENS / reference.removeprefix("golden:")).glob("*.pbtxt"))
        return "\n".join(file.read_text() for file in files) if files else None
    path, _, name = reference.partition("::")
    if not name or not (root / path).is_file():
        return None
    text = (root / path).read_text()
    if path.endswith(".py"):
        pattern = rf"^def {re.escape(name)}\(.*?(?=^\S|\Z)"
    else:
        suite, _, case = name.partition(".")
        pattern = rf"^TEST(?:_F|_P)?\({re.escape(suite)}, {re.escape(case)}\) \{{.*?^\}}"
    found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    return found[0] if found else None


def problems_of(entry, root):
    """Returns the errors of one entry of the list."""
    names = entry.get("names", [])
    if ("tests" in entry) == ("shown_only" in entry):
        yield f"{names}: needs either tests or shown_only"
    for reference in entry.get("tests", []):
        body = test_body(root, reference)
        if body is None:
            yield f"{names[0]}: there is no test {reference}"
            continue
        mention = entry.get("mention")
        for word in [mention] if mention else [name.rsplit(".", 1)[1] for name in names]:
            if word not in body:
                yield f"{names[0]}: {reference} does not mention {word}"


def check(root, protoc):
    fields = config_fields(root, protoc)
    rows = set(re.findall(r'\{"([A-Za-z.]+\.[a-z0-9_]+)",', (root / TABLE).read_text()))
    with open(root / LIST, "rb") as file:
        entries = tomllib.load(file)["fields"]
    listed = [name for entry in entries for name in entry.get("names", [])]
    problems = [f"{field}: no row in {TABLE}" for field in fields if field not in rows]
    problems += [f"{field}: not in {LIST}" for field in fields if field not in listed]
    problems += [f"{name}: is no field, but stands in {LIST}"
                 for name in listed if name not in fields]
    problems += [f"{name}: stands in {LIST} more than once"
                 for name in sorted(set(listed)) if listed.count(name) > 1]
    for entry in entries:
        problems += problems_of(entry, root)
    return fields, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--protoc", default="protoc")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    arguments = parser.parse_args()
    fields, problems = check(arguments.root, arguments.protoc)
    for problem in problems:
        print(problem)
    print(f"{len(fields)} fields, {len(problems)} problems")
    return 1 if problems or not fields else 0


if __name__ == "__main__":
    sys.exit(main())
