#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lays out the Python package from a build.

    tools/wheel/package_tree.py BUILD DEST [--link]

DEST becomes a folder for PYTHONPATH: the packages nereid, tritonserver and tritonfrontend with the
extension, the program, the engine, the plug-ins and the headers. --link makes links to the files
instead of copies, for tests of a build. Files of DEST that belong there no more are removed.
"""

import argparse
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ("nereid", "tritonserver", "tritonfrontend")
#: The plug-ins of the wheel, by the folder of the build and of the package.
PLUGINS = {
    "backends": (
        "libtriton_{}.so",
        (
            "bound",
            "caffe2",
            "custom",
            "identity",
            "onnxruntime",
            "openvino",
            "pytorch",
            "tensorflow",
            "tensorrt",
        ),
    ),
    "caches": ("libtritoncache_{}.so", ("local", "redis")),
    "repoagents": ("libtritonrepoagent_{}.so", ("checksum",)),
}
#: Backends whose folder has more than the plug-in.
WHOLE_BACKENDS = ("python",)
BUILD_FILES = {"CMakeFiles", "CTestTestfile.cmake", "cmake_install.cmake"}


def version():
    """Returns the version of the project, which CMakeLists.txt has."""
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(nereid VERSION ([0-9.]+)", text).group(1)


def sources():
    """Yields (path in the package, path in the project) of the Python sources."""
    for package in PACKAGES:
        folder = ROOT / "python" / package
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".pyi") or path.name == "py.typed":
                yield path.relative_to(ROOT / "python"), path


def built(build):
    """Yields the same of the files that are built, and of the headers."""
    nereid = pathlib.Path("nereid")
    yield nereid / "_core.abi3.so", build / "lib/_core.abi3.so"
    yield nereid / "bin/nereid", build / "bin/nereid"
    yield nereid / "lib/libtritonserver.so", build / "lib/libtritonserver.so"
    for kind, (form, names) in PLUGINS.items():
        for name in names:
            path = build / kind / name / form.format(name)
            if path.exists():
                yield nereid / kind / name / path.name, path
    for name in WHOLE_BACKENDS:
        folder = build / "backends" / name
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            is_output = path.suffix in (".a", ".o") or BUILD_FILES.intersection(inside.parts)
            if path.is_file() and not is_output:
                yield nereid / "backends" / name / inside, path
    include = ROOT / "include"
    for path in sorted(include.rglob("*.h")):
        yield nereid / "include" / path.relative_to(include), path


def place(source, target, link):
    """Makes `target` a link to `source`, or a copy of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.exists():
        if link and target.is_symlink() and target.readlink() == source:
            return
        target.unlink()
    if link:
        target.symlink_to(source)
    else:
        shutil.copy2(source, target)


def remove_others(folder, wanted):
    """Removes the files of `folder` that are not wanted, and caches of Python."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(folder) not in wanted and path.suffix != ".pyc":
            path.unlink()


def lay_out(build, dest, link):
    """Makes `dest` the package of a build. Ends the program if files are missing."""
    files = dict([*sources(), *built(build)])
    missing = [str(path) for path in files.values() if not path.is_file()]
    if missing:
        sys.exit("package_tree: these files are not built: " + ", ".join(missing))
    generated = pathlib.Path("nereid/_version.py")
    dest.mkdir(parents=True, exist_ok=True)
    remove_others(dest, {*files, generated})
    for target, source in files.items():
        place(source, dest / target, link)
    text = f'# SPDX-License-Identifier: Apache-2.0\n__version__ = "{version()}"\n'
    (dest / generated).write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("dest", type=pathlib.Path)
    parser.add_argument("--link", action="store_true")
    options = parser.parse_args()
    lay_out(options.build.resolve(), options.dest, options.link)


if __name__ == "__main__":
    main()
