# SPDX-License-Identifier: Apache-2.0
"""Runs storage_probe, which uses an object store as the server does."""

import json
import os
import subprocess
from pathlib import Path

BUILD = Path(os.environ.get("NEREID_BUILD_DIR", "build/release"))


class ProbeFailed(RuntimeError):
    """The store returned an error: `code` is its class, the text its message."""

    def __init__(self, text):
        super().__init__(text)
        self.code = text.split(":")[0]


class Probe:
    """A store that is used with environment variables of its own and nothing else of ours: no
    credentials of the machine's user, no proxy."""

    def __init__(self, url, home, **variables):
        self.url = url
        self.environment = {"HOME": str(home), "no_proxy": "*", "AWS_EC2_METADATA_DISABLED": "true",
                            "GCE_METADATA_HOST": "127.0.0.1:1", **variables}

    def run(self, *arguments):
        done = subprocess.run([BUILD / "bin" / "storage_probe", arguments[0], self.url,
                               *map(str, arguments[1:])], env=self.environment,
                              capture_output=True, timeout=60, check=False)
        if done.returncode != 0:
            raise ProbeFailed(done.stderr.decode())
        return done.stdout

    def list(self, prefix="", level=False):
        """Returns the entries of all pages."""
        lines = self.run("list", prefix, "level" if level else "all").decode().splitlines()
        return [json.loads(line) for line in lines]

    def keys(self, prefix="", level=False):
        return [entry.get("key", entry.get("directory")) for entry in self.list(prefix, level)]

    def read(self, key, offset=0, size="all", version=None):
        return self.run("read", key, offset, size, *([version] if version else []))
