# SPDX-License-Identifier: Apache-2.0
"""Tests that the checks of layers and file sizes find each kind of error."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


class Tree(unittest.TestCase):
    """A small source tree that obeys the rules; each test breaks one rule."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("tools/layers.txt", "# lowest first\nbase:\ncodec/json: base\napp: *\n")
        self.write("src/base/status.h", "#pragma once\n#include <string>\n")
        self.write("src/codec/json/encode.cc", '#include "base/status.h"\n')
        self.write(
            "src/codec/json/CMakeLists.txt",
            "nereid_component(codec_json SOURCES encode.cc DEPS base LIBS ${CMAKE_DL_LIBS})\n",
        )

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_tool(self, name):
        command = [sys.executable, str(TOOLS / name), str(self.root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class CheckLayers(Tree):
    def test_accepts_a_tree_that_obeys(self):
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 0, output)
        self.assertIn("1 includes across folders, 0 against the layers; 2 pairs, 0 circles", output)

    def test_finds_an_include_that_points_up(self):
        self.write("src/base/status.cc", '#include "base/status.h"\n#include "app/main.h"\n')
        self.write("src/app/main.h", "")
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("src/base/status.cc:2: base may not include app", output)

    def test_finds_a_link_that_points_up(self):
        self.write("src/base/CMakeLists.txt", "nereid_component(base SOURCES a.cc DEPS codec_json)\n")
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("src/base/CMakeLists.txt: base may not link codec/json", output)

    def test_finds_an_unknown_component(self):
        self.write("src/app/CMakeLists.txt", "nereid_component(app SOURCES a.cc\n  DEPS base bsae)\n")
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("app names bsae: no such folder", output)

    def test_finds_a_folder_that_is_not_in_the_list(self):
        self.write("src/other/thing.h", "")
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("src/other/thing.h: its folder is not in the list", output)

    def test_finds_a_namespace_that_is_not_that_of_the_folder(self):
        self.write("src/codec/json/encode.h", "namespace nereid::base {\nclass Status;\n}\n"
                   "namespace nereid::codec_json {\n}\n")
        self.write("src/codec/json/testing/golden.h", "namespace nereid::codec::json::testing {\n}\n")
        self.write("src/app/main.cc", "namespace {\n}\nint main() {}\n")
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("src/codec/json/encode.h: opens nereid::base, nereid::codec_json, "
                      "expected nereid::codec::json", output)
        self.assertIn("1 against the layers", output)

    def test_finds_a_circle_in_the_list(self):
        self.write("tools/layers.txt", "base: codec/json\ncodec/json: base\n")
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("a circle among base, codec/json", output)

    def test_finds_a_circle_of_pairs(self):
        self.write("src/base/log.h", "")
        self.write("src/base/log.cc", '#include "base/log.h"\n#include "base/clock.h"\n')
        self.write("src/base/clock.h", '#include "base/timer.h"\n')
        self.write("src/base/timer.h", "")
        self.write("src/base/timer.cc", '#include "base/timer.h"\n#include "base/log.h"\n')
        self.write("src/base/far.cc", '#include "base/log.h"\n')
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("a circle of 3 pairs: src/base/clock includes src/base/timer; "
                      "src/base/log includes src/base/clock; src/base/timer includes src/base/log",
                      output)
        self.assertNotIn("far", output)
        self.assertIn("0 against the layers; 6 pairs, 1 circles", output)

    def test_finds_a_circle_in_a_plug_in(self):
        self.write("backends/one/plan.h", '#include "run.h"\n')
        self.write("backends/one/run.cc", '#include "run.h"\n#include "plan.h"\n')
        self.write("backends/one/run.h", "")
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("a circle of 2 pairs: backends/one/plan", output)

    def test_a_plug_in_includes_what_the_list_permits(self):
        self.write("tools/layers.txt", "base:\ncodec/json: base\nplug-ins: base\n")
        self.write("src/codec/json/encode.h", "")
        self.write("caches/one/run.cc", '#include "base/status.h"\n#include "codec/json/encode.h"\n')
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("caches/one/run.cc:2: a plug-in may not include codec/json", output)
        self.assertIn("1 against the layers", output)

    def test_leaves_tests_alone(self):
        self.write("src/base/status_test.cc", '#include "app/main.h"\n')
        code, output = self.run_tool("check_layers.py")
        self.assertEqual(code, 0, output)


class CheckFileSize(Tree):
    def test_accepts_the_limit_and_refuses_a_line_more(self):
        self.write("src/base/long.cc", "\n" * 600)
        self.assertEqual(self.run_tool("check_file_size.py")[0], 0)
        self.write("backends/identity/long.cc", "\n" * 601)
        code, output = self.run_tool("check_file_size.py")
        self.assertEqual(code, 1)
        self.assertIn("backends/identity/long.cc: 601 lines, more than 600", output)


if __name__ == "__main__":
    unittest.main()
