# SPDX-License-Identifier: Apache-2.0
"""Tests cmake/FindTensorRT.cmake with folders that look like TensorRT: which versions it accepts,
and that it refuses headers and a library of different versions."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(find NONE)
set(CMAKE_FIND_LIBRARY_PREFIXES lib)
set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
# Not the TensorRT of this machine.
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)
list(APPEND CMAKE_MODULE_PATH "{root}/cmake")
find_package(TensorRT QUIET)
message("found: ${{TensorRT_FOUND}} ${{TensorRT_VERSION}}")
"""
# The two ways in which TensorRT's headers say their version.
PLAIN = """\
#define NV_TENSORRT_MAJOR {} //!< TensorRT major version.
#define NV_TENSORRT_MINOR {} //!< TensorRT minor version.
#define NV_TENSORRT_PATCH {} //!< TensorRT patch version.
"""
INDIRECT = """\
#define TRT_MAJOR_ENTERPRISE {}
#define TRT_MINOR_ENTERPRISE {}
#define TRT_PATCH_ENTERPRISE {}
#define NV_TENSORRT_MAJOR TRT_MAJOR_ENTERPRISE //!< TensorRT major version.
#define NV_TENSORRT_MINOR TRT_MINOR_ENTERPRISE //!< TensorRT minor version.
#define NV_TENSORRT_PATCH TRT_PATCH_ENTERPRISE //!< TensorRT patch version.
"""


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "cmake or ninja is missing")
class FindTensorRt(unittest.TestCase):
    def find(self, headers, library=None, version=(10, 16, 1)):
        """Returns the exit code and the output of CMake over a folder with these headers."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT))
            root = folder / "tensorrt"
            (root / "include").mkdir(parents=True)
            (root / "lib").mkdir()
            if headers:
                (root / "include" / "NvInfer.h").write_text("")
                (root / "include" / "NvInferVersion.h").write_text(headers.format(*version))
            (root / "include" / "cuda_runtime_api.h").write_text("")
            if library:
                (root / "lib" / f"libnvinfer.so.{library}").write_text("")
                os.symlink(f"libnvinfer.so.{library}", root / "lib" / "libnvinfer.so")
            done = subprocess.run(
                ["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build",
                 f"-DTENSORRT_ROOT={root}", f"-DCUDA_ROOT={root}"],
                capture_output=True, text=True, timeout=60, check=False)
            return done.returncode, " ".join((done.stdout + done.stderr).split())

    def test_headers_alone(self):
        for headers in (PLAIN, INDIRECT):
            for version in ((8, 6, 1), (9, 2, 0), (10, 16, 1), (11, 1, 0)):
                code, text = self.find(headers, version=version)
                self.assertEqual(code, 0, text)
                self.assertIn("found: TRUE " + ".".join(map(str, version)), text)

    def test_a_library_of_the_same_version(self):
        code, text = self.find(PLAIN, "10.16.1")
        self.assertEqual(code, 0, text)
        self.assertIn("found: TRUE 10.16.1", text)

    def test_a_library_of_another_version(self):
        code, text = self.find(PLAIN, "10.9.0")
        self.assertNotEqual(code, 0)
        self.assertIn("are of TensorRT 10.16.1, but the library", text)
        self.assertIn("is of TensorRT 10.9.0. Install both of one version", text)

    def test_headers_that_are_too_old(self):
        code, text = self.find(PLAIN, version=(8, 5, 3))
        self.assertNotEqual(code, 0)
        self.assertIn("are of TensorRT 8.5.3, but 8.6 or newer is needed", text)

    def test_nothing(self):
        code, text = self.find(None)
        self.assertEqual(code, 0, text)
        self.assertIn("found: FALSE", text)


if __name__ == "__main__":
    unittest.main()
