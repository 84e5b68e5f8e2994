# SPDX-License-Identifier: Apache-2.0
"""Other work on the machine of a measurement."""

import contextlib
import subprocess
import sys


@contextlib.contextmanager
def competing_load(count):
    """Keeps `count` processes busy meanwhile."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
