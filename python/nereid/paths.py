# SPDX-License-Identifier: Apache-2.0
"""Where the package has its files."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
#: The folder as Python found it: in a build folder the files of the package are links.
_HERE = Path(os.path.abspath(os.path.dirname(__file__)))


def program() -> Path:
    """Returns the path of the server's program."""
    return _HERE / "bin" / "nereid"


def plugin_directory(kind: str) -> Path:
    """Returns the directory of the plug-ins of a kind: backends, caches or repoagents."""
    return _HERE / kind


def include_directory() -> Path:
    """Returns the directory of the headers for plug-ins and programs that embed the server."""
    return _HERE / "include"
