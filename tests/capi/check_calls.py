#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a test calls every function of the C API, and that a test's plug-in has every entry
point that the server may call.

A call is the function's name before a parenthesis, outside of comments, in a test program of
tests/capi, a plug-in of tests/plugins (which such a program or a conformance test loads) or a
*_test.cc. The skeleton that defines every entry point and does nothing does not count.
"""

import argparse
import pathlib
import re
import sys

from check_exports import declared

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
NOT_A_TEST = {"plugin_skeleton.c", "headers_test.c", "headers_cxx.cc"}


def code_of(path):
    """The file's text without comments and strings."""
    return STRING.sub('""', COMMENT.sub(" ", path.read_text()))


def names_before_parenthesis(paths):
    names = set()
    for path in paths:
        names.update(re.findall(r"\b((?:TRITON|NEREID_)\w+)\s*\(", code_of(path)))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the project's root")
    source = parser.parse_args().source

    programs = [p for p in (source / "tests/capi").glob("*.c*") if p.name not in NOT_A_TEST]
    plugins = [*(source / "tests/plugins").glob("*.cc"), source / "caches/cache_plugin.h"]
    units = [p for folder in ("src", "backends", "caches", "repoagents")
             for p in (source / folder).rglob("*_test.cc")]
    provided, implemented = declared(source / "include")
    called = names_before_parenthesis(programs + plugins + units)
    offered = names_before_parenthesis(plugins)

    problems = [f"no test calls {name}" for name in sorted(set(provided) - called)]
    problems += [f"no test's plug-in has {name}" for name in sorted(set(implemented) - offered)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(provided)} functions, {len(implemented)} entry points, {len(problems)} problems")
    return 1 if problems or not provided or not implemented else 0


if __name__ == "__main__":
    sys.exit(main())
