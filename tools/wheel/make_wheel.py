#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of a build, before auditwheel completes it.

    tools/wheel/make_wheel.py BUILD OUT

Lays out the package (package_tree.py), strips its libraries, makes them find each other and the
frameworks where pip installs them, and packs them with the metadata. Needs strip and patchelf. The wheel
is for every CPython from 3.9 on: its extension uses the limited API only.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import subprocess
import tempfile
import zipfile

import package_tree

ROOT = package_tree.ROOT
HERE = pathlib.Path(__file__).resolve().parent
TAG = "cp39-abi3-linux_x86_64"
SITE = "$ORIGIN/../../.."  # of a plug-in: where pip puts packages
#: Where a plug-in finds its framework: the packages of PyPI, beside this one.
FRAMEWORKS = {
    "tensorflow": f"{SITE}/tensorflow",
    "pytorch": f"{SITE}/torch/lib",
    "openvino": f"{SITE}/openvino/libs",
}
#: The extras, by the name in tools/install/frameworks.txt.
EXTRAS = {"tensorflow": "tensorflow", "pytorch": "torch", "openvino": "openvino"}
#: The time of all files in the wheel, so that equal builds give equal wheels.
TIME = (2020, 1, 1, 0, 0, 0)


def requirements():
    """Returns what each extra requires."""
    found = {}
    for line in (ROOT / "tools/install/frameworks.txt").read_text().splitlines():
        words = line.split()
        if words and words[0] in EXTRAS:
            found[EXTRAS[words[0]]] = words[1]
    script = (ROOT / "tools/fetch_onnxruntime.sh").read_text()
    found["onnxruntime"] = "onnxruntime==" + re.search(r"^version='([^']+)'", script, re.M).group(1)
    return dict(sorted(found.items()))


def metadata(version):
    """Returns the text of METADATA."""
    lines = [
        "Metadata-Version: 2.1",
        "Name: nereid",
        f"Version: {version}",
        "Summary: An inference server with the interfaces of NVIDIA Triton, as a program and in Python",
        "License: Apache-2.0",
        "Requires-Python: >=3.9",
        "Requires-Dist: numpy>=1.21",
        "Classifier: License :: OSI Approved :: Apache Software License",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Typing :: Typed",
    ]
    for extra, requirement in requirements().items():
        lines.append(f"Provides-Extra: {extra}")
        lines.append(f"Requires-Dist: {requirement}; extra == '{extra}'")
    lines += ["Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + (ROOT / "docs/user/python.md").read_text()


def search_path(path):
    """Returns where the loader looks for the libraries of a file of the package."""
    if path.name == "_core.abi3.so":
        return "$ORIGIN/lib"
    if path.parent.name == "lib":
        return "$ORIGIN"
    folders = ["$ORIGIN", "$ORIGIN/../../lib"]
    if path.parent.name in FRAMEWORKS:
        folders.append(FRAMEWORKS[path.parent.name])
    return ":".join(folders)


def prepare(tree):
    """Strips the libraries and programs, and sets where they look for others."""
    nereid = tree / "nereid"
    subprocess.run(["strip", "--strip-unneeded", nereid / "bin/nereid"], check=True)
    for path in sorted(nereid.rglob("*.so")):
        subprocess.run(["strip", "--strip-unneeded", path], check=True)
        subprocess.run(["patchelf", "--set-rpath", search_path(path), path], check=True)


def licenses():
    """Yields (name, bytes) of the licenses."""
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    for line in (HERE / "licenses.txt").read_text().splitlines():
        copyright_file = pathlib.Path("/usr/share/doc") / line / "copyright"
        if line and not line.startswith("#") and copyright_file.exists():
            yield f"licenses/{line}", copyright_file.read_bytes()


def pack(tree, out):
    """Writes the wheel and returns its path."""
    version = package_tree.version()
    info = f"nereid-{version}.dist-info"
    scripts = f"nereid-{version}.data/scripts"
    script = (HERE / "nereid_script.py").read_bytes()
    wheel = f"Wheel-Version: 1.0\nGenerator: nereid\nRoot-Is-Purelib: false\nTag: {TAG}\n"
    files = {
        str(path.relative_to(tree)): path.read_bytes()
        for path in sorted(tree.rglob("*"))
        if path.is_file()
    }
    files[f"{scripts}/nereid"] = files[f"{scripts}/tritonserver"] = script
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = wheel.encode()
    for name, content in licenses():
        files[f"{info}/{name}"] = content
    record = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(content)}")
    record.append(f"{info}/RECORD,,")
    files[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()

    out.mkdir(parents=True, exist_ok=True)
    path = out / f"nereid-{version}-{TAG}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, TIME)
            executable = name.endswith("bin/nereid") or name.startswith(scripts)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        package_tree.lay_out(options.build.resolve(), tree, link=False)
        prepare(tree)
        print(pack(tree, options.out))


if __name__ == "__main__":
    main()
