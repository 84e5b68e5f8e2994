# SPDX-License-Identifier: Apache-2.0
"""Tests that ./start reports errors in --backends before it installs or downloads anything."""

import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments):
    done = subprocess.run([ROOT / "start", *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout + done.stderr


class Backends(unittest.TestCase):
    def test_unknown_names(self):
        for arguments, name in ((("--backends", "keras"), "keras"),
                                (("--backends=caffe2,tenserflow",), "tenserflow"),
                                (("--backends=all,caffe2",), "all")):
            code, text = start(*arguments)
            self.assertEqual(code, 1)
            self.assertIn(f"there is no backend '{name}'", text)
            self.assertIn("tensorflow pytorch openvino caffe2 custom tensorrt", text)

    def test_no_names(self):
        for arguments in (("--backends",), ("--backends=",), ("--backends", ",")):
            code, text = start(*arguments)
            self.assertEqual(code, 1)
            self.assertIn("--backends needs all or names", text)


if __name__ == "__main__":
    unittest.main()
