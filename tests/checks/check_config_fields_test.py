# SPDX-License-Identifier: Apache-2.0
"""Tests that tools/check_config_fields.py finds each kind of error."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_config_fields.py"
PROTO = """syntax = "proto3";
message Inner { int32 depth = 1; }
message Outer { Inner inner = 1; map<string, string> tags = 2; }
"""
TABLE = """{"Inner.depth", "x"},
{"Outer.inner", "x"},
{"Outer.tags", "x"},
"""
LIST = """
[[fields]]
names = ["Inner.depth"]
tests = ["golden:deep"]
[[fields]]
names = ["Outer.inner"]
tests = ["src/a_test.cc::Suite.Case"]
[[fields]]
names = ["Outer.tags"]
shown_only = "for others"
"""


@unittest.skipUnless(shutil.which("protoc"), "no protoc")
class CheckConfigFields(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("proto/model_config.proto", PROTO)
        self.write("src/config/field_table_test.cc", TABLE)
        self.write("src/config/testdata/field_tests.toml", LIST)
        self.write("src/config/testdata/rules/deep/one.pbtxt", "inner { depth: -1 }\n")
        self.write("src/a_test.cc", "TEST(Suite, Case) {\n  inner();\n}\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_tool(self):
        done = subprocess.run([sys.executable, str(TOOL), "--root", str(self.root)],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_finds(self, text):
        code, output = self.run_tool()
        self.assertEqual(code, 1, output)
        self.assertIn(text, output)

    def test_accepts_a_tree_with_all_tests(self):
        code, output = self.run_tool()
        self.assertEqual((code, output), (0, "3 fields, 0 problems\n"))

    def test_a_new_field(self):
        self.write("proto/model_config.proto", PROTO.replace("1; }", "1; bool fresh = 2; }", 1))
        self.assert_finds("Inner.fresh: no row in")
        self.assert_finds("Inner.fresh: not in")

    def test_a_field_that_is_gone(self):
        self.write("proto/model_config.proto", PROTO.replace("int32 depth = 1;", ""))
        self.assert_finds("Inner.depth: is no field")

    def test_a_field_without_a_row(self):
        self.write("src/config/field_table_test.cc", TABLE.replace("Outer.tags", "Outer.tag"))
        self.assert_finds("Outer.tags: no row in")

    def test_a_test_that_is_gone(self):
        self.write("src/a_test.cc", "TEST(Suite, Other) {\n  inner();\n}\n")
        self.assert_finds("there is no test src/a_test.cc::Suite.Case")

    def test_a_golden_that_is_gone(self):
        (self.root / "src/config/testdata/rules/deep/one.pbtxt").unlink()
        self.assert_finds("there is no test golden:deep")

    def test_a_test_of_something_else(self):
        self.write("src/a_test.cc", "TEST(Suite, Case) {\n}\nTEST(Suite, Next) {\n  inner();\n}\n")
        self.assert_finds("does not mention inner")

    def test_an_entry_without_a_reason(self):
        self.write("src/config/testdata/field_tests.toml", LIST.replace("shown_only", "why"))
        self.assert_finds("needs either tests or shown_only")


if __name__ == "__main__":
    unittest.main()
