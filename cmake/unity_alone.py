#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints those of the given sources that cannot be compiled together with the sources before them,
because both declare the same name in an unnamed namespace or as a macro. Reads the text only: a name
that it takes for a declaration costs a little time, and one that it misses is an error of the
compiler.

usage: unity_alone.py SOURCE...
"""

import re
import sys

UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.S | re.M)
DECLARED = (
    re.compile(r"(?:template <.*> )?(?:class|struct|enum(?: class)?|union) (\w+)"),
    re.compile(r"using (\w+) ="),
    re.compile(r"namespace (\w+) ="),
    # A variable or a function: the last name before its value, its parameters or its body.
    re.compile(r"[\w:<>,&*\s]*?[\s&*>](\w+)(?:\(|\[| =|\{|;)"),
)
MACRO = re.compile(r"^#define (\w+)", re.M)


def names_in(text):
    names = set(MACRO.findall(text))
    for body in UNNAMED.findall(text):
        for line in body.splitlines():
            if not line or line[0] in " /}#":
                continue
            for pattern in DECLARED:
                if found := pattern.match(line):
                    names.add(found[1])
                    break
    return names - {"TEST", "TEST_F", "TEST_P"}


def main():
    taken = set()
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as source:
            names = names_in(source.read())
        if names & taken:
            print(path)
        else:
            taken |= names


if __name__ == "__main__":
    main()
