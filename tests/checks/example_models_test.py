# SPDX-License-Identifier: Apache-2.0
"""examples/make_repository.py takes files out of packages whatever Python these are made for."""

import os
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build/venv/bin/python"

DOWNLOAD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import make_repository
make_repository.HERE = Path(sys.argv[2])
make_repository.download_wheels(Path(sys.argv[2]) / "downloads")
"""

METADATA = """Metadata-Version: 2.1
Name: nereid-example-model
Version: 1.0
Requires-Python: <3.9,>=3.6
Requires-Dist: nereid-no-such-package
"""


def write_wheel(folder: Path):
    """A package that says that it is for older Pythons, with a dependency that does not exist."""
    info = "nereid_example_model-1.0.dist-info"
    with zipfile.ZipFile(folder / "nereid_example_model-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("nereid_example_model/model.onnx", b"a model")
        wheel.writestr(f"{info}/METADATA", METADATA)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: a test\n"
                       "Root-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@unittest.skipUnless(PYTHON.exists(), "./test makes build/venv")
class ExampleModels(unittest.TestCase):
    def test_a_package_for_other_pythons_is_downloaded(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "index").mkdir()
            write_wheel(folder / "index")
            (folder / "models.txt").write_text("nereid-example-model==1.0\n")
            done = subprocess.run(
                [PYTHON, "-c", DOWNLOAD, ROOT / "examples", folder],
                env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / "index"),
                     "PIP_CONFIG_FILE": os.devnull},
                capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            wheels = [path.name for path in (folder / "downloads").iterdir()]
            self.assertEqual(wheels, ["nereid_example_model-1.0-py3-none-any.whl"])


if __name__ == "__main__":
    unittest.main()
