# SPDX-License-Identifier: Apache-2.0
"""The location of Triton's Python backend, and the flags of the server that runs the models of
python_models/ in it."""

import contextlib
import io
import os
import shutil
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = HERE / "python_models"
BUILD = HERE.parents[1] / "build"

# The models of test_python_backend.py, and those that only some of its cases load.
LATER = ["bad_completion", "bad_finalize", "bad_initialize", "bad_syntax", "no_class", "to_load"]
SERVING = ["about", "batched", "caller", "completed", "counter", "crew", "elsewhere", "faults",
           "meter", "patient", "relay", "types", "warmed", "plain"]

PLAIN = """
backend: "identity"
max_batch_size: 0
input { name: "INPUT0" data_type: TYPE_STRING dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_STRING dims: [ -1 ] }
"""


def find(given=None):
    """Returns the folder that tools/install/python_backend.sh made, or None."""
    for folder in [given] if given else [BUILD / "python_backend", BUILD / "peer"]:
        library = folder / "wheel/pytriton/tritonserver/backends/python/libtriton_python.so"
        if library.exists() and (folder / "python/bin/python").exists():
            return folder.resolve()
    return None


def write_models(root: Path):
    for name in [*SERVING, *LATER]:
        if name != "plain":
            shutil.copytree(MODELS / name, root / name,
                            ignore=shutil.ignore_patterns("__pycache__"))
    (root / "plain" / "1").mkdir(parents=True)
    (root / "plain" / "config.pbtxt").write_text(PLAIN)
    write_environment(root / "elsewhere" / "environment.tar.gz")


def write_mortal(root: Path):
    for name in ["faults", "about"]:
        shutil.copytree(MODELS / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))


def write_environment(path: Path):
    """Writes the parts of a conda-pack environment that the backend uses: it sources bin/activate.
    """
    write_archive(path, {"bin/activate": b'export NEREID_PLACE="an environment of its own"\n'})


def write_archive(path: Path, files: dict[str, bytes]):
    """Writes a tar.gz of files that may be executed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.mode, entry.size = 0o755, len(content)
            archive.addfile(entry, io.BytesIO(content))


def backend_directory(folder: Path, ours: Path | None, root: Path) -> Path:
    """Makes a folder with Nereid's backends and the Python backend."""
    root.mkdir()
    if ours is not None:
        for backend in sorted(p for p in ours.iterdir() if list(p.glob("libtriton_*.so"))):
            (root / backend.name).symlink_to(backend.resolve())
    (root / "python").unlink(missing_ok=True)
    (root / "python").symlink_to(folder / "wheel/pytriton/tritonserver/backends/python")
    return root


@contextlib.contextmanager
def environment(folder: Path):
    """Returns the environment of the server. The processes of the backend use the first Python in
    PATH."""
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{folder / 'python/bin'}:{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def flags():
    return ["--model-control-mode=explicit", *(f"--load-model={name}" for name in SERVING)]
