# SPDX-License-Identifier: Apache-2.0
"""Folders that a server needs while it runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Optional


class TemporaryFolder:
    """A folder that is removed with its content by cleanup() or with the object. A process that was
    forked does not remove the folder, which its parent uses; tempfile.TemporaryDirectory would."""

    def __init__(self, prefix: str, parent: Optional[str] = None) -> None:
        self.name = tempfile.mkdtemp(prefix=prefix, dir=parent)
        self._process = os.getpid()

    def cleanup(self) -> None:
        """Removes the folder. A second call does nothing."""
        if os.getpid() == self._process:
            shutil.rmtree(self.name, ignore_errors=True)

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.cleanup()
