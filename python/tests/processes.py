# SPDX-License-Identifier: Apache-2.0
"""Tests in a process of their own."""

import os
import subprocess
import sys
import textwrap


def run_script(script, *arguments, check=True):
    """Runs Python code with the package and returns the finished process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=check,
    )
