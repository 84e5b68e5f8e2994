# SPDX-License-Identifier: Apache-2.0
"""Tests that docs/user/differences.md names each entry of the tests' lists of differences, and no
other entry."""

import re
import runpy
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/user/differences.md"
HEAD = "| what | Triton 2.51 | Nereid | why |"

# Entries for differences of the test environment, not of the servers.
SURROUNDINGS = {
    "platforms-that-triton-has-no-backend-for",  # the Triton of the tests comes without PyTorch
    "python-runtimes-have-their-library",  # there is no such library in the test's repository
}


def entries():
    """Returns the names of all entries with their files."""
    found = {}
    for file in ["conformance/intended_differences", "peer/derivation_differences",
                 "peer/rule_differences"]:
        path = ROOT / "tests" / f"{file}.toml"
        for entry in tomllib.loads(path.read_text()).get("difference", []):
            found[entry["id"]] = path
    for file, table in [("scheduling_differences", "DIFFERENCES"),
                        ("sequence_differences", "SEQUENCE_DIFFERENCES")]:
        path = ROOT / "tests/peer" / f"{file}.py"
        found.update(dict.fromkeys(runpy.run_path(str(path))[table], path))
    return found


def rows(text):
    """Returns the rows of the tables without the heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [line for line in lines if line != HEAD and not line.startswith("|---")]


def named(text):
    """Returns the entries that the comments of a line or a page name."""
    return [name for comment in re.findall(r"<!-- (.*?) -->", text) for name in comment.split()]


class DifferencesPage(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / PAGE).read_text()

    def test_every_entry_has_a_line(self):
        there = set(named(self.text))
        missing = [f"{name} ({path.relative_to(ROOT)})" for name, path in entries().items()
                   if name not in there | SURROUNDINGS]
        self.assertEqual(missing, [], f"add a line to {PAGE} that names them in a comment")

    def test_every_line_names_entries_that_are_there(self):
        known = entries().keys() - SURROUNDINGS
        stale = sorted(set(named(self.text)) - known)
        self.assertEqual(stale, [], f"no list of differences has these entries of {PAGE}")

    def test_every_line_has_four_cells(self):
        for row in rows(self.text):
            cells = re.split(r"(?<!\\)\|", row)
            self.assertEqual((len(cells), cells[0], cells[-1]), (6, "", ""), row)
            for cell in cells[1:-1]:
                self.assertNotEqual(re.sub(r"<!--.*?-->", "", cell).strip(), "", row)

    def test_surroundings_are_entries(self):
        self.assertLessEqual(SURROUNDINGS, entries().keys())


if __name__ == "__main__":
    unittest.main()
