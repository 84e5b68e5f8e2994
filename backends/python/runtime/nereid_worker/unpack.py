# SPDX-License-Identifier: Apache-2.0
"""Unpacks the archive of a Python environment: unpack.py ARCHIVE FOLDER.

Entries that would leave the folder are refused: absolute names, names with "..", names through links,
and hard links to files outside. Writes the reason to stderr and exits with 1 if the archive is refused;
the folder does not exist then.
"""

import os
import shutil
import sys
import tarfile
from typing import Set


def check(archive: tarfile.TarFile, name: str) -> None:
    """Raises ValueError if an entry of the archive could be written outside of the folder."""
    links: Set[str] = set()
    for entry in archive.getmembers():
        path = _checked_name(entry.name, name)
        if entry.islnk():
            _checked_name(entry.linkname, name)
        elif not (entry.isfile() or entry.isdir() or entry.issym()):
            raise ValueError(f"the environment {name} has the entry '{entry.name}', which is no file, "
                             "folder or link")
        parts = path.split("/")
        for length in range(1, len(parts)):
            if "/".join(parts[:length]) in links:
                raise ValueError(f"the environment {name} has the entry '{entry.name}', whose path "
                                 "leads through a symbolic link of the archive")
        if entry.issym():
            links.add(path)
        else:
            links.discard(path)


def _checked_name(path: str, archive: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"the environment {archive} has the entry '{path}': absolute paths and '..' "
                         "are refused")
    return os.path.normpath(path)


def unpack(name: str, folder: str) -> None:
    """Unpacks an archive into a new folder. Raises ValueError, OSError or tarfile.TarError."""
    with tarfile.open(name) as archive:
        check(archive, name)
        os.mkdir(folder, 0o700)
        try:
            if hasattr(tarfile, "fully_trusted_filter"):
                # The entries were checked; links to the system's interpreter are usual.
                archive.extractall(folder, filter="fully_trusted")
            else:
                archive.extractall(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def main() -> int:
    """Runs the program."""
    try:
        unpack(sys.argv[1], sys.argv[2])
    except (ValueError, OSError, tarfile.TarError) as error:
        print(f"cannot unpack {sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
