#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the single test cases of a CTest run.

    tools/count_tests.py TITLE RESULTS_DIR
    tools/count_tests.py --failed-unit-tests RESULTS_DIR

The first form reads RESULTS_DIR/ctest.xml and the GoogleTest reports in RESULTS_DIR/googletest, and
prints

    TITLE: N passed, N failed, N skipped

A GoogleTest program counts by its report. A test whose output ends with a line of counts, as
pytest's does ("12 passed, 1 skipped in 0.31s"), counts by that line; any other test counts as one.
A test that CTest calls failed counts at least one failure, whatever it reported before it ended.
Exits with 1 when something failed or nothing ran.

Above this line it prints the ten slowest cases of at least two seconds, with their durations. Those of
pytest are known as far as its summary names them (--durations).

Tests that failed and were run again are printed by name: those that pytest has run again, and the
unit tests with results in RESULTS_DIR/again, which replace the earlier ones.

The second form prints a regular expression for CTest's --tests-regex that selects the unit tests
that failed. It prints nothing if all passed, or if another test failed: then a second run of the
unit tests would not help.
"""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import List, NamedTuple, Optional, Tuple


class Counts(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(*(a + b for a, b in zip(self, other)))


# The word after a number in pytest's closing line, and the column it belongs to.
WORDS = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "error": "failed",
    "errors": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
}
CLOSING_LINE = re.compile(r"^[= ]*(?:\w+: )?(\d+ \w+(?:, \d+ \w+)*)(?: in [\d.]+s.*)?[= ]*$")


def googletest_counts(report: Path) -> Counts:
    total = Counts()
    for case in ET.parse(report).iter("testcase"):
        if case.get("status") == "notrun":
            continue  # a test that is disabled, or that a filter left out
        if case.find("failure") is not None:
            total += Counts(failed=1)
        elif case.get("result") == "skipped" or case.find("skipped") is not None:
            total += Counts(skipped=1)
        else:
            total += Counts(passed=1)
    return total


def printed_counts(output: str) -> Optional[Counts]:
    """Returns the last line of counts, or None if there is none."""
    for line in reversed(output.splitlines()):
        match = CLOSING_LINE.match(line.strip())
        if not match:
            continue
        columns = {"passed": 0, "failed": 0, "skipped": 0}
        pairs = [item.split() for item in match.group(1).split(", ")]
        known = [(int(number), WORDS[word]) for number, word in pairs if word in WORDS]
        if known:
            for number, column in known:
                columns[column] += number
            return Counts(**columns)
    return None


def rerun_tests(output: str) -> List[str]:
    """Returns the names of the tests that pytest has run again, from its summary."""
    return [line.removeprefix("RERUN ") for line in output.splitlines() if line.startswith("RERUN ")]


SLOW = re.compile(r"^(\d+\.\d+)s (call|setup|teardown) +(\S.*)$")
MIN_SLOW_S = 2.0
MAX_SLOW = 10


def durations(case: ET.Element, reports: Path) -> List[Tuple[float, str]]:
    """Returns the seconds and the name of each single case of a test that are known."""
    report = reports / f"{case.get('name', '')}.xml"
    if report.is_file():
        return [
            (float(unit.get("time") or 0), f"{unit.get('classname')}.{unit.get('name')}")
            for unit in ET.parse(report).iter("testcase")
        ]
    lines = (case.findtext("system-out") or "").splitlines()
    return [
        (float(found[1]), found[3] if found[2] == "call" else f"{found[3]} ({found[2]})")
        for line in lines
        if (found := SLOW.match(line.strip()))
    ]


def slowest(cases: List[ET.Element], reports: Path) -> List[str]:
    """Returns a line for each of the slowest cases, the slowest one first."""
    known = [entry for case in cases for entry in durations(case, reports)]
    slow = sorted((entry for entry in known if entry[0] >= MIN_SLOW_S), reverse=True)
    return [f"slow: {seconds:.1f} s {name}" for seconds, name in slow[:MAX_SLOW]]


def test_counts(case: ET.Element, reports: Path) -> Counts:
    name = case.get("name", "")
    state = case.get("status")  # run, fail, notrun or disabled
    if state == "disabled":
        return Counts()
    if case.find("skipped") is not None:
        # A test that could not be started is a failure, because its program is missing.
        if state == "notrun" and "SKIP" not in (case.find("skipped").get("message") or ""):
            return Counts(failed=1)
        return Counts(skipped=1)
    report = reports / f"{name}.xml"
    output = case.findtext("system-out") or ""
    counts = googletest_counts(report) if report.is_file() else printed_counts(output)
    has_failed = state == "fail" or case.find("failure") is not None
    if counts is None:
        return Counts(failed=1) if has_failed else Counts(passed=1)
    if has_failed and counts.failed == 0:
        counts += Counts(failed=1)
    return counts


def read_cases(results: Path) -> List[ET.Element]:
    summary = results / "ctest.xml"
    if not summary.is_file():
        sys.exit(f"{summary} is missing: ctest did not run")
    return list(ET.parse(summary).iter("testcase"))


def failed_names(report: Path, program: str) -> List[str]:
    """Returns the names of the failed cases of a unit test; the program's if it has no report."""
    if not report.is_file():
        return [program]
    failed = [case for case in ET.parse(report).iter("testcase") if case.find("failure") is not None]
    return [f"{case.get('classname')}.{case.get('name')}" for case in failed] or [program]


def failed_unit_tests(results: Path) -> str:
    failed = [
        case.get("name", "")
        for case in read_cases(results)
        if test_counts(case, results / "googletest").failed
    ]
    if not failed or not all(name.endswith("_test") for name in failed):
        return ""
    return f"^({'|'.join(failed)})$"


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} TITLE|--failed-unit-tests RESULTS_DIR")
    title, results = sys.argv[1], Path(sys.argv[2])
    if title == "--failed-unit-tests":
        print(failed_unit_tests(results))
        return 0
    total = Counts()
    again = results / "again"
    cases_again = {case.get("name"): case for case in read_cases(again)} if again.is_dir() else {}
    cases = read_cases(results)
    for line in slowest(cases, results / "googletest"):
        print(f"{title}: {line}")
    for case in cases:
        name = case.get("name", "")
        unstable = rerun_tests(case.findtext("system-out") or "")
        if name in cases_again:
            total += test_counts(cases_again[name], again / "googletest")
            unstable += failed_names(results / "googletest" / f"{name}.xml", name)
        else:
            total += test_counts(case, results / "googletest")
        for test in unstable:
            print(f"{title}: unstable, failed and was run again: {test}")
    print(f"{title}: {total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
