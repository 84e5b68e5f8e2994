#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the classes of src/ with their sizes, the largest first.

    tools/class_sizes.py [--check] [--top N] [ROOT]

For each class or struct with a method: the number of methods that its headers declare, and the .cc
files that implement them. Constructors, destructors and operators do not count; overloads count
each. A nested class is a class of its own. --check prints only the classes that have more than 25
methods or that more than two .cc files implement, and exits with 1 if there is one.

The tool is not a compiler: it removes comments, strings, preprocessor lines and template arguments,
and reads the remaining text statement by statement. Tests, benchmarks and fakes (testing/) are
skipped.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

MAX_METHODS = 25
MAX_FILES = 2

NOISE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)" |
        "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])' | ^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)", re.DOTALL)
MACRO = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\s*\((?:[^()]|\([^()]*\))*\)")  # annotations of members
ACCESS = re.compile(r"\b(?:public|protected|private)\s*:(?!:)")
CLASS = re.compile(r"\b(?:class|struct)\s+(?:[A-Z][A-Z0-9_]{2,}\s+)?((?:\w+::)*\w+)\s*(?:final\s*)?(?::(?!:)|$)")
NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*$")
CALL = re.compile(r"((?:\w+\s*::\s*)*)(~?\w+)\s*\(")
NO_NAME = {"decltype", "noexcept", "requires", "static_assert", "sizeof", "if", "for", "while"}


@dataclass
class Size:
    methods: int = 0
    files: set[str] = field(default_factory=set)


def strip_templates(text: str) -> str:
    """Takes out what stands between angle brackets, the innermost first."""
    while True:
        shorter = re.sub(r"<[^<>;{}]*>", " ", text)
        if shorter == text:
            return text
        text = shorter


def method_of(statement: str):
    """The (qualifiers, name) of the function that a statement declares, or None."""
    head = statement.split("=")[0] if "operator" not in statement else statement
    if "operator" in head or re.match(r"\s*(?:using|typedef|friend|enum|return)\b", head):
        return None
    call = CALL.search(head)
    if call is None or call.group(2) in NO_NAME or call.group(2).startswith("~"):
        return None
    before = head[: call.start()].strip()
    if re.match(r"\s*\*", head[call.end() :]):  # a pointer to a function
        return None
    return [part for part in re.split(r"\s*::\s*", call.group(1)) if part], call.group(2), before


class Reader:
    """Reads one file: calls on_method(scope, name) at each function of a class, and
    on_definition(scope, qualifiers) at each definition of a function of a class outside of it."""

    def __init__(self, text: str, on_method, on_definition):
        text = NOISE.sub(" ", text)
        text = MACRO.sub(" ", ATTRIBUTE.sub(" ", text))
        self.text = strip_templates(re.sub(r"\boperator\s*[<>=!+\-*/&|]+", "operator_", text))
        self.on_method = on_method
        self.on_definition = on_definition

    def read(self):
        scopes = []  # (kind, names): kind is "namespace", "class" or "other"
        statement = ""
        for char in self.text:
            if char == "{":
                scopes.append(self.open(scopes, statement))
                statement = ""
            elif char == "}":
                if scopes:
                    scopes.pop()
                statement = ""
            elif char == ";":
                self.end(scopes, statement, is_definition=False)
                statement = ""
            else:
                statement += char

    def open(self, scopes, statement):
        """The scope that a brace after `statement` opens."""
        statement = ACCESS.sub(" ", statement)
        if any(kind == "other" for kind, _ in scopes):
            return "other", []
        namespace = NAMESPACE.search(statement)
        if namespace:
            return "namespace", [part for part in namespace.group(1).split("::") if part]
        named = CLASS.search(statement)
        if named and "(" not in statement[: named.start()] and "enum" not in statement.split():
            return "class", named.group(1).split("::")
        self.end(scopes, statement, is_definition=True)
        return "other", []

    def end(self, scopes, statement, is_definition):
        if any(kind == "other" for kind, _ in scopes):
            return
        found = method_of(ACCESS.sub(" ", statement))
        if found is None:
            return
        qualifiers, name, before = found
        path = [part for _, names in scopes for part in names]
        if scopes and scopes[-1][0] == "class":
            is_constructor = name == path[-1]
            if not is_constructor and before and not qualifiers:
                self.on_method(tuple(path), name)
        elif is_definition and qualifiers:
            self.on_definition(tuple(path), tuple(qualifiers))


def sources(root: Path, suffix: str):
    for path in sorted((root / "src").rglob(f"*{suffix}")):
        if "testing" in path.parts or re.search(r"_(?:test|bench|fuzzer)\.\w+$", path.name):
            continue
        yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def measure(root: Path) -> dict[tuple, Size]:
    """The sizes by qualified name: ("nereid", "repository", "ModelTable")."""
    sizes: dict[tuple, Size] = {}

    def count(scope, _name):
        sizes.setdefault(scope, Size()).methods += 1

    def implement(shown):
        def note(scope, qualifiers):
            # From the longest qualified name outward: a definition may stand in an outer namespace.
            for length in range(len(scope), -1, -1):
                known = sizes.get(scope[:length] + qualifiers)
                if known is not None:
                    known.files.add(shown)
                    return

        return note

    for _, text in sources(root, ".h"):
        Reader(text, count, lambda *_: None).read()
    for shown, text in sources(root, ".cc"):
        Reader(text, lambda *_: None, implement(shown)).read()
    return sizes


def show(name: tuple, size: Size) -> str:
    files = ", ".join(path.removeprefix("src/") for path in sorted(size.files)) or "headers only"
    return f"{size.methods:4}  {len(size.files)}  {'::'.join(name)}  ({files})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--check", action="store_true", help="list only the offenders; exit with 1 if there is one")
    parser.add_argument("--top", type=int, help="list at most this number of classes")
    arguments = parser.parse_args()
    sizes = measure(arguments.root)
    ordered = sorted(sizes.items(), key=lambda item: (-item[1].methods, item[0]))
    offenders = [
        item for item in ordered if item[1].methods > MAX_METHODS or len(item[1].files) > MAX_FILES
    ]
    shown = offenders if arguments.check else ordered
    if shown:
        print("methods, .cc files, class")
    for name, size in shown[: arguments.top]:
        print(show(name, size))
    print(
        f"{len(sizes)} classes, {len(offenders)} with more than {MAX_METHODS} methods or in more "
        f"than {MAX_FILES} .cc files"
    )
    return 1 if arguments.check and offenders else 0


if __name__ == "__main__":
    sys.exit(main())
