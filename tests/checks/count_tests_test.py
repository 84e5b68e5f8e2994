# SPDX-License-Identifier: Apache-2.0
"""Tests that the last line of ./test counts all tests and never hides a failure."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.sax.saxutils import escape

TOOL = Path(__file__).resolve().parents[2] / "tools" / "count_tests.py"


class CountTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = Path(folder.name)
        (self.results / "googletest").mkdir()
        self.cases = []

    def run_again(self, name, status, cases):
        """Adds the results of a second run of one unit test."""
        again = self.results / "again"
        (again / "googletest").mkdir(parents=True)
        (again / "ctest.xml").write_text(
            f'<testsuite><testcase name="{name}" status="{status}"/></testsuite>'
        )
        report = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
        (again / "googletest" / f"{name}.xml").write_text(report)

    def failed_unit_tests(self):
        self.count()
        command = [sys.executable, str(TOOL), "--failed-unit-tests", str(self.results)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def add(self, name, output="", status="run", inner=""):
        self.cases.append(
            f'<testcase name="{name}" status="{status}">{inner}'
            f"<system-out>{escape(output)}</system-out></testcase>"
        )

    def report(self, name, cases):
        text = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
        (self.results / "googletest" / f"{name}.xml").write_text(text)

    def count(self):
        text = f"<testsuite>{''.join(self.cases)}</testsuite>"
        (self.results / "ctest.xml").write_text(text)
        command = [sys.executable, str(TOOL), "tests", str(self.results)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.strip()

    def test_a_googletest_program_counts_its_cases(self):
        self.add("base_test")
        self.report(
            "base_test",
            '<testcase status="run" result="completed"/><testcase status="run" result="completed"/>'
            '<testcase status="run" result="skipped"><skipped/></testcase>'
            '<testcase status="notrun" result="suppressed"/>',
        )
        self.assertEqual(self.count(), (0, "tests: 2 passed, 0 failed, 1 skipped"))

    def test_a_failed_case_fails(self):
        self.add("base_test", status="fail")
        self.report("base_test", '<testcase status="run"><failure/></testcase>')
        self.assertEqual(self.count(), (1, "tests: 0 passed, 1 failed, 0 skipped"))

    def test_a_program_that_dies_after_its_cases_fails(self):
        self.add("base_test", status="fail")
        self.report("base_test", '<testcase status="run" result="completed"/>')
        self.assertEqual(self.count(), (1, "tests: 1 passed, 1 failed, 0 skipped"))

    def test_pytest_counts_by_its_closing_line(self):
        self.add("a", "x\n==== 12 passed, 2 skipped, 1 xfailed in 3.12s (0:00:03) ====\n")
        self.assertEqual(self.count(), (0, "tests: 12 passed, 0 failed, 3 skipped"))

    def test_tests_that_were_run_again_are_named(self):
        self.add("a", "RERUN tests/test_a.py::test_b[x y]\n== 2 passed, 1 rerun in 0.25s ==\n")
        self.assertEqual(
            self.count(),
            (
                0,
                "tests: unstable, failed and was run again: tests/test_a.py::test_b[x y]\n"
                "tests: 2 passed, 0 failed, 0 skipped",
            ),
        )

    def test_a_unit_test_that_was_run_again_counts_by_its_second_run(self):
        passed = '<testcase status="run" result="completed"/>'
        self.add("a_test", status="fail")
        self.report("a_test", passed + '<testcase classname="A" name="B"><failure/></testcase>')
        self.run_again("a_test", "run", passed + passed)
        unstable = "tests: unstable, failed and was run again: A.B\n"
        self.assertEqual(self.count(), (0, unstable + "tests: 2 passed, 0 failed, 0 skipped"))

    def test_a_unit_test_that_fails_twice_has_failed(self):
        self.add("a_test", status="fail")  # died without a report
        self.run_again("a_test", "fail", '<testcase status="run"><failure/></testcase>')
        unstable = "tests: unstable, failed and was run again: a_test\n"
        self.assertEqual(self.count(), (1, unstable + "tests: 0 passed, 1 failed, 0 skipped"))

    def test_only_failed_unit_tests_are_run_again(self):
        self.add("a_test")
        self.assertEqual(self.failed_unit_tests(), "")
        self.add("b_test", status="fail")
        self.add("c_test", status="fail")
        self.assertEqual(self.failed_unit_tests(), "^(b_test|c_test)$")
        self.add("conformance", "== 1 failed, 3 passed in 1.2s ==", status="fail")
        self.assertEqual(self.failed_unit_tests(), "")

    def test_the_slowest_cases_are_named(self):
        unit = '<testcase classname="A" name="B" status="run" result="completed" time="%s"/>'
        self.add("a_test")
        self.report("a_test", unit % "3.25" + unit % "1.9")
        lines = [f"{seconds}.00s call     tests/test_a.py::test_{seconds}" for seconds in range(2, 13)]
        self.add("a", "\n".join(lines + ["2.50s setup    tests/test_a.py::test_x", "== 9 passed =="]))
        status, output = self.count()
        slow = [line for line in output.splitlines() if ": slow: " in line]
        self.assertEqual(status, 0)
        self.assertEqual(len(slow), 10)
        self.assertEqual(slow[0], "tests: slow: 12.0 s tests/test_a.py::test_12")
        self.assertIn("tests: slow: 3.2 s A.B", slow)
        self.assertNotIn("1.9", output)

    def test_any_other_test_counts_as_one(self):
        self.add("layers", "3 includes across folders, 0 against the layers")
        self.assertEqual(self.count(), (0, "tests: 1 passed, 0 failed, 0 skipped"))

    def test_a_skipped_test_is_no_failure_and_a_missing_program_is_one(self):
        self.add("a", status="notrun", inner='<skipped message="SKIP_RETURN_CODE=77"/>')
        self.add("b")
        self.assertEqual(self.count(), (0, "tests: 1 passed, 0 failed, 1 skipped"))
        self.add("c", status="notrun", inner='<skipped message="Unable to find executable"/>')
        self.assertEqual(self.count(), (1, "tests: 1 passed, 1 failed, 1 skipped"))

    def test_nothing_run_is_no_success(self):
        self.assertEqual(self.count(), (1, "tests: 0 passed, 0 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
